#!/usr/bin/env bash
# Plays the chart of examples/kubernetes as a machine of a fleet, with a desk on this machine: it must join by its code, guard a
# command under the fleet's policy, report its health and survive a restart. Called by test-places.sh: IMAGE PROC. Needs go and
# golang-github-masterminds-sprig-dev, with which the template is rendered as helm renders it.
set -euo pipefail
image=$1 proc=$2
name=cordon-fleet-$$
work=$(mktemp -d)
clean() {
  (cd / && podman kube down "$work/fleet.yaml" >/dev/null 2>&1) || true
  podman volume rm -f "$name-home" >/dev/null 2>&1 || true
  podman secret rm "$name-token" >/dev/null 2>&1 || true
  [ -z "${desk:-}" ] || kill "$desk" 2>/dev/null || true
  rm -rf "$work"
}
trap clean EXIT
node=node_modules/node/bin/node
port=$("$node" -e 's=require("net").createServer().listen(0,"127.0.0.1",()=>{console.log(s.address().port);s.close()})')
admin() { HOME=$work/admin CORDON_KEYCHAIN=off XDG_CONFIG_HOME='' XDG_STATE_HOME='' "$node" dist/cordon.cjs fleet "$@"; }
mkdir -m 700 "$work/admin"
admin init acme --policy /policy/policy.bundle --desk "http://127.0.0.1:$port/" >/dev/null
printf 'schema_version = 1\n[capabilities.deny.commands]\npatterns = ["id:*"]\n' >"$work/all.toml"
printf '{ "layers": [{ "groups": ["*"], "file": "all.toml" }], "days": 30, "closes": "network" }' >"$work/draft.json"
admin publish "$work/draft.json" --yes --out "$work/policy.bundle" >/dev/null
HOME=$work/admin CORDON_KEYCHAIN=off "$node" dist/cordon.cjs fleet serve --port "$port" >"$work/desk.log" 2>&1 &
desk=$!
chart=$PWD/examples/kubernetes/chart
render() { (cd test/places && GO111MODULE=off GOPATH=/usr/share/gocode GOCACHE=$work/go GOFLAGS= go run render.go "$chart" "$@"); }
render cordon >"$work/plain.yaml"
cmp "$work/plain.yaml" examples/kubernetes/deployment.yaml || { echo 'FAILED  deployment.yaml is not the chart with its own values' && exit 1; }
mkdir "$work/schema"
cp test/places/schema.mjs "$work/schema/"
echo '{"private":true}' >"$work/schema/package.json"
(cd "$work/schema" && npm install --no-audit --no-fund --silent kubernetes-models@5.1.0 yaml@2 >/dev/null 2>&1)
valid() { "$node" "$work/schema/schema.mjs" "$1" >/dev/null 2>&1; }
valid "$work/plain.yaml" || { echo 'FAILED  the chart is not valid by the schemas of Kubernetes' && exit 1; }
sed 's/mountPath/mountPaht/' "$work/plain.yaml" >"$work/wrong.yaml"
if valid "$work/wrong.yaml"; then echo 'FAILED  the schemas find nothing' && exit 1; fi
echo 'held    the chart is valid by the schemas of Kubernetes'
base64_of() { base64 -w0 "$1"; }
admin invite --groups k8s >"$work/code"
head -c 24 /dev/urandom | base64 >"$work/token"
{
  # podman 4 mounts a Secret as base64, and a ConfigMap as it is: the code comes from one of those here.
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: %s-join }\ndata: { code: %s }\n---\n' "$name" "$(cat "$work/code")"
  printf 'apiVersion: v1\nkind: Secret\nmetadata: { name: %s-token }\ndata: { token: %s }\n---\n' "$name" "$(base64_of "$work/token")"
  printf 'apiVersion: v1\nkind: ConfigMap\nmetadata: { name: %s-policy }\ndata:\n  policy.bundle: |\n' "$name"
  sed 's/^/    /' "$work/policy.bundle"
  printf -- '---\n'
  # The desk is on this machine's loopback, where plain HTTP is allowed. podman 4 starts ended init containers again by default.
  render "$name" "image=$image" imagePullPolicy=Never "desk=http://127.0.0.1:$port/" "joinSecret=$name-join" "tokenSecret=$name-token" \
    "policyConfigMap=$name-policy" "emptyProc=$proc" | sed "s/secret: { secretName: $name-join,/configMap: { name: $name-join,/" |
    sed 's/^      automountServiceAccountToken: false$/&\n      hostNetwork: true\n      restartPolicy: Never/'
} >"$work/fleet.yaml"
play() { (cd / && podman kube play --build=false "$@" "$work/fleet.yaml" >/dev/null); }
if ! play; then
  podman logs "$name-pod-0-join" 2>&1 | head -5 || podman ps -a
  exit 1
fi
pod=$name-pod-0-cordon
podman container exists "$pod" || pod=$name-pod-cordon
in_pod() { podman exec "$pod" cordon "$@"; }
failed=0
check() { # what, then a command
  local what=$1
  shift
  if "$@" >"$work/out" 2>&1; then echo "held    fleet: $what"; else
    echo "FAILED  fleet: $what: $(tail -5 "$work/out")"
    failed=1
  fi
}
not() { ! "$@"; }
metrics() { curl -sf "http://127.0.0.1:$port/metrics" >"$work/metrics"; }
reported() { for _ in $(seq 40); do metrics && grep -q 'cordon_fleet_machines{[^}]*policy="1"} 1' "$work/metrics" && return; sleep 0.5; done; return 1; }
check 'the Pod has joined and has the policy' in_pod fleet status
check 'its health is at the desk' reported
if command -v promtool >/dev/null; then check 'promtool reads the metrics' promtool check metrics <"$work/metrics"; fi
check 'a guarded command works' in_pod run -- true
check 'what the policy denies does not' not in_pod run -- id
play --down
# The volume is there already, and podman makes none twice.
awk 'BEGIN { RS = "---\n"; ORS = "---\n" } !/PersistentVolumeClaim\n/ { print }' "$work/fleet.yaml" >"$work/again.yaml"
mv "$work/again.yaml" "$work/fleet.yaml"
play
check 'after a restart it is the same machine, with its used code' in_pod fleet status
check 'nobody drifts' grep -q '^cordon_fleet_machines_drifting 0$' "$work/metrics"
if [ "$(admin machines | wc -l)" = 1 ]; then echo 'held    fleet: it is one machine'; else failed=1; fi
exit "$failed"
