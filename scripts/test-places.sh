#!/usr/bin/env bash
# Builds the image and runs Cordon in containers: by podman, and as the Pod of examples/kubernetes by `podman kube play`. A
# guarded command must work, what it tries must fail, and where the engine gives too little, nothing may run at all.
# Needs root and podman with runc; installs podman's small init (catatonit) where it is missing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
image=localhost/cordon:test-places
conf=$(mktemp)
pod=$(mktemp)
trap 'podman kube down "$pod" >/dev/null 2>&1 || true; podman rmi -f "$image" >/dev/null 2>&1 || true; rm -f "$conf" "$pod"' EXIT
command -v catatonit >/dev/null || apt-get install -y -qq --no-install-recommends catatonit >/dev/null
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\n' >"$conf"
export CONTAINERS_CONF=$conf
bash scripts/image.sh "$image" >/dev/null
failed=0
holds() { # what, expected (works|fails), the text of a guarded command
  local what=$1 expected=$2 out code=0
  shift 2
  out=$(podman run --rm --user 10001 --cap-drop=ALL --security-opt=no-new-privileges --security-opt unmask=ALL \
    --security-opt seccomp=unconfined "$image" run -- bash -c "$*" 2>&1) || code=$?
  if { [ "$expected" = works ] && [ "$code" = 0 ]; } || { [ "$expected" = fails ] && [ "$code" != 0 ]; }; then
    printf 'held    %s\n' "$what"
  else
    printf 'FAILED  %s (exit %s): %s\n' "$what" "$code" "$out"
    failed=1
  fi
}
holds 'a guarded command works' works 'echo works > file && cat file'
holds 'the system is read-only' fails 'echo x > /usr/bin/evil'
holds 'Cordon itself cannot be changed' fails 'echo x >> /opt/cordon/dist/cordon.cjs'
holds 'its state is out of reach' fails 'ls /home/cordon/.local/state/cordon/audit'
holds 'no way out' fails 'exec 3<>/dev/tcp/192.0.2.1/80'
holds 'other processes are not seen' fails 'tr "\0" " " < /proc/1/cmdline | grep -q cordon.cjs'
holds 'kernel settings are read-only' fails 'echo 1 > /proc/sys/kernel/ns_last_pid'
doctor=$(podman run --rm --user 10001 --cap-drop=ALL --security-opt=no-new-privileges --security-opt unmask=ALL \
  --security-opt seccomp=unconfined "$image" doctor)
grep -E 'promises hold' <<<"$doctor"
grep -q 'this is a container (podman)' <<<"$doctor" || { echo 'FAILED  doctor does not know the container'; failed=1; }
# The engine's own defaults give too little: then nothing runs.
if podman run --rm "$image" run -- true >/dev/null 2>&1; then echo 'FAILED  it ran without a sandbox'; failed=1; else echo 'held    without user namespaces nothing runs'; fi
sed "s#localhost/cordon:dev#$image#" examples/kubernetes/pod.yaml >"$pod"
# Elsewhere than in the checkout: podman takes a file called `cordon` for a folder to build the image from.
(cd / && podman kube play --build=false "$pod" >/dev/null)
podman wait cordon-worker-cordon >/dev/null
log=$(podman logs cordon-worker-cordon 2>&1)
if grep -q 'Commands run in the sandbox here' <<<"$log"; then
  echo 'held    the Pod of examples/kubernetes: commands run in the sandbox'
elif grep -q 'No command runs here' <<<"$log" && grep -q "Can't mount proc" <<<"$log"; then
  echo "held    the Pod of examples/kubernetes: $(podman --version) ignores procMount, and nothing runs"
else
  printf 'FAILED  the Pod: %s\n' "$log"
  failed=1
fi
exit "$failed"
