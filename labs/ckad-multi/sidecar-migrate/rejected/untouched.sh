kubectl annotate pod orders-api migrated=yes
