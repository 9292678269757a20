#!/usr/bin/env bash
# Sets a checkout up on a fresh Debian machine or a Mac: system packages and npm packages; with "native" what is written in C,
# with "build" everything, with "test" also the programs that tests take; further words are Debian packages. As root it installs
# what is missing; as an ordinary user it says exactly what to install. Of several at once, one works and the others wait for it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
here=$PWD
. scripts/is-built.sh
# What is built here is run: nobody else may write it, whatever the umask says.
umask g-w,o-w

say() { printf 'set-up: %s\n' "$*" >&2; }

system=$(uname -s)
case $system in
  Linux | Darwin) ;;
  *)
    say "Cordon has a sandbox for Linux and macOS (a virtual machine or WSL 2 will do), and this is $system"
    exit 125
    ;;
esac

# The kernel's own lock, which ends with its holder however that ends. perl locks the same file the same way, and one of
# the two is on every Linux.
if ! { mkdir -p dist && exec 9>>dist/.lock; } 2>/dev/null; then
  say "Cordon has to be built, and $here/dist cannot be written: run ./cordon once as $(stat -c %U . 2>/dev/null || echo 'the owner')"
  exit 125
fi
lock() { if command -v flock >/dev/null; then flock "$@" 9; else perl -e 'exit !flock(STDIN, $ARGV[0] ? 6 : 2)' -- "$@" <&9; fi; }
if ! lock -n; then
  say "waiting for another set-up of this checkout"
  lock
fi

missing=()
# A Mac brings its sandbox along, and nothing is compiled there.
if [ "$system" = Darwin ]; then
  if [ ! -x /usr/bin/sandbox-exec ]; then
    say "Cordon needs /usr/bin/sandbox-exec, which is part of macOS, and it is not here"
    exit 125
  fi
  if ! command -v git >/dev/null; then
    say "Cordon needs git: xcode-select --install"
    exit 125
  fi
else
  command -v bwrap >/dev/null || missing+=(bubblewrap)
  command -v git >/dev/null || missing+=(git)
  command -v cc >/dev/null || missing+=(gcc libc6-dev)
fi
# The tests drive real clients through the proxy.
if [ "${1:-}" = test ] && [ "$system" = Linux ]; then
  for tool in curl wget; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  command -v ssh >/dev/null || missing+=(openssh-client)
  command -v python3 >/dev/null || missing+=(python3)
  # Charsets that are not UTF-8, for the soundness test.
  [ -f /usr/share/i18n/charmaps/GBK.gz ] || missing+=(locales)
  # An ssh server without a service: nothing of it starts by itself.
  [ -x /usr/sbin/dropbear ] || missing+=(dropbear-bin)
  # The page is tried in a real browser.
  command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || missing+=(chromium)
  # Databases come with services that start by themselves where there is a systemd; the tests do without them there.
  if [ ! -d /run/systemd/system ] && [ "$(id -u)" = 0 ]; then
    command -v redis-server >/dev/null || missing+=(redis-server)
    [ -d /usr/lib/postgresql ] || missing+=(postgresql)
  fi
fi
if command -v dpkg-query >/dev/null; then
  for package in "${@:2}"; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null)" = installed ] || missing+=("$package")
  done
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get -o Acquire::Retries=5 update -qq >/dev/null
    apt-get -o Acquire::Retries=5 install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    say "Cordon needs: ${missing[*]}"
    say "On Debian or Ubuntu: sudo apt-get install -y ${missing[*]}"
    say "On Fedora: sudo dnf install -y bubblewrap git gcc glibc-static"
    say "On Arch: sudo pacman -S bubblewrap git gcc"
    if [ "${1:-}" = test ]; then say "The tests also take curl, wget, ssh, python3, dropbear and chromium, under whatever name your system has them"; fi
    exit 125
  fi
fi

if ! command -v npm >/dev/null; then
  say "Cordon needs Node.js with npm (any version from 20 on; the right one is installed beside it): see https://nodejs.org"
  exit 125
fi

lock_stamp=node_modules/.cordon-lock
# By this script, or by a person's own npm since the list of packages was written.
is_installed() {
  cmp -s package-lock.json "$lock_stamp" 2>/dev/null ||
    { [ node_modules/.package-lock.json -nt package-lock.json ] && [ -x node_modules/node/bin/node ] && [ -d node_modules/vitest ]; }
}
if ! is_installed; then
  say "installing npm packages (once; it takes a quarter of a minute)"
  if ! npm ci --fetch-retries=5 --no-fund --no-audit --no-update-notifier --loglevel=error >&2; then
    say "npm could not install the packages, for the reason above; put that right, and run this again"
    exit 125
  fi
  cp package-lock.json "$lock_stamp"
fi

if [ "${1:-}" = native ] && [ "$system" = Linux ]; then sh native/build.sh >&2; fi
if [ "${1:-}" = build ] || [ "${1:-}" = test ]; then
  # Another one may have built it while this one waited.
  if ! is_built; then
    say "building"
    PATH="$here/node_modules/node/bin:$here/node_modules/.bin:$PATH" node scripts/build.ts >&2
    # So that the first hooks are as fast as later ones. Where it cannot be done, they learn by themselves.
    if [ "$1" = build ]; then "$here/node_modules/node/bin/node" scripts/warm-up.ts >/dev/null 2>&1 || true; fi
  fi
fi
