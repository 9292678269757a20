/** Interpreters: their own options, as far as they come before the script, and their rules. */

import { smallInterpreters } from '../interpreter-names.ts'
import type { Program, ProgramTable } from '../spec.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'
import { shellRun } from '../wrap.ts'

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

/** Interpreters without a script read code; with `-m` they are another program. */
const informs = ['-V', '-v', '-h', '--version', '--help', '-help', '-version', '--v8-options', '--completion-bash']

function readsCode(use: Use): void {
  if (has(use, ...informs) && use.operands.length === 0) return
  use.found.hazard('interpreter-code', `\`${use.program}\` without a script runs what it reads`, use.span)
}

/** The script an interpreter is given; anything but a plain file is code. */
const script: Rule = (use) => {
  const named = ['-c', '-e', '-m', '-f', '-p', '-jar'].some((name) =>
    usesOf(use, name).some((option) => option.row?.takes === 'value'),
  )
  const first = use.operands[0]
  if (named) return
  if (first === undefined) {
    if (!has(use, '--test', '--run', '-l', '-i', '--check')) readsCode(use)
  } else if (first.text === '-' || /^\/(dev|proc)\//.test(first.text ?? ''))
    use.found.hazard('interpreter-code', `\`${use.program}\` runs what it reads`, first.word.span)
  else if (first.text === null)
    use.found.hazard(
      'interpreter-script',
      `which script \`${use.program}\` runs is not known beforehand`,
      first.word.span,
    )
  else if (/(^|\/)(manage\.py|artisan|console)$/.test(first.text)) use.delegate(use.operands.map((arg) => arg.word))
}

/** Modules that run code or other modules given to them. */
const openModules =
  /^(code|codeop|pdb|bdb|runpy|timeit|trace|cProfile|profile|asyncio|IPython|ipython|idlelib|cmd|ptpython|bpython|this_)$/

const python: Rule = (use) => {
  const module = usesOf(use, '-m')[0]
  if (module === undefined) {
    script(use)
    return
  }
  const name = module.value?.text
  if (name == null) {
    use.found.hazard('interpreter-script', 'which Python module runs is not known beforehand', module.span)
    return
  }
  if (openModules.test(name.split('.')[0] ?? ''))
    use.found.hazard('interpreter-code', `\`python -m ${name}\` runs code that it is given`, module.span)
  if (module.value !== null) {
    const head = { ...module.value.word, text: name, values: [name] }
    use.delegate([head, ...use.operands.map((arg) => arg.word)])
  }
}

/** `perl -i -pe`, `ruby -i -pe`: the operands are edited in place. */
const inPlace: Rule = (use) => {
  script(use)
  if (has(use, '-i') && has(use, '-e', '-E')) for (const arg of use.operands) use.found.path(arg, 'write')
}

const java: Rule = (use) => {
  for (const option of use.options)
    if (
      /^--?(javaagent|agentpath|agentlib|XX:On|XX:Flags|XX:VMOptionsFile|Xbootclasspath|Djava\.security\.manager)/.test(
        option.name,
      )
    )
      use.found.hazard('option-loads-code', `\`java ${option.name}\` loads code or runs a program`, option.span)
  for (const arg of use.args)
    if (arg.text?.startsWith('@'))
      use.found.hazard('option-reads-list', '`java @file` takes options from a file', arg.word.span)
}

const shells = 'sh, bash, dash, ash, zsh, ksh, mksh, rbash, yash, fish, csh, tcsh'
const others = `node, nodejs, ts-node, tsx, esno, zx, vite-node, jiti, ${smallInterpreters.replaceAll(' ', ', ')}`

/** Settings of PHP that name code or programs; `memory_limit` and its like do not. */
const phpCode =
  /^(auto_(pre|ap)pend_file|(zend_)?extension|include_path|open_basedir|disable_\w+|sendmail_path|error_log|allow_url_include|opcache\.preload\w*|ffi\.\w+|mail\.\w+)/

const phpSettings: Rule = (use) => {
  for (const option of usesOf(use, '-d'))
    if (option.value?.text == null || phpCode.test(option.value.text))
      use.found.hazard('option-reads-config', '`php -d` sets what PHP loads or runs', option.span)
}

/** A program that is fetched and run. */
const deno: Rule = (use) => {
  const first = use.operands[0]
  if (first?.text == null || /^(https?|jsr|npm):/.test(first.text))
    use.found.hazard(
      'interpreter-code',
      '`deno run` runs code that it fetches or that is not known',
      first?.word.span ?? use.span,
    )
}

const interpreterRules: Readonly<Record<string, Rule>> = {
  'python, python2, python3, pypy, pypy3, ipython, ipython3, micropython, jython': python,
  [shells]: script,
  [others]: script,
  'perl, ruby': inPlace,
  'java, javaw': java,
  'deno run': deno,
  'php, php-cgi': phpSettings,
}
