/** Ways to run another program that rows of several families share, so that what is equivalent is judged alike. */

import { privilege, type Wrap } from './wrap.ts'

const PACKAGE_OPTIONS = `
  -p -w -j <text>
  -y -q -A -R -W -v -i -t -s
  --package --workspace --from --with --python --spec --jobs --include --exclude --with-editable --with-requirements --constraints --overrides <text>
  --yes --no --quiet --no-install --ignore-existing --prefer-offline --offline --workspaces --bun --all --recursive --worktree --no-private --parallel
  --interlaced --topological --topological-dev --verbose --silent --isolated
  --since [text]`

/** Runs a program of a package: a wrapper among its words is taken out (`uvx cross-env … rm`), anything else is the package's own work. */
export const packageRun: Wrap = {
  options: `
  -c <text>${PACKAGE_OPTIONS}`,
  inspect: true,
  nested: true,
  run: 'words',
}

/** The same by npm and its like: `-c` is a line of shell. */
export const npmRun: Wrap = {
  ...packageRun,
  options: `
  -c --call <shell>${PACKAGE_OPTIONS}`,
}

/** Runs a program with variables set. */
export const envRun: Wrap = {
  options: `
  -i !wary
  -0 -v
  -u <unset>
  -C <chdir>
  -S <split>
  -a <text>
  --ignore-environment !wary
  --null --debug --list-signal-handling
  --unset <unset>
  --chdir <chdir>
  --split-string <split>
  --block-signal --default-signal --ignore-signal [text]
  --help --version !idle
  --argv0 <text>`,
  assignments: true,
  run: 'words',
}

/** Is a shell. */
export const shellRun: Wrap = {
  options: `
  -a -k -p -t -B -P -i -l -r -D !wary
  -b -e -f -h -m -n -u -v -x -C -E -H -T -s
  -o <text>
  -O <wary>
  --norc --noprofile --verbose --dump-strings --noediting --pretty-print
  --posix --login --restricted --debugger !wary
  --rcfile --init-file <wary>
  --help --version !idle`,
  run: 'shell',
}

/** Measures a program. */
export const timeRun: Wrap = {
  options: `
  -a -p -q -v
  -o <wary>
  -f <text>
  -h -V !idle
  --append --portability --quiet --verbose
  --output <wary>
  --format <text>
  --help --version !idle`,
  run: 'words',
}

/** Runs a program as another user. */
export const sudoRun: Wrap = {
  options: `
  -A -b -B -E -e -H -h -i -K -k -l -n -N -P
  -S -s -v -V
  -C -c -D -g -p -R -r -T -t -U -u <text>
  --user --group --chdir --host --prompt --role --type <text>
  --login --shell --non-interactive --stdin --set-home --edit --list --validate --background --askpass
  --preserve-env [text]`,
  assignments: true,
  hazard: privilege('sudo'),
  run: 'words',
}

/** Runs a program with another priority. */
export const niceRun: Wrap = {
  options: `
  -n <text>
  -0 -1 -2 -3 -4 -5 -6 -7 -8 -9
  --adjustment <text>
  --help --version !idle`,
  run: 'words',
}

/** Runs a program with other buffers. */
export const stdbufRun: Wrap = {
  options: `
  -i -o -e <text>
  --input --output --error <text>
  --help --version !idle`,
  run: 'words',
}
