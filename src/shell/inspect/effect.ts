/** Finds the effect of a command outside the sandbox, by the most specific row or its verb. */

import { findProgram } from '../tables/programs/registry.ts'
import type { Program, Verbs } from '../tables/spec.ts'
import type { Effect, Use } from '../tables/use.ts'

const order: readonly Effect[] = ['local', 'unknown', 'remote-read', 'loss', 'remote-write', 'destructive']

/** The effect that needs more care. */
export function strongest(one: Effect, other: Effect): Effect {
  return order.indexOf(other) > order.indexOf(one) ? other : one
}

interface EffectRow {
  readonly words: readonly string[]
  readonly options: readonly string[]
  readonly effect: Effect
  readonly note: string
}

/** The lines of a row; each word is behind the program's name. */
function parseLine(line: string): readonly EffectRow[] {
  const [effect = '', commands = '', options = '', note = ''] = line.split('|').map((part) => part.trim())
  return commands.split(',').map((words) => ({
    words: words.trim() === '*' ? [] : words.trim().split(/\s+/),
    options: options === '' ? [] : options.split(/\s+/),
    effect: effect as Effect,
    note,
  }))
}

/** The lines of a row by their first word; lines for every subcommand have no word. */
interface EffectIndex {
  readonly first: ReadonlyMap<string, readonly EffectRow[]>
  readonly any: readonly EffectRow[]
}

const indexes = new Map<string, EffectIndex>()

/** The lines that a row writes, read when its program is first asked for: a command names few of them, and start-up counts. */
function indexOf(written: string): EffectIndex {
  const known = indexes.get(written)
  if (known !== undefined) return known
  const rows = written
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap(parseLine)
  const first = Map.groupBy(
    rows.filter(({ words }) => words.length > 0),
    ({ words }) => words[0] ?? '',
  )
  const index = { first, any: rows.filter(({ words }) => words.length === 0) }
  indexes.set(written, index)
  return index
}

/** The most specific line that fits the command; null when none does. */
function lineOf(use: Use, program: Program | null): EffectRow | null {
  const { first, any } = indexOf(program?.effects ?? '')
  const deeper = use.words.length - 1
  const wordAt = (index: number): string | null | undefined =>
    index < deeper ? use.words[index + 1] : use.operands[index - deeper]?.text
  let names: GivenNames | null = null
  let best: EffectRow | null = null
  const consider = (row: EffectRow): void => {
    if (best !== null && !isMoreSpecific(row, best)) return
    if (!row.words.every((word, index) => wordAt(index) === word)) return
    if (row.options.length > 0) {
      names ??= givenNames(use, program)
      const { full, shortened } = names
      if (!row.options.some((option) => full.has(option) || (asks(row.effect) && isShortened(option, shortened))))
        return
    }
    best = row
  }
  for (const row of first.get(wordAt(0) ?? '') ?? []) consider(row)
  for (const row of any) consider(row)
  return best
}

interface GivenNames {
  readonly full: ReadonlySet<string>
  readonly shortened: readonly string[]
}

function givenNames(use: Use, program: Program | null): GivenNames {
  // `--dry-run=false` is as good as none.
  const given = use.options.filter((option) => !/^(?:false|no|none|off|0)$/i.test(option.value?.text ?? ''))
  return {
    full: new Set(given.flatMap((option) => [option.name, option.row?.name ?? option.name])),
    shortened: program?.abbreviates === false ? [] : given.map(({ name }) => name).filter((name) => /^--./.test(name)),
  }
}

/** The effect of a command by the tables. */
export function effectOf(use: Use): readonly [Effect, string] {
  const program = findProgram(use.program)
  const best = lineOf(use, program)
  if (best !== null && asks(best.effect) && best.effect !== 'loss' && isDryRun(use, program))
    return ['remote-read', best.note]
  if (best !== null) return [best.effect, best.note]
  const byVerb = program?.verbs === undefined ? null : verbEffect(use, program, program.verbs)
  if (byVerb !== null) return byVerb
  return program === null || program.partial === true ? ['unknown', ''] : ['local', '']
}

const asks = (effect: Effect): boolean => effect === 'loss' || effect === 'remote-write' || effect === 'destructive'

/** `--har` is `--hard` to most programs; an option that makes a command milder must be written out. */
function isShortened(option: string, given: readonly string[]): boolean {
  return option.startsWith('--') && given.some((name) => name.length > 2 && option.startsWith(name))
}

/**
 * `--help` and `--version`, `-h` and `-V` alone: programs answer and end before they do anything else. Behind an option that may take it as its
 * value (`gh pr create --title --help`), or among the words of another command, it counts as nothing.
 */
