#!/usr/bin/env bash
# Builds and runs real components: installs the optional tools of `cordon agent` (about 380 MB, kept in .cache), builds the loop of
# chat as a component, and runs test/components.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PATH=$PWD/node_modules/.bin:$PATH
export CORDON_COMPONENT_TOOLS=${CORDON_COMPONENT_TOOLS:-$PWD/.cache/component-tools}
if [ ! -d "$CORDON_COMPONENT_TOOLS/node_modules/@bytecodealliance/jco" ]; then
  echo 'components: installing the tools of components (about 380 MB)' >&2
  read -ra tools < <(node -p "require('./src/chat/component/files.ts').COMPONENT_TOOLS.join(' ')")
  npm install --silent --prefix "$CORDON_COMPONENT_TOOLS" "${tools[@]}"
fi
state=$(mktemp -d)
trap 'rm -rf "$state"' EXIT
mkdir -m 700 "$state/cordon"
ln -s "$CORDON_COMPONENT_TOOLS" "$state/cordon/component-tools"
XDG_STATE_HOME=$state node scripts/build.ts --wasm
vitest run --config test/components/vitest.config.ts "$@"
