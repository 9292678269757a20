#!/usr/bin/env bash
# Builds a container image of Cordon from this checkout and this machine's own programs, without a registry: Node, bubblewrap,
# bash, git and what they need, and the built CLI. It runs as user 10001 and starts Cordon itself, no shell.
# Usage: scripts/image.sh [NAME:TAG]   (needs podman, or docker as CORDON_ENGINE)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=${1:-localhost/cordon:dev}
engine=${CORDON_ENGINE:-podman}
[ -e dist/cordon.cjs ] || { echo 'image: build first: npm run build' >&2; exit 1; }
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root"/{usr/bin,usr/lib,etc,tmp,proc,dev,run,opt/cordon,home/cordon,work}
for link in bin lib sbin lib64; do ln -s "usr/$link" "$root/$link"; done
mkdir -p "$root"/usr/{sbin,lib64}
add() { # a program under its own name, with the libraries it is linked to
  local from
  from=$(readlink -f "$1")
  install -D -m 755 "$from" "$root/usr/bin/$2"
  { ldd "$from" 2>/dev/null || true; } | grep -oE '/[^ ]+\.so[^ ]*' | while read -r library; do
    local place
    place=$(readlink -f "$library")
    mkdir -p "$root$(dirname "$(readlink -f "$(dirname "$library")")/x")"
    cp -n "$place" "$root$(readlink -f "$(dirname "$library")")/$(basename "$library")" 2>/dev/null || true
  done
}
node=node_modules/node/bin/node
[ -x "$node" ] || node=$(command -v node)
add "$node" node
for program in bwrap bash sh git ls cat cp mv rm mkdir rmdir ln chmod touch head tail wc sort uniq tr cut tee env printf echo \
  true false test id uname date sleep grep sed find xargs awk diff pwd dirname basename readlink timeout curl; do
  # By PATH alone: some of these are builtins as well.
  path=$(type -P "$program" || true)
  if [ -n "$path" ]; then add "$path" "$program"; fi
done
# The loader has its own place in every program.
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2 2>/dev/null || readlink -f /lib/ld-linux-aarch64.so.1)
cp "$loader" "$root/usr/lib64/ld-linux-x86-64.so.2" 2>/dev/null || true
[ -e /lib/ld-linux-aarch64.so.1 ] && cp "$loader" "$root/usr/lib/ld-linux-aarch64.so.1"
mkdir -p "$root/usr/lib/git-core" "$root/etc/ssl/certs"
cp -a /usr/lib/git-core/git-remote-http* "$root/usr/lib/git-core/" 2>/dev/null || true
cp -L /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/" 2>/dev/null || true
cp -a dist "$root/opt/cordon/dist"
cp package.json LICENSE "$root/opt/cordon/"
ln -s /opt/cordon/dist/cordon.cjs "$root/usr/bin/cordon"
printf 'root:x:0:0::/:/bin/false\ncordon:x:10001:10001::/home/cordon:/usr/bin/bash\nnobody:x:65534:65534::/:/bin/false\n' >"$root/etc/passwd"
printf 'root:x:0:\ncordon:x:10001:\nnogroup:x:65534:\n' >"$root/etc/group"
printf 'hosts: files dns\npasswd: files\ngroup: files\n' >"$root/etc/nsswitch.conf"
: >"$root/etc/ld.so.cache"
chmod 1777 "$root/tmp"
tar -C "$root" --owner=0 --group=0 --numeric-owner -cf - --exclude=./home --exclude=./work . >"$root.tar"
tar -C "$root" --owner=10001 --group=10001 --numeric-owner -rf "$root.tar" ./home/cordon ./work
trap 'rm -rf "$root" "$root.tar"' EXIT
"$engine" import \
  --change 'USER 10001:10001' --change 'WORKDIR /work' --change 'ENV HOME=/home/cordon' --change 'ENV PATH=/usr/bin' \
  --change 'ENTRYPOINT ["/usr/bin/node","/opt/cordon/dist/cordon.cjs"]' --change 'CMD ["doctor"]' \
  "$root.tar" "$name" >/dev/null
echo "$name"
