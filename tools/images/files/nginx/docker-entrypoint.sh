#!/bin/sh
# Runs the hooks of /docker-entrypoint.d before nginx, and any other command as it is.
set -e

say() {
    if [ -z "${NGINX_ENTRYPOINT_QUIET_LOGS:-}" ]; then
        echo "/docker-entrypoint.sh: $*"
    fi
}

case "$1" in
nginx | nginx-debug)
    for hook in $(find /docker-entrypoint.d -follow -type f | sort -V); do
        case "$hook" in
        *.envsh)
            if [ -x "$hook" ]; then
                say "Sourcing $hook"
                . "$hook"
            else
                say "Ignoring $hook, not executable"
            fi
            ;;
        *.sh)
            if [ -x "$hook" ]; then
                say "Launching $hook"
                "$hook"
            else
                say "Ignoring $hook, not executable"
            fi
            ;;
        *) say "Ignoring $hook" ;;
        esac
    done
    say "Configuration complete; ready for start up"
    ;;
esac

exec "$@"
