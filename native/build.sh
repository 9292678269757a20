#!/bin/sh
# Builds cordon-init and cordon-launch for this machine into dist/native, unless they are there and newer than their sources.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $(uname -m) in
  x86_64) arch=x64 ;;
  aarch64) arch=arm64 ;;
  *) echo "native/build.sh: expected x86_64 or aarch64, found $(uname -m): Cordon has no sandbox for it" >&2; exit 1 ;;
esac
folder=${1:-$here/../dist/native}
flags="-std=gnu11 -O2 -Wall -Wextra -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2"
compiler=${CC:-}
for candidate in cc gcc clang; do
  if [ -z "$compiler" ] && command -v "$candidate" >/dev/null 2>&1; then compiler=$candidate; fi
done

# is_current TARGET SOURCE...
is_current() {
  target=$1
  shift
  [ -x "$target" ] && [ ! "$0" -nt "$target" ] || return 1
  for source; do if [ "$source" -nt "$target" ]; then return 1; fi; done
}

# compile TARGET SOURCE FLAGS...: written aside and renamed, so that a running sandbox keeps the old file, and a
# half-written one is never started.
compile() {
  target=$1 source=$2
  shift 2
  if [ -z "$compiler" ]; then
    echo "native/build.sh: expected a C compiler (cc, gcc or clang), found none; install one, such as: apt install gcc libc6-dev" >&2
    exit 1
  fi
  mkdir -p "$folder"
  built=$target.$$
  if "$compiler" $flags "$@" -o "$built" "$source" 2>"$built.log"; then
    chmod 755 "$built"
    mv "$built" "$target"
    rm -f "$built.log"
  else
    cat "$built.log" >&2
    rm -f "$built" "$built.log"
    return 1
  fi
}

init=$folder/cordon-init-$arch
set -- "$here"/door*.c "$here/names.c" "$here/listening.c"
if ! is_current "$init" "$here/cordon-init.c" "$@" "$here/door.h" "$here/names.h" "$here/listening.h"; then
  if ! compile "$init" "$here/cordon-init.c" -static -pthread "$@" 2>/dev/null; then
    compile "$init" "$here/cordon-init.c" -pthread "$@"
    echo "native/build.sh: no static libc, so cordon-init is linked dynamically; it then works only where the sandbox shows the libraries (command_fs other than none)" >&2
  fi
fi
launch=$folder/cordon-launch-$arch
if ! is_current "$launch" "$here/cordon-launch.c"; then
  compile "$launch" "$here/cordon-launch.c" -fvisibility=hidden -shared -fPIC
fi
