#!/usr/bin/env bash
# The tests of fleets that need real NATS servers and long runs: installs nats-server and prometheus where they are missing (as root, on Debian).
# With `cluster` the three-node cluster under random kills; arguments after it are machines, seconds and seed. With `load` one
# process speaks for many machines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
missing=()
for program in nats-server prometheus; do command -v "$program" >/dev/null || missing+=("$program"); done
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
  else
    echo "fleet: missing: ${missing[*]} (on Debian: apt-get install ${missing[*]})" >&2
    exit 1
  fi
fi
if [ "${1:-}" = cluster ] || [ "${1:-}" = load ]; then
  what=$1
  shift
  exec node "test/fleet/$what.ts" "$@"
fi
vitest run --config test/fleet/vitest.config.ts
node test/fleet/otlp-soak.ts "$@"
