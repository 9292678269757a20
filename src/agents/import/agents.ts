/** The agents whose settings can be converted to drafts of a manifest. */

import { isRecord, recordOf } from '../../system/json.ts'
import { importCodex } from './codex.ts'
import { type Draft, DraftWriter, type Finding, note, texts } from './draft.ts'
import { importGemini } from './gemini.ts'
import { importOpencode } from './opencode.ts'
import { claudePath } from './path-words.ts'
import {
  commandRule,
  pathRule,
  type Settings,
  unknownTool,
  unnamed,
  type Verdict,
  WEB_TOOLS,
  wholeToolAsks,
} from './rules.ts'

const CLAUDE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['bash'],
  Monitor: ['bash'],
  Read: ['read', 'summary', 'grep'],
  Edit: ['edit', 'write', 'apply_patch'],
  Write: ['edit', 'write', 'apply_patch'],
  MultiEdit: ['edit', 'write', 'apply_patch'],
  NotebookEdit: ['edit', 'write', 'apply_patch'],
  Grep: ['grep'],
  Glob: ['glob'],
  LS: ['list'],
  WebFetch: ['webfetch', 'http'],
  WebSearch: ['websearch'],
  Task: ['task'],
  Agent: ['task'],
  LSP: ['lsp'],
  NotebookRead: ['read', 'summary', 'grep'],
  Skill: ['skill'],
}

const CLAUDE_MODES: Readonly<Record<string, 'default' | 'auto_accept' | 'plan'>> = {
  default: 'default',
  acceptEdits: 'auto_accept',
  plan: 'plan',
}

/** Reads the merged settings of all files. */
function importClaude(settings: Settings): Draft {
  const out = new DraftWriter()
  const permissions = recordOf(settings.permissions)
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    for (const rule of texts(permissions[verdict], `permissions.${verdict}`, out)) out.add(...claudeRule(rule, verdict))
  }
  for (const path of texts(permissions.additionalDirectories, 'permissions.additionalDirectories', out)) {
    out.add({ kind: 'directory', path })
  }
  // Without a mode, and in modes that never ask, use the careful one: edits and commands ask.
  const mode = permissions.defaultMode ?? 'default'
  const known = typeof mode === 'string' && Object.hasOwn(CLAUDE_MODES, mode) ? CLAUDE_MODES[mode]! : null
  if (!known)
    out.add(note(`permissions.defaultMode "${mode}" has no equivalent; edits and commands that no grant covers ask`))
  out.add({ kind: 'mode', mode: known ?? 'default' }, ...unnamed(out.draft(), WEB_TOOLS, 'ask'))
  importSandbox(recordOf(settings.sandbox), out)
  return out.draft()
}

function importSandbox(sandbox: Settings, out: DraftWriter): void {
  const network = recordOf(sandbox.network)
  for (const host of texts(network.allowedDomains, 'sandbox.network.allowedDomains', out)) {
    out.add({ kind: 'host', use: 'commands', host })
  }
  for (const host of texts(network.deniedDomains, 'sandbox.network.deniedDomains', out)) {
    out.add({ kind: 'host', use: 'nobody', host })
  }
  const files = recordOf(sandbox.filesystem)
  for (const path of texts(files.denyRead, 'sandbox.filesystem.denyRead', out)) {
    out.add(...pathRule('read', claudePath(path), 'deny', path))
  }
  for (const path of texts(files.denyWrite, 'sandbox.filesystem.denyWrite', out)) {
    out.add(...pathRule('write', claudePath(path), 'deny', path))
  }
  if (texts(sandbox.excludedCommands, 'sandbox.excludedCommands', out).length > 0) {
    out.note('sandbox.excludedCommands has no equivalent: every command runs in the sandbox')
  }
}

function claudeRule(rule: string, verdict: Verdict): readonly Finding[] {
  if (rule.startsWith('mcp__')) {
    if (/^mcp__\w+?__\w[\w-]*$/.test(rule)) return [{ kind: 'level', tool: rule, verdict }]
    const [, server, tool = '*'] = /^mcp__([a-z0-9][a-z0-9-]{0,39})(?:__([\w.*-]+))?$/.exec(rule) ?? []
    if (server !== undefined) return [{ kind: 'server', server, tool, verdict }]
    return [
      note(`${verdict} "${rule}" names a whole server; its tools ask unless [permission.tools] names them one by one`),
    ]
  }
  const [, tool = '', inside] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (!Object.hasOwn(CLAUDE_TOOLS, tool)) return unknownTool(tool, inside !== undefined, verdict, rule)
  const tools = CLAUDE_TOOLS[tool]!
  if (inside === undefined || inside === '*' || inside === ':*') {
    return verdict === 'allow' && (tools.includes('bash') || tools.includes('write'))
      ? [note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)]
      : tools.map((name) => ({ kind: 'level', tool: name, verdict }))
  }
  if (tools.includes('bash')) return commandRule(inside, verdict, rule)
  if (tools.includes('grep')) return pathRule('read', claudePath(inside), verdict, rule)
  if (tools.includes('write')) return pathRule('write', claudePath(inside), verdict, rule)
  const host = tool === 'WebFetch' ? /^domain:(.+)$/.exec(inside)?.[1] : undefined
  if (host !== undefined && verdict !== 'ask')
    return [{ kind: 'host', use: verdict === 'allow' ? 'web' : 'nobody', host }]
  return verdict === 'allow' ? [note(`allow "${rule}" has no equivalent`)] : wholeToolAsks(tools, verdict, rule)
}

export const IMPORTERS: Readonly<Record<string, (settings: Settings) => Draft>> = {
  'claude-code': importClaude,
  codex: importCodex,
  gemini: importGemini,
  opencode: importOpencode,
  srt: importSrt,
  vscode: importVscode,
}