export function onlyShowsHelp(use: Use): boolean {
  // Alone, with nothing to work on: `ssh -V`, `ansible -h`.
  if (use.args.length === 1 && /^-[hV]$/.test(use.args[0]?.text ?? '')) return true
  // `--version` asks for it only in the first place: `cargo yank --version 1` names one.
  const at = use.args.findIndex(
    ({ text }, index) =>
      text === '--help' || text === '-help' || (index === 0 && (text === '--version' || text === '-version')),
  )
  if (at < 0) return false
  const dashes = use.args.findIndex(({ text }) => text === '--')
  const flag = use.args[at]?.text ?? null
  if (flag === null || (dashes >= 0 && dashes < at) || use.operands.some((arg) => arg === use.args[at])) return false
  if (!flag.startsWith('--') && findProgram(use.program)?.style !== 'word') return false
  // `npm publish --help false` and `--help --no-help` publish.
  const after = use.args.slice(at + 1, dashes < 0 ? undefined : dashes).map(({ text }) => text)
  if (after.some((text) => text === null || text.startsWith('--no-')) || isOff(after[0] ?? '')) return false
  const before = use.args[at - 1]
  if (before === undefined || (before.text !== null && !/^[-+]/.test(before.text))) return true
  const option = use.options.find(({ span }) => span === before.word.span)
  return option?.row?.takes === 'nothing' || (before.text?.includes('=') ?? false)
}

function isMoreSpecific(row: EffectRow, other: EffectRow): boolean {
  if (row.words.length !== other.words.length) return row.words.length > other.words.length
  if (row.options.length > 0 !== other.options.length > 0) return row.options.length > 0
  return order.indexOf(row.effect) > order.indexOf(other.effect)
}

/**
 * Derives the effect on another service from the verb: `aws ec2 terminate-instances`, `flask db
 * downgrade`. Subcommands change faster than a table can follow; verbs do not. An unknown verb
 * asks.
 */
const list = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''))

/** Verbs that remove or change something. */
const deletes = list(`
  delete del rm rb remove destroy drop purge prune wipe erase reset terminate uninstall un unpublish undeploy deregister revoke rollback
  downgrade revert flush truncate cancel kill disable detach evict drain abort reject discard clear clean cleanup empty forget expire nuke
  teardown down decommission abandon fresh undo redo unset yank retire deprecate obliterate force-unlock disassociate release-address
  suspend deactivate archive expunge dropall unlink stop-all cordon taint`)

/** Verbs that create or start something. */
const writes = list(`
  create put set update apply deploy push publish upload add edit patch replace restart start stop run exec execute invoke send post scale
  attach enable grant import restore migrate promote merge close reopen approve comment rename move mv cp copy sync tag untag label annotate
  transfer resize rotate rerun trigger submit launch provision register assign bind modify change upgrade install up reboot fork lock unlock
  pin unpin review ready share invite accept associate authorize revise write save store insert load seed setup bootstrap convert clone-to
  encrypt decrypt sign unseal seal rekey renew issue mint generate-root assume failover switchover increment mb compose rewrite rsync
  checkout-session pay refund charge capture resume pause block unblock follow star unstar subscribe unsubscribe schedule allocate
  export ship alias link unlink-app transact batch-write execute-statement signal complete finish squash baseline repair stamp goto force
  step flash open-session ssh console shell psql tunnel forward connect proxy open auth login logout signup configure init new`)

/** Verbs that only read. */
const reads = list(`
  list ls get describe show view inspect search find lookup whoami exists status read cat head tail query scan summarize summary count
  check verify validate simulate estimate preview diff wait watch print presign select explain receive filter usage info stats audit lint
  doctor ping poll fetch download batch-get transact-get head-object detect-only list-all index ids names current heads tree display output
  template render test synth help version completion lookup-events measure compare trace explain-plan retrieve`)

/** Reading verbs that also name groups: in `vault audit disable` the next word decides. */
const nouns = list('audit check index output query scan status template test trace tree usage')

/** Groups that are called like something one checks: they decide only where no verb follows. */
const groups = list(`
  logs log events event history releases release regions region domains domain plan plans health apps app ps config configs env envs ports
  types policies policy certs cert secrets secret keys key images image instances instance queue queues top tables table volumes volume
  members member users user teams team orgs org projects project services service sites site functions function metrics metadata modules
  versions providers state graph options quota limits notifications notification zones zone vms vm stacks stack outputs resources resource`)

const dry = /^--?(dry-?run|what-if|noop|no-op|simulate|preview|check-only|validate-only|plan-only)$/

const isOff = (text: string): boolean => /^(false|no|none|off|0|null)$/i.test(text)

/** True for `--dry-run`, `--dry-run=client`; `--dry-run=none` and a `--no-dry-run` anywhere make it none. */
function isDryRun(use: Use, program: Program | null): boolean {
  const more = program?.verbs?.dry?.split(' ') ?? []
  const given = use.options.filter(({ name }) => dry.test(name.replace(/^--no-/, '--')) || more.includes(name))
  if (program?.dryRuns !== undefined) {
    const [sub = use.operands[0]?.text ?? ''] = use.words.slice(1)
    if (!program.dryRuns.split(' ').includes(sub) || given.some(({ name }) => name !== '--dry-run')) return false
    // `--dry-run false` is its value to npm.
    if (use.operands.some(({ text }) => text === null || isOff(text))) return false
  }
  return (
    given.length > 0 &&
    given.every(
      ({ name, value }) => !name.startsWith('--no-') && (value === null || (value.text !== null && !isOff(value.text))),
    )
  )
}

