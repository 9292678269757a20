/** Converts a draft to a manifest: each entry is loaded alone first, and failing ones become notes. */

import { renderProblem } from '../../manifest/toml/problem.ts'
import { loadPolicy } from '../../project/load/load.ts'
import { HIDDEN_CHARACTERS } from '../../scan/visible-text.ts'
import { Fault } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import type { Draft, Entry } from './draft.ts'

export interface ImportedManifest {
  readonly text: string
  readonly notes: readonly string[]
}

type Tree = { [key: string]: unknown }

/** The manifest as text, with everything that could not be converted. */
export async function importManifest(draft: Draft, machine: Machine, files: Files): Promise<ImportedManifest> {
  const notes = [...draft.notes]
  const loading: Entry[] = []
  for (const entry of unique(draft.entries)) {
    const problem = await problemOf([entry], machine, files)
    if (problem === null) loading.push(entry)
    else {
      const instead = inPlaceOf(entry)
      loading.push(...instead)
      const asks = instead.length > 0 ? '; what it may have been about asks' : ''
      notes.push(`${describe(entry)} does not load and was left out${asks}: ${problem}`)
    }
  }
  const settled = settleDoubts(loading)
  notes.push(...settled.notes)
  const kept = [...settled.entries]
  // Entries that load alone can contradict each other; then the more permissive is dropped.
  const order = { deny: 0, ask: 1, allow: 2 }
  const weight = (entry: Entry): number => {
    if (entry.kind === 'host') return entry.use === 'nobody' ? order.deny : order.allow
    return 'verdict' in entry ? order[entry.verdict] : order.deny
  }
  const fitting: Entry[] = []
  for (const entry of kept.sort((a, b) => weight(a) - weight(b))) {
    const problem = await problemOf([...fitting, entry], machine, files)
    if (problem === null) fitting.push(entry)
    else notes.push(`${describe(entry)} contradicts another setting and was left out: ${problem}`)
  }
  const whole = readsProject(draft.entries, fitting) ? [PROJECT] : []
  return { text: asciiHidden(toml(treeOf([...whole, ...fitting, ...stillClosed(draft.entries, fitting)]))), notes }
}

/** Escapes invisible and bidirectional characters: TOML reads the same, and a terminal shows them. */
function asciiHidden(text: string): string {
  return text.replace(new RegExp(`(?!\\n)[${HIDDEN_CHARACTERS}]`, 'gu'), (found) => {
    const code = found.codePointAt(0)!
    return code > 0xffff ? `\\U${code.toString(16).padStart(8, '0')}` : `\\u${code.toString(16).padStart(4, '0')}`
  })
}

const PROJECT: Entry = { kind: 'read', verdict: 'allow', path: '**' }
const READERS: ReadonlySet<string> = new Set(['read', 'glob', 'grep', 'list', 'ls'])

/** Other agents read their project by default; a manifest that lists reads must say so, unless a rule denies it. */
function readsProject(wanted: readonly Entry[], kept: readonly Entry[]): boolean {
  const isAgainst = (entry: Entry): boolean =>
    (entry.kind === 'doubt' && entry.about === 'read') ||
    (entry.kind === 'level' && READERS.has(entry.tool) && entry.verdict !== 'allow')
  const lists = kept.some((entry) => entry.kind === 'read' && entry.verdict !== 'deny')
  return lists && ![...wanted, ...kept].some(isAgainst)
}

/** An empty list would be omitted, and so open what it restricted. */
function stillClosed(wanted: readonly Entry[], kept: readonly Entry[]): readonly Entry[] {
  const web = (entry: Entry): boolean => entry.kind === 'host' && entry.use === 'web'
  const writes = (entry: Entry): boolean => entry.kind === 'write' && entry.verdict !== 'deny'
  const lost = (of: (entry: Entry) => boolean): boolean => wanted.some(of) && !kept.some(of)
  return [
    ...(lost(web) ? ['webfetch', 'http'].map((tool): Entry => ({ kind: 'level', tool, verdict: 'deny' })) : []),
    ...(lost(writes) ? [{ kind: 'write', verdict: 'deny', path: '**' } as const] : []),
  ]
}

async function problemOf(entries: readonly Entry[], machine: Machine, files: Files): Promise<string | null> {
  try {
    const outcome = await loadPolicy({
      machine,
      files,
      root: null,
      choice: { kind: 'object', object: treeOf(entries) },
    })
    return 'loaded' in outcome ? null : renderProblem(outcome.problems[0]!).split('\n')[0]!
  } catch (error) {
    if (error instanceof Fault) return error.message
    throw error
  }
}

function unique(entries: readonly Entry[]): Entry[] {
  return [...new Map(entries.map((entry) => [JSON.stringify(entry), entry])).values()]
}

function describe(entry: Entry): string {
  const { kind, ...rest } = entry
  return `${kind} ${Object.values(rest).join(' ')}`
}

