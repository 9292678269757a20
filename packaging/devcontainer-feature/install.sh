#!/bin/sh
# Installs Cordon's Debian package while a dev container is built. The option `from` comes as FROM.
set -eu
[ -n "${FROM:-}" ] || { echo 'cordon: set the option "from" to the address of a release' >&2; exit 1; }
needed=openssl
case $FROM in https://*) needed='openssl curl ca-certificates' ;; esac
for program in ${needed% ca-certificates}; do
  command -v "$program" >/dev/null && continue
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends $needed
  break
done
exec sh "$(dirname -- "$0")/install-cordon.sh" --deb --from "$FROM"