type Kind = 'deletes' | 'writes' | 'reads' | 'groups' | null

/** The kind of a word: whole, by its first part (`describe-x`), or by its last (`apps:destroy`). */
function kindOf(word: string, own: Verbs): Kind {
  const known = (text: string): Kind => {
    if (own.reads?.split(' ').includes(text)) return 'reads'
    if (own.writes?.split(' ').includes(text)) return 'writes'
    if (own.deletes?.split(' ').includes(text)) return 'deletes'
    if (own.groups?.split(' ').includes(text)) return 'groups'
    if (deletes.has(text)) return 'deletes'
    if (reads.has(text)) return 'reads'
    if (writes.has(text)) return 'writes'
    return groups.has(text) ? 'groups' : null
  }
  const whole = known(word)
  if (whole !== null) return whole
  const segments = word.split(/[:.]/)
  if (segments.length > 1) {
    const last = kindOf(segments.at(-1) ?? '', own)
    if (last !== null && last !== 'groups') return last
    const kinds = segments.map((segment) => kindOf(segment, own))
    // `apps:leave`: a group says nothing about a verb that is not known.
    if (last === null && kinds.every((kind) => kind === null || kind === 'groups')) return null
    return (['deletes', 'writes', 'reads', 'groups'] as const).find((kind) => kinds.includes(kind)) ?? null
  }
  // The second part decides in `batch-get-item` and `transact-get-items`.
  const [first = '', ...rest] = word.split(/[-_]/)
  if (rest.length === 0) return camelKind(word, known)
  const part = /^(batch|transact|bulk|admin|async|force|dry)$/.test(first) ? (rest[0] ?? '') : first
  const kind = known(part)
  return kind === 'groups' ? null : kind
}

/** `deleteUser`, `getItem`. */
function camelKind(word: string, known: (text: string) => Kind): Kind {
  const first = /^([a-z]+)(?=[A-Z])/.exec(word)?.[1]
  return first === undefined ? null : known(first)
}

/** The words that can be the verb; null if one before it is unknown. */
function verbWords(use: Use, { under, depth = 5 }: Verbs): readonly string[] | null {
  const words = [...use.words.slice(1), ...use.operands.slice(0, 6).map((arg) => arg.text)]
  const found: string[] = []
  for (const word of words) {
    if (word === null) return found.length === 0 ? null : found
    if ((under?.includes('\\.') ? /^[A-Za-z][\w:.-]*$/ : /^[A-Za-z][\w:-]*$/).test(word)) found.push(word)
    if (found.length === depth) break
  }
  if (under === undefined) return found
  return found[0] !== undefined && new RegExp(`^(${under})`).test(found[0]) ? found : []
}

const secretWords =
  /^(secrets?|secretsmanager|credentials?|tokens?|passwords?|access-token|keyvault|kv)(\/|$)|(secret-value|-token|-password|-credentials)$/

/** The effect of a program of a service; null when its verbs say nothing about these words. */
function verbEffect(use: Use, program: Program, own: Verbs): readonly [Effect, string] | null {
  const words = verbWords(use, own)
  if (words === null) return ['remote-write', `may change something at ${own.at}`]
  if (words.length === 0) {
    if (own.under !== undefined) return null
    return own.bare === undefined ? ['local', ''] : [own.bare, `changes something at ${own.at}`]
  }
  if (use.options.some(({ name, value }) => name === '-h' && value === null)) return ['local', '']
  const first = words[0] ?? ''
  if (first === 'help' || words.at(-1) === 'help' || first === 'version' || first === 'completion') return ['local', '']
  if (own.local?.split(' ').includes(first)) return ['local', '']
  if (isDryRun(use, program)) return ['remote-read', `asks ${own.at} what would change`]
  let group = false
  for (const [index, word] of words.entries()) {
    const next = nouns.has(word) ? kindOf(words[index + 1] ?? '', own) : null
    const kind = next === 'deletes' || next === 'writes' ? next : kindOf(word, own)
    if (kind === 'deletes') return ['destructive', `deletes or resets something at ${own.at}`]
    if (kind === 'writes') return ['remote-write', `changes something at ${own.at}`]
    if (kind === 'reads') {
      if (!/^(list|ls|describe)/.test(word) && words.some((one) => secretWords.test(one)))
        return ['remote-write', `prints a secret of ${own.at}`]
      return ['remote-read', `reads from ${own.at}`]
    }
    if (kind === 'groups') group = true
  }
  if (group && words.length === 1) return ['remote-read', `reads from ${own.at}`]
  return ['remote-write', `may change something at ${own.at}`]
}
