/** The agents whose settings can be converted to drafts of a manifest. */

import { isRecord, recordOf } from '../../system/json.ts'
import { importClaude } from './claude.ts'
import { importCodex } from './codex.ts'
import { type Draft, DraftWriter, texts } from './draft.ts'
import { importGemini } from './gemini.ts'
import { importOpencode } from './opencode.ts'
import { commandRule, pathRule, type Settings, unnamed, WEB_TOOLS } from './rules.ts'

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