function treeOf(entries: readonly Entry[]): Tree {
  const tree: Tree = { schema_version: 1 }
  const table = (...path: readonly string[]): Tree =>
    path.reduce((at, name) => {
      at[name] ??= {}
      return at[name] as Tree
    }, tree)
  const push = (at: Tree, name: string, value: unknown): void => {
    at[name] ??= []
    ;(at[name] as unknown[]).push(value)
  }
  for (const entry of entries) {
    switch (entry.kind) {
      case 'command':
        if (entry.verdict === 'deny') push(table('capabilities', 'deny', 'commands'), 'patterns', entry.pattern)
        else
          push(
            table('capabilities', 'allow', 'commands'),
            'patterns',
            entry.verdict === 'ask' ? { command: entry.pattern, prompt: true } : entry.pattern,
          )
        break
      case 'read':
      case 'write':
        if (entry.verdict === 'deny') push(table('capabilities', 'deny', entry.kind), 'paths', entry.path)
        else
          push(
            table('capabilities', 'allow', entry.kind),
            'paths',
            entry.verdict === 'ask' ? { path: entry.path, prompt: true } : entry.path,
          )
        break
      case 'directory':
        push(table('capabilities', 'allow'), 'additional_directories', entry.path)
        break
      case 'host':
        if (entry.use === 'commands') push(table('capabilities', 'allow', 'commands'), 'default_domains', entry.host)
        else if (entry.use === 'web') push(table('http'), 'allowed_hosts', entry.host)
        else push(table('security'), 'deny_domains', entry.host)
        break
      case 'level':
        {
          const levels = table('permission', 'tools')
          levels[entry.tool] = strictest(levels[entry.tool], entry.verdict)
        }
        break
      case 'server':
        push(table('mcp', entry.server), 'tools', { tool: entry.tool, level: entry.verdict })
        break
      case 'mode':
        table('permission').mode = entry.mode
        break
      case 'doubt':
        break
      case 'unattended':
        table('permission').interactive = false
        break
    }
  }
  return tree
}

function strictest(known: unknown, verdict: 'allow' | 'ask' | 'deny'): string {
  return known === 'deny' || verdict === 'deny' ? 'deny' : known === 'ask' ? 'ask' : verdict
}

function toml(tree: Tree, path: readonly string[] = []): string {
  const own = Object.entries(tree).filter(([, value]) => !isRecord(value))
  const lines = own.map(([name, value]) => `${key(name)} = ${literal(value)}`)
  const head = path.length > 0 && own.length > 0 ? `\n[${path.map(key).join('.')}]\n` : ''
  const tables = Object.entries(tree).filter((entry): entry is [string, Tree] => isRecord(entry[1]))
  const body = lines.length > 0 ? `${head}${lines.join('\n')}\n` : ''
  return body + tables.map(([name, table]) => toml(table, [...path, name])).join('')
}

function key(name: string): string {
  return /^[\w-]+$/.test(name) ? name : JSON.stringify(name)
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[\n${value.map((item) => `  ${literal(item)},\n`).join('')}]`
  if (isRecord(value)) {
    const fields = Object.entries(value).map(([name, field]) => `${key(name)} = ${literal(field)}`)
    return `{ ${fields.join(', ')} }`
  }
  return JSON.stringify(value)
}

interface Settled {
  readonly entries: readonly Entry[]
  readonly notes: readonly string[]
}

type Doubt = Entry & { readonly kind: 'doubt' }

const ABOUT: Readonly<Record<string, Doubt['about']>> = {
  bash: 'command',
  read: 'read',
  grep: 'read',
  write: 'write',
  edit: 'write',
  webfetch: 'web',
  http: 'web',
}

/** Turns every allow that a doubt may match into an ask. */
function settleDoubts(entries: readonly Entry[]): Settled {
  const asked = entries.flatMap((entry): readonly Doubt[] =>
    entry.kind === 'level' && entry.verdict === 'ask' && Object.hasOwn(ABOUT, entry.tool)
      ? [{ kind: 'doubt', about: ABOUT[entry.tool]!, start: '' }]
      : [],
  )
  const doubts = [...entries.filter((entry): entry is Doubt => entry.kind === 'doubt'), ...asked]
  const notes: string[] = []
  const settled = entries
    .filter((entry) => entry.kind !== 'doubt')
    .flatMap((entry): readonly Entry[] => {
      const text = allowedText(entry)
      if (text === null || !doubts.some((doubt) => doubt.about === text.about && mayMeet(doubt.start, text.start)))
        return [entry]
      notes.push(`allow ${text.start || 'everything'} asks: another rule is about the same`)
      if (entry.kind === 'host') return []
      if (entry.kind === 'mode') return [{ kind: 'mode', mode: 'default' }]
      return [{ ...entry, verdict: 'ask' } as Entry]
    })
  return { entries: settled, notes }
}

/** What an entry allows without asking, or null. */
function allowedText(entry: Entry): { readonly about: Doubt['about']; readonly start: string } | null {
  if (entry.kind === 'command' && entry.verdict === 'allow') {
    return { about: 'command', start: entry.pattern.replace(/:\*$/, '') }
  }
  if ((entry.kind === 'read' || entry.kind === 'write') && entry.verdict === 'allow') {
    return { about: entry.kind, start: entry.path.split(/[*?]/)[0]! }
  }
  if (entry.kind === 'host' && entry.use === 'web') return { about: 'web', start: '' }
  return entry.kind === 'mode' && entry.mode === 'contained' ? { about: 'command', start: '' } : null
}

function mayMeet(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a)
}

/** Replaces a restricting rule that did not load: everything it may match asks. */
function inPlaceOf(lost: Entry): readonly Entry[] {
  if (!('verdict' in lost) || lost.verdict === 'allow') {
    return lost.kind === 'host' && lost.use === 'nobody' ? levels(['webfetch', 'http', 'websearch']) : []
  }
  switch (lost.kind) {
    case 'command':
      return [{ kind: 'doubt', about: 'command', start: '' }]
    case 'read':
      return [{ kind: 'doubt', about: 'read', start: '' }, ...levels(['read', 'summary', 'grep'])]
    case 'write':
      return [{ kind: 'doubt', about: 'write', start: '' }, ...levels(['write', 'edit', 'apply_patch'])]
    default:
      return []
  }
}

function levels(tools: readonly string[]): readonly Entry[] {
  return tools.map((tool) => ({ kind: 'level', tool, verdict: 'ask' }))
}
