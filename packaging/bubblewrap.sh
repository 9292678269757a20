#!/bin/sh
# Builds a static bubblewrap from Debian's source package, for the packages that bring their own.
#   bubblewrap.sh x64|arm64 FOLDER
# Writes FOLDER/bwrap-PLATFORM, FOLDER/bubblewrap.version and FOLDER/bubblewrap.licence.
# Needs dpkg-dev, a C compiler and, for the other platform, its cross-compiler. Nothing is installed: apt keeps its lists
# and downloads in a temporary folder.
set -eu
platform=$1 folder=$2
case $platform in
  x64) architecture=amd64 triplet=x86_64-linux-gnu ;;
  arm64) architecture=arm64 triplet=aarch64-linux-gnu ;;
  *) echo "bubblewrap.sh: expected x64 or arm64, found $platform" >&2; exit 2 ;;
esac
compiler=$triplet-gcc
for needed in "$compiler" "$triplet-strip" dpkg-source dpkg-deb apt-get; do
  command -v "$needed" >/dev/null || {
    echo "bubblewrap.sh: $needed is missing: apt install dpkg-dev gcc-$(echo "$triplet" | tr _ -)" >&2
    exit 1
  }
done
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/parts"
# The machine's own sources, with their source packages.
for file in /etc/apt/sources.list.d/*.sources; do
  if [ -e "$file" ]; then sed 's/^Types: deb$/Types: deb deb-src/' "$file" >"$work/parts/${file##*/}"; fi
done
if [ -s /etc/apt/sources.list ]; then
  { cat /etc/apt/sources.list; sed -n 's/^deb /deb-src /p' /etc/apt/sources.list; } >"$work/parts/main.list"
fi
apt() {
  apt-get -qq -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o Dir::Etc::sourcelist=/dev/null \
    -o "Dir::Etc::sourceparts=$work/parts" -o APT::Architectures::=amd64 -o APT::Architectures::=arm64 \
    -o APT::Sandbox::User= -o Acquire::Retries=5 "$@"
}
cd "$work"
apt update
# apt checks what it downloads against the signed lists; dpkg-source need not check again.
apt source --download-only bubblewrap
dpkg-source --no-check -x bubblewrap_*.dsc source >/dev/null
apt download "libcap-dev:$architecture"
dpkg-deb -x libcap-dev_*.deb libcap
version=$(sed -n 's/^Version: //p' bubblewrap_*.dsc | head -n 1)
cd source
printf '#define PACKAGE_STRING "bubblewrap %s"\n' "$version" >config.h
"$compiler" -O2 -static -fstack-protector-strong -D_FORTIFY_SOURCE=2 -D_GNU_SOURCE -Wl,--build-id=none \
  -ffile-prefix-map="$work/source=." -include config.h -I. -I../libcap/usr/include bubblewrap.c bind-mount.c network.c utils.c \
  -L"../libcap/usr/lib/$triplet" -lcap -o "$folder/bwrap-$platform"
"$triplet-strip" "$folder/bwrap-$platform"
printf '%s\n' "$version" >"$folder/bubblewrap.version"
{
  printf 'bubblewrap %s, linked statically with libcap and glibc, built from Debian’s source package of that version.\n' "$version"
  printf 'Its source: apt source bubblewrap=%s\n\n' "$version"
  cat COPYING
} >"$folder/bubblewrap.licence"
