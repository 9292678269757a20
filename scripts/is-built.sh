# For sh and bash: `is_built` tells whether dist/ of the checkout $here is newer than everything it is made from.
# Looked at with the shell's own means: starting `find` for it would take longer than all the rest. Folders count too,
# because one that lost a file is newer.
is_built() {
  stamp=$here/dist/.built
  [ -f "$stamp" ] && [ -x "$here/node_modules/node/bin/node" ] || return 1
  for file in "$here/src" "$here"/src/* "$here"/src/*/* "$here"/src/*/*/* "$here"/src/*/*/*/* "$here/native" \
    "$here"/native/* "$here/scripts/build.ts" "$here/tsconfig.json" "$here/tsconfig.build.json" "$here/package-lock.json"; do
    if [ "$file" -nt "$stamp" ]; then return 1; fi
  done
}
