#!/usr/bin/env bash
# Runs every test as an ordinary user with a home of mode 0700, in a copy of this checkout (`npm test -- as-user`, as root). The
# user is known in a mount namespace only, so that nothing of it is left on the machine but the home, which is removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'as-user: %s\n' "$*" >&2; }
if [ "$(id -u)" != 0 ]; then
  say "this needs root, which becomes an ordinary user: npm test alone runs as $(id -un)"
  exit 1
fi
name=cordon-tester
uid=$((60000 + $$ % 4000))
while getent passwd "$uid" >/dev/null || getent group "$uid" >/dev/null; do uid=$((uid + 1)); done
base=$(mktemp -d /var/tmp/cordon-user-XXXXXX)
trap 'rm -rf "$base"' EXIT
copy=$base/home/checkout
mkdir -p "$copy"
# The files as they are now, committed or not; what was installed; and nothing that was built.
git -c safe.directory='*' ls-files -z --cached --others --exclude-standard | tar -c --null --ignore-failed-read -T - 2>/dev/null | tar -x -C "$copy"
cp -a node_modules "$copy/"
git -C "$copy" init -q
git -C "$copy" add -A
git -C "$copy" -c user.name=x -c user.email=x@example.com commit -q -m copy
{ cat /etc/passwd && echo "$name:x:$uid:$uid::/home/$name:/bin/bash"; } >"$base/passwd"
{ cat /etc/group && echo "$name:x:$uid:"; } >"$base/group"
chown -R "$uid:$uid" "$base/home"
chmod 711 "$base"
chmod 700 "$base/home"
# What a user has, and npm wherever it is: it is no use to a user where only root can reach it.
path="$(dirname "$(command -v npm)"):/usr/local/bin:/usr/bin:/bin"
say "every test as uid $uid"
unshare --mount --propagation private bash -euc '
  base=$1 name=$2 uid=$3 path=$4
  shift 4
  mount --bind "$base/passwd" /etc/passwd
  mount --bind "$base/group" /etc/group
  mount -t tmpfs -o mode=755,size=1m none /home
  mkdir "/home/$name"
  mount --bind "$base/home" "/home/$name"
  cd "/home/$name/checkout"
  exec setpriv --reuid="$uid" --regid="$uid" --clear-groups --reset-env \
    env PATH="$path" LANG="${LANG:-C.UTF-8}" ${CI:+CI="$CI"} npm test -- "$@"
' bash "$base" "$name" "$uid" "$path" "$@"
