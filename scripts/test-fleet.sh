#!/usr/bin/env bash
# The tests of fleets that need real NATS servers and long runs. With `cluster` the three-node cluster under random kills;
# arguments after it are machines, seconds and seed. With `load` one process speaks for many machines.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH="$PWD/node_modules/.bin:$PATH"
if [ "${1:-}" = cluster ] || [ "${1:-}" = load ]; then
  what=$1
  shift
  exec node "test/fleet/$what.ts" "$@"
fi
vitest run --config test/fleet/vitest.config.ts
node test/fleet/otlp-soak.ts "$@"
