/** Converts Claude Code's permission rules to a draft of a manifest. */

import { recordOf } from '../../system/json.ts'
import { type Draft, DraftWriter, type Finding, note, texts } from './draft.ts'
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
export function importClaude(settings: Settings): Draft {
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
