#!/bin/sh
# Installs Cordon after checking signature and hash: the self-contained archive without root, or the Debian package as root.
#   install.sh [--from FOLDER|URL] [--key KEY] [--prefix FOLDER] [--bin FOLDER]
#   install.sh --deb [--from FOLDER|URL] [--key KEY]
# Defaults: --from the folder of this script, --key the one of this release, --prefix ~/.local/share/cordon,
# --bin ~/.local/bin.
set -eu
say() { printf 'install: %s\n' "$*" >&2; }
fail() { say "$*"; exit 1; }
here=$(CDPATH='' cd -P -- "$(dirname -- "$0")" && pwd)
from=$here prefix=${XDG_DATA_HOME:-$HOME/.local/share}/cordon bin=$HOME/.local/bin debian=
# The key that the release was signed with; the release writes it here.
key='{key}'
while [ $# -gt 0 ]; do
  case $1 in
    --deb) debian=yes; shift ;;
    --from | --key | --prefix | --bin)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in --from) from=$2 ;; --key) key=$2 ;; --prefix) prefix=$2 ;; --bin) bin=$2 ;; esac
      shift 2
      ;;
    -h | --help) sed -n '2,6s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) fail "unknown option $1; see install.sh --help" ;;
  esac
done
case $(uname -sm) in
  'Linux x86_64') platform=x64 architecture=amd64 ;;
  'Linux aarch64') platform=arm64 architecture=arm64 ;;
  *) fail "there is a package for Linux on x86_64 and aarch64, and this is $(uname -sm)" ;;
esac
case $key in ?key?) fail 'this install.sh is not of a release: name its key with --key' ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
take() {
  case $from in
    http://* | https://*)
      if command -v curl >/dev/null; then curl -fsSL --proto '=https' -o "$work/$1" "${from%/}/$1"
      elif command -v wget >/dev/null; then wget -q --https-only -O "$work/$1" "${from%/}/$1"
      else fail 'curl or wget is needed to download'; fi
      ;;
    *) cp -- "$from/$1" "$work/$1" ;;
  esac || fail "cannot get $1 from $from"
}
take SHA256SUMS
take SHA256SUMS.sig
command -v openssl >/dev/null || fail 'openssl is needed to check the signature'
printf -- '-----BEGIN PUBLIC KEY-----\n%s\n-----END PUBLIC KEY-----\n' "$key" >"$work/key.pem"
openssl pkeyutl -verify -pubin -inkey "$work/key.pem" -rawin -in "$work/SHA256SUMS" -sigfile "$work/SHA256SUMS.sig" \
  >/dev/null 2>&1 || fail 'SHA256SUMS is not signed by the key of this release; nothing was installed'
if [ -n "$debian" ]; then
  archive=$(sed -n "s/^[0-9a-f]*  \(cordon_[0-9A-Za-z.~+-]*_$architecture\.deb\)\$/\1/p" "$work/SHA256SUMS")
else
  archive=cordon-linux-$platform.tar.gz
fi
[ -n "$archive" ] || fail "the release has no package for $architecture"
take "$archive"
cd "$work"
grep "  $archive\$" SHA256SUMS | sha256sum -c --quiet - >/dev/null 2>&1 ||
  fail "$archive does not have the hash that the release names; nothing was installed"
if [ -n "$debian" ]; then
  # apt reads it as its own user.
  chmod 755 . && chmod 644 "$archive"
  apt-get install -y "./$archive"
  exit
fi
mkdir unpacked
tar -xzf "$archive" -C unpacked
version=$(sed -n 's/^ *"version": "\([^"]*\)".*/\1/p' unpacked/cordon/package.json | head -n 1)
[ -n "$version" ] || fail "$archive holds no version"

# Unpacked beside the older version and switched by one rename, so that a hook never meets half an installation.
mkdir -p "$prefix" "$bin"
rm -rf "$prefix/$version.new"
mv unpacked/cordon "$prefix/$version.new"
if [ -e "$prefix/$version" ]; then
  rm -rf "$prefix/$version.old"
  mv "$prefix/$version" "$prefix/$version.old"
fi
mv "$prefix/$version.new" "$prefix/$version"
rm -rf "$prefix/$version.old"
ln -s "$version" "$prefix/current.new.$$"
mv -T "$prefix/current.new.$$" "$prefix/current"
ln -sfn "$prefix/current/bin/cordon" "$bin/cordon"
say "Cordon $version is in $prefix/$version"
case ":$PATH:" in
  *":$bin:"*) say 'next: cordon try' ;;
  *) say "put $bin on your PATH (export PATH=\"$bin:\$PATH\"), then: cordon try" ;;
esac
