#!/bin/sh
# Renders /etc/nginx/templates/*.template into /etc/nginx/conf.d: only variables
# that are set are replaced, since nginx has variables of the same look.
set -eu

templates=${NGINX_ENVSUBST_TEMPLATE_DIR:-/etc/nginx/templates}
suffix=${NGINX_ENVSUBST_TEMPLATE_SUFFIX:-.template}
output=${NGINX_ENVSUBST_OUTPUT_DIR:-/etc/nginx/conf.d}
filter=${NGINX_ENVSUBST_FILTER:-}

[ -d "$templates" ] || exit 0
if [ ! -w "$output" ]; then
    echo "$0: $templates exists, but $output is not writable"
    exit 0
fi

variables=$(awk -v filter="$filter" 'BEGIN { for (v in ENVIRON) if (v ~ filter && v ~ /^[A-Za-z_][A-Za-z0-9_]*$/) printf "${%s} ", v }')
find -L "$templates" -type f -name "*$suffix" | while read -r template; do
    relative=${template#"$templates"/}
    target=$output/${relative%"$suffix"}
    mkdir -p "$(dirname "$target")"
    echo "$0: Running envsubst on $template to $target"
    envsubst "$variables" <"$template" >"$target"
done
