# For sh and bash: `is_built` says whether dist/ of the checkout $here is newer than its sources.
# It uses the shell's own means: starting `find` would take longer than all the rest. A folder is newer when a file in it
# was added, removed or replaced, as git does it. An editor may write into a file that stays, so every file is checked,
# which takes 5 ms. `is_built hook` leaves that out: it is as much as a hook's own work.
is_built() {
  stamp=$here/dist/.built
  [ -f "$stamp" ] && [ -x "$here/node_modules/node/bin/node" ] || return 1
  # The folders that it was built from.
  read -r folders <"$stamp" || return 1
  for path in $folders native native/broker native/init native/launch native/resident scripts/build.ts tsconfig.json tsconfig.build.json package-lock.json; do
    if [ "$here/$path" -nt "$stamp" ]; then return 1; fi
  done
  if [ "${1:-}" = hook ]; then return 0; fi
  for folder in $folders native native/broker native/init native/launch native/resident; do
    for file in "$here/$folder"/*; do
      if [ "$file" -nt "$stamp" ]; then return 1; fi
    done
  done
}
