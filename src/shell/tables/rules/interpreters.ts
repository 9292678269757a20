/** Interpreters without a script read code; with `-m` they are another program. */

import { smallInterpreters } from '../interpreter-names.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

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

export const interpreterRules: Readonly<Record<string, Rule>> = {
  'python, python2, python3, pypy, pypy3, ipython, ipython3, micropython, jython': python,
  [shells]: script,
  [others]: script,
  'perl, ruby': inPlace,
  'java, javaw': java,
  'deno run': deno,
  'php, php-cgi': phpSettings,
}
