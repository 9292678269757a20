#!/usr/bin/env bash
# Runs the tests of code execution in every container engine: installs what is missing (as root, on Debian), starts a docker
# daemon if there is none, and ends it again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
say() { printf 'engines: %s\n' "$*" >&2; }
missing=()
for tool in runc crun podman; do command -v "$tool" >/dev/null || [ -x "/usr/sbin/$tool" ] || missing+=("$tool"); done
command -v dockerd >/dev/null || [ -x /usr/sbin/dockerd ] || missing+=(docker.io)
command -v runsc >/dev/null || missing+=(runsc)
if [ ${#missing[@]} -gt 0 ]; then
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    for package in "${missing[@]}"; do
      say "installing $package"
      apt-get install -y -qq --no-install-recommends "$package" >/dev/null || say "$package cannot be had; it is left out (gVisor is newer in backports)"
    done
  else
    say "not here, and left out: ${missing[*]}"
  fi
fi
engines=os
for tool in runc podman runsc; do
  if command -v "$tool" >/dev/null || [ -x "/usr/sbin/$tool" ]; then engines+=",$tool"; fi
done
place=
if [ "$(id -u)" = 0 ] && [ -x /usr/sbin/dockerd ]; then
  place=$(mktemp -d)
  export DOCKER_HOST="unix://$place/socket"
  /usr/sbin/dockerd --data-root "$place/data" --exec-root "$place/exec" --host "$DOCKER_HOST" --pidfile "$place/pid" \
    --iptables=false --ip6tables=false --bridge=none --storage-driver vfs >"$place/log" 2>&1 &
  daemon=$!
  trap 'kill "$daemon" 2>/dev/null; wait "$daemon" 2>/dev/null; rm -rf "$place"' EXIT
  for _ in {1..100}; do docker version >/dev/null 2>&1 && break; sleep 0.2; done
  if docker version >/dev/null 2>&1; then engines+=",docker"; else say "the docker daemon does not start here: $(tail -1 "$place/log")"; fi
fi
say "engines: $engines"
CORDON_ENGINES=$engines node scripts/test.ts test/contract/code test/contract/backend test/attacks/code test/attacks/sandbox/engines.test.ts
