#!/bin/sh
# Builds cordon-init for this machine into dist/native, unless it is there and newer than its source.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "native/build.sh: expected x86_64 or aarch64, found $(uname -m): Cordon has no sandbox for it" >&2; exit 1 ;;
esac
source=$here/cordon-init.c
folder=${1:-$here/../dist/native}
target=$folder/cordon-init-$arch
if [ -x "$target" ] && [ ! "$source" -nt "$target" ] && [ ! "$0" -nt "$target" ]; then exit 0; fi
compiler=${CC:-}
for candidate in cc gcc clang; do
  if [ -z "$compiler" ] && command -v "$candidate" >/dev/null 2>&1; then compiler=$candidate; fi
done
if [ -z "$compiler" ]; then
  echo "native/build.sh: expected a C compiler (cc, gcc or clang), found none; install one, such as: apt install gcc libc6-dev" >&2
  exit 1
fi
mkdir -p "$folder"
flags="-std=gnu11 -O2 -Wall -Wextra -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2"
# Written aside and renamed: a running sandbox keeps the old file, and a half-written one is never started.
built=$target.$$
trap 'rm -f "$built"' EXIT
if ! "$compiler" $flags -static -o "$built" "$source" 2>"$built.log"; then
  if ! "$compiler" $flags -o "$built" "$source"; then rm -f "$built.log"; exit 1; fi
  echo "native/build.sh: no static libc, so cordon-init is linked dynamically; it then works only where the sandbox shows the libraries (command_fs other than none)" >&2
fi
rm -f "$built.log"
chmod 755 "$built"
mv "$built" "$target"
