#!/usr/bin/env bash
# Builds the image and runs Cordon in containers: by podman, and as the Pods of examples/kubernetes by `podman kube play`. A
# guarded command must work, what it tries must fail, and where the engine gives too little, nothing may run at all. Then checks
# the other examples with the tools that are here.
# Needs root.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
image=localhost/cordon:test-places
# Another test may play a Pod of the same name.
name=cordon-places-$$
work=$(mktemp -d)
proc=/run/$name-proc
clean() {
  podman kube down "$work/pod.yaml" >/dev/null 2>&1 || true
  podman secret rm "$name-token" >/dev/null 2>&1 || true
  podman rmi -f "$image" >/dev/null 2>&1 || true
  umount "$proc" 2>/dev/null || true
  rmdir "$proc" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
printf '[containers]\ndefault_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]\n[engine]\nruntime = "runc"\n' >"$work/conf"
export CONTAINERS_CONF=$work/conf
bash scripts/image.sh "$image" >/dev/null
failed=0
fail() {
  printf 'FAILED  %s\n' "$*"
  failed=1
}
in_container() {
  podman run --rm --user 10001 --cap-drop=ALL --security-opt=no-new-privileges --security-opt unmask=ALL \
    --security-opt seccomp=unconfined "$image" "$@"
}
in_pod() { podman exec "$name-cordon" cordon "$@"; }
where=
holds() { # what, expected (works|fails), the text of a guarded command
  local what=$1 expected=$2 out code=0
  shift 2
  out=$("$where" run -- bash -c "$*" 2>&1) || code=$?
  # 125 to 127 are Cordon's own: a command that never ran shows nothing.
  if { [ "$expected" = works ] && [ "$code" = 0 ]; } ||
    { [ "$expected" = fails ] && [ "$code" != 0 ] && [ "$code" -lt 125 ]; }; then
    printf 'held    %s: %s\n' "$where" "$what"
  else
    fail "$where: $what (exit $code): $out"
  fi
}
attacks() {
  where=$1
  holds 'a guarded command works' works 'echo works > file && cat file && rm file'
  holds 'the system is read-only' fails 'echo x > /usr/bin/evil'
  holds 'Cordon itself cannot be changed' fails 'echo x >> /opt/cordon/dist/cordon.cjs'
  holds 'nor moved away' fails 'mv /opt/cordon /opt/other'
  holds 'its state is out of reach' fails 'ls /home/cordon/.local/state/cordon/audit'
  holds 'no way out' fails 'exec 3<>/dev/tcp/192.0.2.1/80'
  holds 'nor to the network of the Pod' fails 'exec 3<>/dev/tcp/127.0.0.1/8137'
  holds 'other processes are not seen' fails 'for p in /proc/[0-9]*; do tr "\0" " " <$p/cmdline; done | grep -q "[c]ordon.cjs mcp\|[c]onmon"'
  holds 'kernel settings are read-only' fails 'echo 1 > /proc/sys/kernel/ns_last_pid'
  holds 'no user namespace' fails 'unshare -U true 2>/dev/null || node -e "process.exit(require(\"fs\").readFileSync(\"/proc/sys/user/max_user_namespaces\",\"utf8\").trim()===\"0\"?1:0)"'
  holds 'no secret of the Pod' fails 'cat /token/token'
  holds 'no other /proc' fails 'ls /.empty-proc'
}
attacks in_container
doctor=$(in_container doctor)
grep -E 'protections work' <<<"$doctor"
grep -q 'this is a container (podman)' <<<"$doctor" || fail 'doctor does not know the container'
# The dev container, with the arguments and the command of the example.
read -ra devcontainer < <(node -p "JSON.parse(require('fs').readFileSync('examples/devcontainer/devcontainer.json')).runArgs.join(' ')")
if podman run --rm "${devcontainer[@]}" --user cordon --entrypoint /usr/bin/cordon "$image" doctor | grep -q 'Commands run in the sandbox here'; then
  echo 'held    the dev container runs commands in the sandbox'
else
  fail 'the dev container does not run commands'
fi
# The engine's own defaults refuse namespaces: commands run behind Landlock, and what is outside stays closed.
if podman run --rm "$image" run --quiet -- sh -c 'cat /proc/1/environ; kill -0 1; touch /etc/x /tmp/x; :' 2>/dev/null | grep -q .; then
  fail 'with the defaults of the engine a command saw its parent'
else
  echo 'held    with the defaults of the engine'
fi
podman run --rm "$image" run --quiet -- true || fail 'with the defaults of the engine no command runs'

play() { # the example
  podman kube down "$work/pod.yaml" >/dev/null 2>&1 || true
  podman secret rm "$name-token" >/dev/null 2>&1 || true
  {
    printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: %s-token }\ndata: { token: %s }\n---\n' "$name" "$(head -c 24 /dev/urandom | base64 | base64 -w0)"
    sed -e "s#localhost/cordon:dev#$image#; s#name: cordon-worker\$#name: $name#; s#secretName: cordon-token#secretName: $name-token#; s#/run/cordon-empty-proc#$proc#" "examples/kubernetes/$1"
  } >"$work/pod.yaml"
  # Where the machine has no range of ids for containers, podman cannot give the Pod its own user namespace.
  grep -q '^containers:' /etc/subuid || sed -i '/hostUsers: false/d' "$work/pod.yaml"
  # Elsewhere than in the checkout: podman takes a file called `cordon` for a folder to build the image from.
  (cd / && podman kube play --build=false "$work/pod.yaml" >/dev/null)
}
rpc() { # the token, then JSON
  podman exec "$name-cordon" curl -s -o /dev/stdout -w '\n%{http_code}' -H "Authorization: Bearer $1" -H 'Content-Type: application/json' \
    -H 'Accept: application/json, text/event-stream' -d "$2" http://127.0.0.1:8137/mcp
}
served() { # the worker answers whoever has the token, and nobody else
  local token start='{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"0"}}}'
  token=$(podman exec "$name-cordon" cat /token/token)
  for _ in $(seq 50); do rpc "$token" "$start" >"$work/answer" 2>/dev/null && break || sleep 0.2; done
  if grep -q '"serverInfo"' "$work/answer"; then echo 'held    the Pod serves MCP to whoever has the token'; else fail "the Pod does not serve: $(cat "$work/answer")"; fi
  if rpc wrong "$start" | tail -1 | grep -q 401; then echo 'held    and to nobody else'; else fail 'the Pod answers without its token'; fi
}
play pod.yaml
if in_pod doctor >"$work/doctor" 2>&1 && grep -q 'Commands run in the sandbox here' "$work/doctor"; then
  attacks in_pod
  served
elif grep -q 'No command runs here' "$work/doctor" && grep -q "Can't mount proc" "$work/doctor"; then
  echo "held    pod.yaml: $(podman --version) ignores procMount, and nothing runs"
  if in_pod run -- true >/dev/null 2>&1; then fail 'the Pod ran a command without a sandbox'; fi
else
  fail "the Pod: $(cat "$work/doctor")"
fi
mkdir -p "$proc"
unshare --pid --fork mount -t proc proc "$proc"
play pod-podman-4.yaml
attacks in_pod
served
in_pod doctor | grep -E 'protections work'
bash scripts/test-places-fleet.sh "$image" "$proc" || failed=1
# What cannot be run here is at least read by what would read it.
if command -v systemd-analyze >/dev/null; then
  if XDG_RUNTIME_DIR=$work systemd-analyze verify --user --recursive-errors=no examples/systemd/*.service 2>"$work/unit"; then echo 'held    the systemd units are well-formed'; else fail "systemd: $(cat "$work/unit")"; fi
fi
exit "$failed"
