/**
 * What a program of another service does, by the verb among its words: `aws ec2 terminate-instances`, `heroku apps:destroy`, `flask db
 * downgrade`. Programs gain subcommands faster than a table learns them, and their verbs stay the same; one that is not known asks.
 */

import type { Verbs } from '../tables/spec.ts'
import type { Effect, Use } from '../tables/use.ts'

const list = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''))

/** What is gone afterwards, or no longer as it was. */
const deletes = list(`
  delete del rm rb remove destroy drop purge prune wipe erase reset terminate uninstall un unpublish undeploy deregister revoke rollback
  downgrade revert flush truncate cancel kill disable detach evict drain abort reject discard clear clean cleanup empty forget expire nuke
  teardown down decommission abandon fresh undo redo unset yank retire deprecate obliterate force-unlock disassociate release-address
  suspend deactivate archive expunge dropall unlink stop-all cordon taint`)

/** What is there afterwards, or runs. */
const writes = list(`
  create put set update apply deploy push publish upload add edit patch replace restart start stop run exec execute invoke send post scale
  attach enable grant import restore migrate promote merge close reopen approve comment rename move mv cp copy sync tag untag label annotate
  transfer resize rotate rerun trigger submit launch provision register assign bind modify change upgrade install up reboot fork lock unlock
  pin unpin review ready share invite accept associate authorize revise write save store insert load seed setup bootstrap convert clone-to
  encrypt decrypt sign unseal seal rekey renew issue mint generate-root assume failover switchover increment mb compose rewrite rsync
  checkout-session pay refund charge capture resume pause block unblock follow star unstar subscribe unsubscribe schedule allocate
  export ship alias link unlink-app transact batch-write execute-statement signal complete finish squash baseline repair stamp goto force
  step flash open-session ssh console shell psql tunnel forward connect proxy open auth login logout signup configure init new`)

/** What is only checked. */
const reads = list(`
  list ls get describe show view inspect search find lookup whoami exists status read cat head tail query scan summarize summary count
  check verify validate simulate estimate preview diff wait watch print presign select explain receive filter usage info stats audit lint
  doctor ping poll fetch download batch-get transact-get head-object detect-only list-all index ids names current heads tree display output
  template render test synth help version completion lookup-events measure compare trace explain-plan`)

/** Reading verbs that are names of groups as well: `vault audit disable` is told by the next word, if that is a verb. */
const nouns = list('audit check index output query scan status template test trace tree usage')

/** Groups that are called like something one checks: they decide only where no verb follows. */
const groups = list(`
  logs log events event history releases release regions region domains domain plan plans health apps app ps config configs env envs ports
  types policies policy certs cert secrets secret keys key images image instances instance queue queues top tables table volumes volume
  members member users user teams team orgs org projects project services service sites site functions function metrics metadata modules
  versions providers state graph options quota limits notifications notification zones zone vms vm stacks stack outputs resources resource`)

const dry = /^--?(dry-?run|what-if|noop|no-op|simulate|preview|check-only|validate-only|plan-only)$/

const off = /^(false|no|none|off|0)$/i

/** True for `--dry-run`, `--dry-run=client`; `--dry-run=none` and a `--no-dry-run` anywhere make it none. */
export function isDryRun(use: Use, more: readonly string[] = []): boolean {
  const given = use.options.filter(({ name }) => dry.test(name.replace(/^--no-/, '--')) || more.includes(name))
  return (
    given.length > 0 &&
    given.every(
      ({ name, value }) =>
        !name.startsWith('--no-') && (value === null || (value.text !== null && !off.test(value.text))),
    )
  )
}

type Kind = 'deletes' | 'writes' | 'reads' | 'groups' | null

/** The kind of one word: by itself, by its first part (`describe-instances`), or by its last (`apps:destroy`, `ecto.drop`). */
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
  // `batch-get-item` and `transact-get-items` are told by their second part.
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

/** The words that can hold a verb; null when one before it cannot be known. */
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
export function verbEffect(use: Use, own: Verbs): readonly [Effect, string] | null {
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
  if (isDryRun(use, own.dry?.split(' '))) return ['remote-read', `asks ${own.at} what would change`]
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
