kubectl annotate pod mailer failed-with={{.code}}
