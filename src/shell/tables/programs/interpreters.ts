/** Interpreters: their own options, as far as they come before the script. */

import { smallInterpreters } from '../interpreter-names.ts'
import { interpreterRules } from '../rules/interpreters.ts'
import type { Program, ProgramTable } from '../spec.ts'
import { shellRun } from '../wraps.ts'

export function interpreterPrograms(): ProgramTable {
  const shKind: Program = {
    stops: true,
    ends: '-c',
    abbreviates: false,
    options:
      '\n  -c <code>\n  -s -i !code # reads commands\n  --rcfile --init-file -rcfile -init-file <load>\n  -o -O <text>\n  -l --login !load # runs start-up files',
    operands: 'read auto*',
    operandsWith: { '-c': 'auto*' },
  }

  return {
    'python python2 python3 pypy pypy3 ipython ipython3 micropython jython': {
      rules: [interpreterRules],
      stops: true,
      ends: '-c -m',
      abbreviates: false,
      options: `
  -c <code>
  -i !code # goes on reading code after the script
  -m <text>
  -W -X -Q --check-hash-based-pycs <text>`,
      operands: 'read auto*',
      operandsWith: { '-c -m': 'auto*' },
    },
    'node nodejs': {
      rules: [interpreterRules],
      stops: true,
      abbreviates: false,
      options: `
  -e --eval -p --print -pe <code>
  -i --interactive !code # reads code
  -r --require --import --loader --experimental-loader <load>
  --openssl-config --experimental-config-file <config>
  --cpu-prof-dir --heap-prof-dir --redirect-warnings --report-directory --diagnostic-dir --test-reporter-destination <output>
  --env-file --env-file-if-exists <read>
  -C --conditions --watch-path --run --title --test-name-pattern --test-concurrency --test-shard --input-type <text>
  --test-reporter <module>
  --max-old-space-size --stack-trace-limit --inspect --inspect-brk --unhandled-rejections [text]`,
      operands: 'read auto*',
    },
    deno: {
      rules: [interpreterRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --import-map --config -c --lock --cert --env-file <read>
  --preload --require --import <load>
  --reload -r --allow-read --allow-write --allow-net --allow-env --allow-run --allow-ffi -A --allow-all --inspect [text]`,
      subcommands: {
        eval: { always: ['code', 'runs text as code'], operands: 'text*' },
        repl: { always: ['code', 'reads and runs code'] },
        run: { stops: true, operands: 'auto*' },
        install: {
          options: '\n  -g --global !system # installs a program for the account\n  --root <grow>',
          operands: 'auto*',
        },
        task: { stops: true, options: '\n  --cwd <tree>', operands: 'text*' },
        bundle: { options: '\n  -o --output <write>', operands: 'read write' },
        compile: { options: '\n  -o --output <write>\n  --target --icon <text>', operands: 'read auto*' },
        upgrade: { always: ['system', 'replaces the installed deno'] },
      },
      operands: 'auto*',
    },
    'ts-node tsx esno zx vite-node jiti': {
      rules: [interpreterRules],
      stops: true,
      abbreviates: false,
      options:
        '\n  -e --eval -p --print <code>\n  -i --interactive !code\n  -r --require --import --loader <load>\n  -P --project --tsconfig --env-file <read>\n  -O --compilerOptions --cwd <text>',
      operands: 'read auto*',
    },
    perl: {
      rules: [interpreterRules],
      options: `
  -e -E <code>
  -M -m [load]
  -I <load>
  -x -i -F -0 -l -C -D [text]
  -V -v`,
      operands: 'read auto*',
      operandsWith: { '-e': 'read*' },
      stops: true,
    },
    ruby: {
      rules: [interpreterRules],
      stops: true,
      options: '\n  -e <code>\n  -r --require [load]\n  -I <load>\n  -C <tree>\n  -E -F -K -T -W -x -i -0 [text]',
      operands: 'read auto*',
      operandsWith: { '-e': 'read*' },
    },
    'php php-cgi': {
      rules: [interpreterRules],
      stops: true,
      abbreviates: false,
      options: `
  -r -B -R -E <code>
  -a !code # reads code
  -f <read>
  -d <text>
  -c <config>
  -z <load>
  -S <system> # serves files to the network
  -t <tree>
  -l -i -m -v -n -s -w`,
      operands: 'read auto*',
    },
    [smallInterpreters
      .split(' ')
      .filter((name) => !name.startsWith('php'))
      .join(' ')]: {
      rules: [interpreterRules],
      stops: true,
      abbreviates: false,
      options: `
  -e -E --eval --print -r -B -R -c -Command -EncodedCommand -eval --command -g -ec <code>
  -l -L --load -z -J --sysimage --script-load -pa <load>
  -i -a --interactive !code
  -d --define -F <config>
  -f -File --file --script -s <read>
  --project --startup-file --threads -t -p --quiet [text]`,
      operands: 'read auto*',
    },
    'sh bash dash ash zsh ksh mksh rbash yash fish': {
      ...shKind,
      wraps: [shellRun],
      rules: [interpreterRules],
    },
    'csh tcsh': { ...shKind, rules: [interpreterRules] },
    'java javaw': {
      rules: [interpreterRules],
      style: 'word',
      stops: true,
      options:
        '\n  -jar <read>\n  -cp -classpath -class-path -p -module-path <text>\n  -m -module <text>\n  -D -X <text>\n  -version\n  -help',
      operands: 'auto*',
      wary: true,
    },
  }
}
