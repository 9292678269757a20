#!/usr/bin/env bash
# Sets a checkout up on a fresh Debian machine: system packages, npm packages and, with "build", the build.
# As root it installs what is missing; as an ordinary user it says exactly what to install.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf 'set-up: %s\n' "$*" >&2; }

missing=()
command -v bwrap >/dev/null || missing+=(bubblewrap)
command -v git >/dev/null || missing+=(git)
command -v cc >/dev/null || missing+=(gcc libc6-dev)
# The tests drive real clients through the proxy.
if [ "${1:-}" = test ]; then
  for tool in curl wget; do command -v "$tool" >/dev/null || missing+=("$tool"); done
  command -v ssh >/dev/null || missing+=(openssh-client)
  # An ssh server without a service: nothing of it starts by itself.
  [ -x /usr/sbin/dropbear ] || missing+=(dropbear-bin)
fi
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    say "installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    apt-get update -qq >/dev/null
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    say "Cordon needs: ${missing[*]}"
    say "On Debian or Ubuntu: sudo apt-get install -y ${missing[*]}"
    say "On Fedora: sudo dnf install -y bubblewrap git gcc glibc-static"
    exit 125
  fi
fi

if ! command -v npm >/dev/null; then
  say "Cordon needs Node.js with npm (any version from 20 on; the right one is installed beside it): see https://nodejs.org"
  exit 125
fi

lock_stamp=node_modules/.cordon-lock
if ! cmp -s package-lock.json "$lock_stamp" 2>/dev/null; then
  say "installing npm packages (once; it takes a quarter of a minute)"
  # Not npm ci: registries that mirror only some platforms leave optional binaries out of the lock file, which ci refuses.
  npm install --no-save --no-fund --no-audit --no-update-notifier --loglevel=error >&2
  cp package-lock.json "$lock_stamp"
fi

if [ "${1:-}" = build ] || [ "${1:-}" = test ]; then
  say "building"
  PATH="$PWD/node_modules/node/bin:$PWD/node_modules/.bin:$PATH" node scripts/build.ts >&2
fi
