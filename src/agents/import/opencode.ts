/** Converts opencode's permissions to a draft of a manifest. */

import { recordOf } from '../../system/json.ts'
import { type CommandWord, unreadable } from './command-words.ts'
import { type Draft, DraftWriter, type Entry, type Finding, note } from './draft.ts'
import { commandRule, pathRule, type Settings, type Verdict, wholeToolAsks } from './rules.ts'

const OPENCODE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  bash: ['bash'],
  edit: ['edit', 'write', 'apply_patch'],
  multiedit: ['edit'],
  patch: ['apply_patch'],
  read: ['read', 'summary'],
  grep: ['grep'],
  glob: ['glob'],
  list: ['list'],
  webfetch: ['webfetch', 'http'],
  websearch: ['websearch'],
  task: ['task'],
  skill: ['skill'],
  lsp: ['lsp'],
}

interface Rule {
  readonly tool: string
  readonly glob: string
  readonly verdict: Verdict
}

/** Reads opencode.json; people talk to the agent `build`. */
export function importOpencode(settings: Settings): Draft {
  const out = new DraftWriter()
  const build = recordOf(recordOf(settings.agent).build)
  const rules = [...rulesOf(settings.permission, out), ...rulesOf(build.permission, out)]
  rules.forEach((rule, at) => {
    out.add(...opencodeRule({ ...rule, verdict: lasting(rule, rules.slice(at + 1)) }))
  })
  for (const name of Object.keys(recordOf(settings.agent)).filter((agent) => agent !== 'build')) {
    out.note(`the permissions of the agent "${name}" are not read; an [agents] section can limit it`)
  }
  for (const tools of [settings.tools, build.tools]) {
    for (const [tool, on] of Object.entries(recordOf(tools))) {
      if (on === false) out.add(...(toolsOf(tool) ?? [tool]).map((own) => levelOf(own, 'deny')))
    }
  }
  return out.draft()
}

/** Command rules of one source: a configuration, OPENCODE_PERMISSION, or an agent's text. */
export function opencodeCommands(file: unknown): readonly CommandWord[] {
  if (typeof file === 'string') return agentCommands(file)
  const { permission, agent, mode } = recordOf(file)
  // A hook does not know which agent calls, so the denials of all agents apply.
  const agents = [agent, mode].flatMap((of) => Object.values(recordOf(of)))
  return [permission, ...agents.map((one) => recordOf(one).permission)].flatMap((one) => permissionCommands(one))
}

function permissionCommands(permission: unknown): readonly CommandWord[] {
  const out = new DraftWriter()
  const rules = rulesOf(permission, out).filter(({ tool }) => toolsOf(tool)?.includes('bash'))
  return rules.map(({ tool, glob, verdict }) => commandWord(glob, verdict, `${tool}: ${glob} = ${verdict}`))
}

/** A colon is an ordinary character there. */
function commandWord(glob: string, verdict: Verdict, said: string): CommandWord {
  return { verdict, form: /^\*+$/.test(glob) ? 'every' : 'glob', text: glob.replace(/:\*$/, ':?*'), said }
}

/** Lines in the header of an agent's text that set levels; the host itself enforces those of whole tools. */
function agentCommands(text: string): readonly CommandWord[] {
  const head = /^---\r?\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
  const line = /^\s*(?:"([^"\n]+)"|'([^'\n]+)'|([^\s:#"'][^:\n]*?))\s*:\s*["']?(deny|ask|allow)["']?\s*(?:#.*)?$/gm
  const found = [...head.matchAll(line)].flatMap(([, double, single, bare, verdict]): readonly CommandWord[] => {
    const glob = double ?? single ?? bare ?? ''
    return Object.hasOwn(OPENCODE_TOOLS, glob) ? [] : [commandWord(glob, verdict as Verdict, `${glob}: ${verdict}`)]
  })
  return /^\s*permission\s*:\s*\S/m.test(head) && found.length === 0 ? [unreadable('permission')] : found
}

function rulesOf(permission: unknown, out: DraftWriter): readonly Rule[] {
  const tools = typeof permission === 'string' ? { '*': permission } : recordOf(permission)
  return Object.entries(tools).flatMap(([tool, setting]) => {
    const globs = typeof setting === 'string' ? { '*': setting } : recordOf(setting)
    return Object.entries(globs).flatMap(([glob, verdict]): readonly Rule[] => {
      if (verdict === 'allow' || verdict === 'ask' || verdict === 'deny') return [{ tool, glob, verdict }]
      out.note(`"${tool}: ${glob}" has no known level, so it asks`)
      return [{ tool, glob, verdict: 'ask' }]
    })
  })
}

/** The last match wins there, so an allow only counts if no stricter rule that may match follows. */
function lasting(rule: Rule, later: readonly Rule[]): Verdict {
  const order: readonly Verdict[] = ['allow', 'ask', 'deny']
  const start = ({ glob }: Rule): string => glob.split(/[*?]/)[0]!.trimEnd()
  const meets = (other: Rule): boolean =>
    (other.tool === rule.tool || /[*?]/.test(other.tool)) &&
    (start(other).startsWith(start(rule)) || start(rule).startsWith(start(other)))
  const covers = later.filter((other) => meets(other) && (other.glob === '*' || other.glob === rule.glob))
  return covers.reduce<Verdict>(
    (worst, { verdict }) => (order.indexOf(verdict) > order.indexOf(worst) ? verdict : worst),
    rule.verdict,
  )
}

function opencodeRule({ tool, glob, verdict }: Rule): readonly Finding[] {
  const rule = `${tool}: ${glob}`
  const known = toolsOf(tool)
  if (!known)
    return /[*?]/.test(tool)
      ? [note(`${verdict} "${rule}" names tools by a wildcard; they ask`)]
      : [levelOf(tool, verdict)]
  if (glob !== '*') {
    // A colon is an ordinary character there, unlike in our rules.
    if (tool === 'bash') return commandRule(glob.replace(/:\*$/, ':?*'), verdict, rule)
    if (tool === 'read') return pathRule('read', glob, verdict, rule)
    if (tool === 'edit') return pathRule('write', glob, verdict, rule)
    return verdict === 'allow' ? [note(`allow "${rule}" has no equivalent`)] : wholeToolAsks(known, verdict, rule)
  }
  if (verdict !== 'allow') return known.map((own) => levelOf(own, verdict))
  const broad = /[*?]/.test(tool) || known.some((own) => BROAD.has(own))
  return broad ? [note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)] : []
}

/** Tools whose allow would allow everything. */
const BROAD: ReadonlySet<string> = new Set(['bash', 'edit', 'write', 'apply_patch'])

function toolsOf(name: string): readonly string[] | null {
  const source = name
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replace(/\*+/g, '.*')
    .replaceAll('?', '.')
  const found = Object.entries(OPENCODE_TOOLS).filter(([tool]) => new RegExp(`^${source}$`, 's').test(tool))
  return found.length === 0 ? null : [...new Set(found.flatMap(([, own]) => own))]
}

function levelOf(tool: string, verdict: Verdict): Entry {
  return { kind: 'level', tool, verdict }
}
