#!/bin/sh
# Builds cordon-init, cordon-launch, cordon-client and cordon-serve, unless they are there and newer than their sources.
#   build.sh [FOLDER]       for this machine, into dist/native or FOLDER
#   build.sh FOLDER every   for every platform of the package: static inits only, and a missing cross-compiler is an error
set -eu
here=$(cd "$(dirname "$0")" && pwd)
case $(uname -m) in
  x86_64) own=x64 ;;
  aarch64) own=arm64 ;;
  *) echo "native/build.sh: expected x86_64 or aarch64, found $(uname -m): Cordon has no sandbox for it" >&2; exit 1 ;;
esac
folder=${1:-$here/../dist/native}
case $folder in /*) ;; *) folder=$PWD/$folder ;; esac
platforms=$own
if [ "${2:-}" = every ]; then platforms="x64 arm64"; fi
# The paths of this checkout stay out of the files, so that two builds of the same sources are the same.
flags="-std=gnu11 -O2 -Wall -Wextra -Werror -fstack-protector-strong -D_FORTIFY_SOURCE=2 -ffile-prefix-map=$here=. -Wl,--build-id=none"

# compiler_for PLATFORM: this machine's own compiler, or Debian's for the other.
compiler_for() {
  if [ "$1" = "$own" ]; then
    for candidate in ${CC:-} cc gcc clang; do
      if command -v "$candidate" >/dev/null 2>&1; then echo "$candidate"; return; fi
    done
    echo "native/build.sh: expected a C compiler (cc, gcc or clang), found none; install one, such as: apt install gcc libc6-dev" >&2
  else
    case $1 in x64) prefix=x86_64-linux-gnu package=x86-64-linux-gnu ;; arm64) prefix=aarch64-linux-gnu package=aarch64-linux-gnu ;; esac
    if command -v "$prefix-gcc" >/dev/null 2>&1; then echo "$prefix-gcc"; return; fi
    echo "native/build.sh: the package holds files for $1 too, and there is no $prefix-gcc; install it: apt install gcc-$package" >&2
  fi
  return 1
}

# is_current TARGET SOURCE...
is_current() {
  target=$1
  shift
  [ -x "$target" ] && [ ! "$0" -nt "$target" ] || return 1
  for source; do if [ "$source" -nt "$target" ]; then return 1; fi; done
}

# compile COMPILER TARGET WORDS...: written aside and renamed, so that a running sandbox keeps the old file, and a
# half-written one is never started.
compile() {
  compiler=$1 target=$2
  shift 2
  mkdir -p "$folder"
  built=$target.$$
  if "$compiler" $flags "$@" -o "$built" 2>"$built.log"; then
    chmod 755 "$built"
    mv "$built" "$target"
    rm -f "$built.log"
  else
    cat "$built.log" >&2
    rm -f "$built" "$built.log"
    return 1
  fi
}

# static_client COMPILER TARGET SOURCES...: of a package it is a part, in a checkout it may be missing.
static_client() {
  if compile "$@" -static 2>/dev/null || [ "$platforms" = "$own" ]; then return; fi
  compile "$@" -static
}

# The init, with the judges of changes and of program starts.
set -- "$here"/init/*.c "$here"/broker/*.c "$here"/programs/*.c "$here"/bare/*.c

for platform in $platforms; do
  # Before anything is built: half a package is not a package.
  compiler_for "$platform" >/dev/null
done
for platform in $platforms; do
  init=$folder/cordon-init-$platform
  if ! is_current "$init" "$@" "$here"/*.h "$here"/init/*.h "$here"/broker/*.h "$here"/programs/*.h "$here"/bare/*.h; then
    compiler=$(compiler_for "$platform")
    if ! compile "$compiler" "$init" -static -pthread "$@" 2>/dev/null; then
      if [ "$platforms" != "$own" ]; then
        compile "$compiler" "$init" -static -pthread "$@" || true
        echo "native/build.sh: the package needs a static init for $platform, and it cannot be built, for the reason above" >&2
        exit 1
      fi
      compile "$compiler" "$init" -pthread "$@"
      echo "native/build.sh: no static libc, so cordon-init is linked dynamically; it then works only where the sandbox shows the libraries (command_fs other than none)" >&2
    fi
  fi
  launch=$folder/cordon-launch-$platform
  if ! is_current "$launch" "$here"/launch/* "$here"/*.h; then
    compile "$(compiler_for "$platform")" "$launch" -fvisibility=hidden -shared -fPIC "$here"/launch/*.c
  fi
  # Without a static libc there is none, and everything is started as it was before there was one.
  resident=$here/resident client=$folder/cordon-client-$platform
  if ! is_current "$client" "$resident"/* "$here"/*.h; then
    static_client "$(compiler_for "$platform")" "$client" "$resident/client.c" "$resident/environment.c" "$resident/hand-over.c" "$resident/keeper.c" "$resident/place.c"
  fi
  serve=$folder/cordon-serve-$platform
  if ! is_current "$serve" "$resident"/* "$here"/*.h; then
    compile "$(compiler_for "$platform")" "$serve" -fvisibility=hidden -shared -fPIC "$resident/serve.c" "$resident/place.c"
  fi
done

# What was built, for the program that starts it, and for `sha256sum -c`.
sums=$folder/SHA256SUMS
cd "$folder"
set --
for platform in arm64 x64; do
  for name in client init launch serve; do if [ -e "cordon-$name-$platform" ]; then set -- "$@" "cordon-$name-$platform"; fi; done
done
sha256sum "$@" >"$sums.$$"
if cmp -s "$sums.$$" "$sums"; then rm "$sums.$$"; else mv "$sums.$$" "$sums"; fi