function importSrt(settings: Settings): Draft {
  const out = new DraftWriter()
  const network = recordOf(settings.network)
  const files = recordOf(settings.filesystem)
  // A host there is open to the whole process, or not at all.
  for (const host of texts(network.allowedDomains, 'network.allowedDomains', out)) {
    out.add({ kind: 'host', use: 'commands', host }, { kind: 'host', use: 'web', host })
  }
  out.add(...unnamed(out.draft(), WEB_TOOLS, 'deny'))
  for (const host of texts(network.deniedDomains, 'network.deniedDomains', out))
    out.add({ kind: 'host', use: 'nobody', host })
  for (const path of texts(files.denyRead, 'filesystem.denyRead', out))
    out.add(...pathRule('read', srtPath(path), 'deny', path))
  for (const path of texts(files.denyWrite, 'filesystem.denyWrite', out))
    out.add(...pathRule('write', srtPath(path), 'deny', path))
  for (const path of texts(files.allowWrite, 'filesystem.allowWrite', out)) {
    out.add(...pathRule('write', srtPath(path), 'allow', path))
    if (!/[*?]/.test(path)) out.add({ kind: 'write', verdict: 'allow', path: `${srtPath(path).replace(/\/$/, '')}/**` })
  }
  // Only named paths are writable there.
  if (texts(files.allowWrite, 'filesystem.allowWrite', out).length === 0)
    out.add({ kind: 'write', verdict: 'deny', path: '**' })
  for (const name of ['allowUnixSockets', 'allowLocalBinding', 'allowAllUnixSockets']) {
    if (network[name] !== undefined && network[name] !== false) out.note(`network.${name} has no equivalent`)
  }
  for (const name of ['ignoreViolations', 'enableWeakerNestedSandbox']) {
    if (settings[name] !== undefined) out.note(`${name} has no equivalent`)
  }
  return out.draft()
}

function srtPath(path: string): string {
  return path === '.' ? '**' : path.replace(/^\.\//, '')
}

const SERVER_TOOL = /^(?:mcp[_.])?([a-z0-9][a-z0-9-]{0,39})[/.]([A-Za-z0-9*][\w.*-]{0,99})$/

function importVscode(settings: Settings): Draft {
  const out = new DraftWriter()
  out.add({ kind: 'mode', mode: 'default' })
  for (const name of ['chat.tools.global.autoApprove', 'chat.tools.autoApprove'])
    if (settings[name] === true) out.note(`${name} allows everything; it was not taken over: grant what is really used`)
  for (const [rule, level] of Object.entries(recordOf(settings['chat.tools.terminal.autoApprove']))) {
    const approves = isRecord(level) ? level.approve : level
    if (rule.startsWith('/') || typeof approves !== 'boolean') {
      out.note(`chat.tools.terminal.autoApprove ${JSON.stringify(rule)} has no equivalent`)
      // A rule that cannot be expressed must not open what it restricted.
      if (approves === false) out.add({ kind: 'level', tool: 'bash', verdict: 'ask' })
    } else out.add(...commandRule(`${rule} *`, approves ? 'allow' : 'ask', rule))
  }
  for (const [name, level] of Object.entries(recordOf(settings['chat.tools.eligibleForAutoApproval']))) {
    const [, server, tool] = SERVER_TOOL.exec(name) ?? []
    if (server === undefined || tool === undefined || typeof level !== 'boolean')
      out.note(`chat.tools.eligibleForAutoApproval ${JSON.stringify(name)} has no equivalent`)
    // Nobody chose a default approval; only its opposite is a rule.
    else if (!level) out.add({ kind: 'server', server, tool, verdict: 'ask' })
  }
  for (const [server, entry] of Object.entries(recordOf(settings.servers ?? settings.mcpServers))) {
    const { autoApprove, alwaysAllow } = recordOf(entry)
    for (const tool of [autoApprove, alwaysAllow].flat())
      if (typeof tool === 'string') {
        if (SERVER_TOOL.test(`${server}/${tool}`)) out.add({ kind: 'server', server, tool, verdict: 'allow' })
        else out.note(`${server}: ${tool} is not a name of a server and a tool`)
      }
  }
  return out.draft()
}

/** Lists that add up over files; for other values the nearest file wins. */
const ADDED: Readonly<Record<string, readonly string[]>> = {
  'claude-code': [
    'permissions.allow',
    'permissions.ask',
    'permissions.deny',
    'permissions.additionalDirectories',
    'sandbox.excludedCommands',
    'sandbox.filesystem.denyRead',
    'sandbox.filesystem.denyWrite',
    'sandbox.network.allowedDomains',
    'sandbox.network.deniedDomains',
  ],
  gemini: ['excludeTools', 'tools.exclude'],
}

/** Merges settings, nearest first. */
export function mergeSettings(agent: string, files: readonly Settings[]): Settings {
  const added = new Set(ADDED[agent] ?? [])
  return files.toReversed().reduce((far, near) => merged(far, near, added, ''), {})
}

function merged(far: Settings, near: Settings, added: ReadonlySet<string>, path: string): Settings {
  const result: Record<string, unknown> = { ...far }
  for (const [name, value] of Object.entries(near)) {
    const place = path === '' ? name : `${path}.${name}`
    const known = result[name]
    if (added.has(place)) result[name] = both(known, value)
    else if (isRecord(known) && isRecord(value)) result[name] = merged(recordOf(known), recordOf(value), added, place)
    else result[name] = value
  }
  return result
}

function both(far: unknown, near: unknown): unknown {
  if (far === undefined) return near
  return Array.isArray(far) && Array.isArray(near) ? [...far, ...near] : [far, near].flat()
}
