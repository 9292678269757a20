/** Reports what options and operands mean by their roles or names: hazards, paths, hosts. */

import { type Arg, isNumeric, type OptionUse } from './options.ts'
import { isLeftOut, isRooted, isUrl, looksLikePath } from './places.ts'
import { type CompiledSpec, type Role, roles } from './spec.ts'
import type { Use } from './use.ts'

/** Reports the options of a command, listed or not. */
export function reportOptions(use: Use, unknownProgram: boolean): void {
  for (const option of use.options) {
    if (option.row === null) {
      if (option.value !== null) use.found.loose(option.value)
      else looseCluster(option, use, unknownProgram)
      reportUnlisted(option, use)
      continue
    }
    if (option.row.takes === 'nothing') reportRole(option.row.role, option.row.note, null, option.name, use)
    else if (option.value !== null || option.row.role !== 'text')
      reportRole(option.row.role, option.row.note, option.value, option.name, use)
  }
}

/** `--out /etc/x` of a program that no table lists, or that has this option only in newer versions. */
function reportUnlisted(option: OptionUse, use: Use): void {
  const [name, value] = option.value === null ? writtenOption(option, use) : [option.name, option.value.text]
  const role = guessRole(name)
  if (role === null || value === null) return
  const label = `${use.words.join(' ')} ${name}`
  if (role === 'write') {
    if (isRooted(value)) use.found.file(value, 'write', option.span)
  } else if (role === 'module') {
    if (isRooted(value) || (value.includes('/') && isCodeFile(value)))
      use.found.hazard('option-loads-code', `\`${label}\` loads code`, option.span)
  } else if (isRooted(value) || /[\s;|&$`]/.test(value) || takesCommand(name))
    use.found.hazard('option-runs-program', `\`${label}\` runs another program`, option.span)
}

/** The name and value of an option that the table did not read: glued (`-out:x`), or the next word. */
function writtenOption(option: OptionUse, use: Use): readonly [name: string, value: string | null] {
  const at = use.args.findIndex((candidate) => candidate.word.span === option.span)
  const text = use.args[at]?.text
  if (text == null || (!option.name.startsWith('--') && text[1] !== option.name[1])) return [option.name, null]
  const name = text.split(/[=:]/, 1)[0] ?? ''
  if (name.length < text.length) return [name, text.slice(name.length + 1)]
  const next = use.args[at + 1]?.text ?? null
  return [name, next === null || next.startsWith('-') ? null : next]
}

/** `-DoutputDirectory=/x`, `DESTDIR=/x`: a setting whose name means that the place is written. */
export function reportDefinition(arg: Arg, use: Use): void {
  if (arg.text === null || !arg.text.includes('=')) return
  const match = /^(?:-[DP]|[-/]p(?:roperty)?:)?([A-Za-z_][\w.-]*)=(.+)$/s.exec(arg.text)
  if (match !== null && isRooted(match[2] ?? '') && guessRole(match[1] ?? '') === 'write')
    use.found.file(match[2] ?? '', 'write', arg.word.span)
}

function isCodeFile(text: string): boolean {
  return /\.([cm]?[jt]sx?|py|rb|so|lua)$/.test(text)
}

/** `-I/usr/include`: a path glued to a short option that no table lists. */
function looseCluster(option: OptionUse, use: Use, unknownProgram: boolean): void {
  const arg = use.args.find((candidate) => candidate.word.span === option.span)
  const text = arg?.text
  if (text == null || !/^-[A-Za-z]/.test(text) || text[1] !== option.name[1]) return
  const glued = text.slice(2).replace(/^=/, '')
  if (isRooted(glued) && (unknownProgram || glued.length > 1)) use.found.file(glued, 'read', option.span)
}

/** Reports the operands by their roles. */
export function reportOperands(use: Use, compiled: CompiledSpec): void {
  const isGiven = (name: string): boolean =>
    use.options.some((option) => option.name === name || option.row?.name === name)
  const chosen = compiled.operandsWith.find(([needed]) => needed.some(isGiven))
  const { head, repeat, tail } = chosen?.[1] ?? compiled.operands
  const count = use.operands.length
  use.operands.forEach((arg, index) => {
    // The fixed roles at the end need enough words: `cp a` has no destination.
    const fromEnd = count - index
    const role =
      index < head.length
        ? head[index]
        : fromEnd <= tail.length && count > head.length + tail.length - 1
          ? tail[tail.length - fromEnd]
          : (repeat ?? 'auto')
    if (use.program === 'find' && /^[!(),]$/.test(arg.text ?? '')) return
    reportRole(role ?? 'auto', '', arg, '', use)
  })
}

/** Reports one value by its role; `option` is empty for an operand. */
function reportRole(role: Role, note: string, arg: Arg | null, option: string, use: Use): void {
  const meaning = roles[role]
  const found = use.found
  const span = arg?.word.span ?? use.options.find((candidate) => candidate.name === option)?.span ?? use.span
  const label = `${use.words.join(' ')}${option === '' ? '' : ` ${option}`}`
  const sink = arg?.text != null && meaning.access === 'write' && (arg.text === '-' || arg.text.startsWith('/dev/'))
  if (meaning.hazard !== null && !(sink && role === 'output'))
    found.hazard(meaning.hazard, `\`${label}\` ${note === '' ? meaning.says : note}`, span)
  if (arg === null) return
  if (role === 'auto') {
    const isSpared = use.program === 'git' && option === '' && arg.text !== null && isLeftOut(arg.text)
    if (!isSpared) found.loose(arg)
  } else if (role === 'load' || role === 'run') {
    if (arg.text !== null && looksLikePath(arg.text) && !/\s/.test(arg.text)) found.file(arg.text, 'read', span)
  } else if (role === 'url') {
    if (arg.text !== null && /^file:\/\//i.test(arg.text)) found.file(arg.text.slice('file://'.length), 'read', span)
    else found.hostOf(arg)
  } else if (role === 'remote') found.remote(arg, 'read')
  else if (role === 'host' || role === 'route') {
    if (arg.text !== null && isRooted(arg.text)) found.file(arg.text, 'read', span)
    else if (arg.text !== '' && arg.text !== '-') found.hostOf(arg)
  } else if (role === 'module') reportModule(arg, label, use)
  else if (role === 'mount') reportMount(arg, label, use)
  else if (role === 'at' || role === 'form') reportAttachment(role, arg, label, use)
  else if (role === 'meta') {
    const plain = arg.text === null && !arg.word.dynamic.includes('tilde') && arg.pattern === null
    if (!plain || /^(\/|~|\.\.)/.test(arg.prefix)) found.path(arg, 'read')
  } else if (meaning.access !== null) {
    if (arg.text !== null && isUrl(arg.text)) found.host(arg.text, span)
    else if (!isNumeric(arg)) {
      if (role === 'change') found.path(arg, 'read')
      found.path(arg, meaning.access, meaning.recursive)
    }
  }
}

/** `--reporter ./x.js`: your own code; `--reporter dot` is the tool's. */
function reportModule(arg: Arg, label: string, use: Use): void {
  const text = arg.text ?? arg.prefix
  if (arg.text !== null && !isRooted(text) && !isCodeFile(text)) return
  use.found.hazard('option-loads-code', `\`${label}\` loads code`, arg.word.span)
  if (arg.text !== null) use.found.file(arg.text, 'read', arg.word.span)
}

/** `-v /src:/app`, `--mount type=bind,src=/x,dst=/y`: what a container sees of the machine. */
function reportMount(arg: Arg, label: string, use: Use): void {
  if (arg.text === null) {
    if (!isRooted(arg.prefix))
      use.found.hazard(
        'widens-container',
        `\`${label}\` shows the container a place that is not known beforehand`,
        arg.word.span,
      )
    use.found.path(arg, 'write', true)
    return
  }
  const named = /(?:^|,)(?:source|src)=([^,]*)/.exec(arg.text)
  const source = named?.[1] ?? (arg.text.includes('=') ? '' : (arg.text.split(':')[0] ?? ''))
  if (source.includes('/') || source.startsWith('~') || source === '.')
    for (const access of ['read', 'write'] as const) use.found.file(source, access, arg.word.span, { recursive: true })
}

/** `-d @file`, `-F name=@file`: a file that is sent. */
function reportAttachment(role: 'at' | 'form', arg: Arg, label: string, use: Use): void {
  const pattern = role === 'at' ? /^@(.*)$/s : /^[^=]*=[@<]([^;]*)/s
  const match = pattern.exec(arg.text ?? arg.prefix)
  const unknown = arg.text === null && arg.prefix === ''
  if (match === null && !unknown) return
  const file = match?.[1] ?? ''
  if (file === '-') return
  use.found.hazard('option-sends-file', `\`${label}\` sends a file away`, arg.word.span)
  if (arg.text !== null) use.found.file(file, 'read', arg.word.span)
  else use.found.unknownPath(arg.word, file, 'read', false)
}

/** `write`: a place to write; `module`: code when it is a file; `run`: a program when it is written as a path or a command line. */
type GuessedRole = 'write' | 'module' | 'run'

const places = 'file|dir|directory|path|folder|root|destination'
const written =
  'out|output|dest|destination|report|reports|results|log|logs|coverage|cache|scratch|artifact|artifacts|dump|trace|profile|install|export|save'

/** Full names, in lower case with dashes between the words. */
const guesses: readonly (readonly [names: RegExp, role: GuessedRole])[] = [
  [new RegExp(`^(.*-)?(${written})-?(${places})$`), 'write'],
  [
    /^(o|out|output|dest|destination|destdir|write-to|save|save-to|save-as|to-file|junit-?xml|target-dir|build-dir|.*-out)$/,
    'write',
  ],
  [
    /^(.*-)?(require|preload|loader|plugins?|plugin-(dir|path)|extensions?|bootstrap|prepend|init-(script|file|hook)|adapter-path|rules-?dir)$/,
    'module',
  ],
  [/^(import|load|load-plugins?|inject|transform|formatter|reporter|runner|processor|agent)$/, 'module'],
  [
    /^(.*-)?(exec|execute|executable|command|cmd|shell|pager|editor|browser|viewer|interpreter|wrapper|launcher|helper|program|prog|linker|compiler|askpass|client|rsh)$/,
    'run',
  ],
  [
    /^(on|pre|post)-?(success|failure|error|change|complete|build|process|hook|renderer|run|start|exit|first-success|.*-complete)$/,
    'run',
  ],
]

const guessed = new Map<string, GuessedRole | null>()

/** The role of an unlisted option, by its name with its dashes; null when the name says nothing. */
export function guessRole(name: string): GuessedRole | null {
  const known = guessed.get(name)
  if (known !== undefined) return known
  const words = name
    .replace(/^[-/]+/, '')
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .replace(/[_.]/g, '-')
    .toLowerCase()
  const role = guesses.find(([names]) => names.test(words))?.[1] ?? null
  // Bounded: a process that lives long meets any number of names.
  if (guessed.size < 500) guessed.set(name, role)
  return role
}

/** Whether the value of such an option is always a command line: `--exec`, `--on-success`. */
export function takesCommand(name: string): boolean {
  return /^--?(exec|execute|on[-A-Z]?(success|Success)|onSuccess|onFailure|on-failure|on-change|.+-(cmd|command))$/.test(
    name,
  )
}
