/** The permission settings of Claude Code, Codex, Gemini CLI, opencode and sandbox-runtime, read as drafts of a manifest. */

import {
  commandPattern,
  type Draft,
  DraftWriter,
  type Entry,
  type Finding,
  note,
  record,
  texts,
} from './import-draft.ts'

type Settings = Readonly<Record<string, unknown>>
type Verdict = 'allow' | 'ask' | 'deny'

export const IMPORTERS: Readonly<Record<string, (settings: Settings) => Draft>> = {
  'claude-code': importClaude,
  codex: importCodex,
  gemini: importGemini,
  opencode: importOpencode,
  srt: importSrt,
}

/** Cordon's tools behind a tool of Claude Code. */
const CLAUDE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  Bash: ['bash'],
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
  Skill: ['skill'],
}

const CLAUDE_MODES: Readonly<Record<string, 'default' | 'auto_accept' | 'plan'>> = {
  default: 'default',
  acceptEdits: 'auto_accept',
  plan: 'plan',
}

function importClaude(settings: Settings): Draft {
  const out = new DraftWriter()
  const permissions = record(settings.permissions)
  for (const verdict of ['deny', 'ask', 'allow'] as const) {
    for (const rule of texts(permissions[verdict], `permissions.${verdict}`, out)) out.add(...claudeRule(rule, verdict))
  }
  for (const path of texts(permissions.additionalDirectories, 'permissions.additionalDirectories', out)) {
    out.add({ kind: 'directory', path })
  }
  // Without a mode, and in those that ask nobody, the careful one: edits and commands ask.
  const mode = permissions.defaultMode ?? 'default'
  const known = typeof mode === 'string' && Object.hasOwn(CLAUDE_MODES, mode) ? CLAUDE_MODES[mode]! : null
  if (!known)
    out.add(note(`permissions.defaultMode "${mode}" has no equivalent; edits and commands that no grant covers ask`))
  out.add({ kind: 'mode', mode: known ?? 'default' }, ...unnamed(out.draft(), WEB_TOOLS, 'ask'))
  const network = record(record(settings.sandbox).network)
  for (const host of texts(network.allowedDomains, 'sandbox.network.allowedDomains', out)) {
    out.add({ kind: 'host', use: 'commands', host })
  }
  if (texts(record(settings.sandbox).excludedCommands, 'sandbox.excludedCommands', out).length > 0) {
    out.note('sandbox.excludedCommands has no equivalent: every command runs in the sandbox')
  }
  return out.draft()
}

const WEB_TOOLS = ['webfetch', 'http', 'websearch'] as const

/** Levels for tools that the settings say nothing about, where the agent is stricter than Cordon by itself. */
function unnamed({ entries }: Draft, tools: readonly string[], verdict: Verdict): readonly Entry[] {
  const hosts = entries.some((entry) => entry.kind === 'host' && entry.use === 'web')
  return tools
    .filter((tool) => !entries.some((entry) => entry.kind === 'level' && entry.tool === tool))
    .filter((tool) => tool === 'websearch' || !hosts)
    .map((tool) => ({ kind: 'level', tool, verdict }))
}

function claudeRule(rule: string, verdict: Verdict): readonly Finding[] {
  if (rule.startsWith('mcp__')) {
    if (/^mcp__\w+?__\w[\w-]*$/.test(rule)) return [{ kind: 'level', tool: rule, verdict }]
    return [
      note(`${verdict} "${rule}" names a whole server; its tools ask unless [permission.tools] names them one by one`),
    ]
  }
  const [, tool = '', inside] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? []
  if (!Object.hasOwn(CLAUDE_TOOLS, tool)) return [note(`${verdict} "${rule}" names a tool that has no equivalent`)]
  const tools = CLAUDE_TOOLS[tool]!
  if (inside === undefined || inside === '*' || inside === ':*') {
    return verdict === 'allow' && (tool === 'Bash' || tools.includes('write'))
      ? [note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)]
      : tools.map((name) => ({ kind: 'level', tool: name, verdict }))
  }
  if (tool === 'Bash') return commandRule(inside, verdict, rule)
  if (tool === 'Read' || tool === 'Grep') return pathRule('read', claudePath(inside), verdict, rule)
  if (tools.includes('write')) return pathRule('write', claudePath(inside), verdict, rule)
  const host = tool === 'WebFetch' ? /^domain:(.+)$/.exec(inside)?.[1] : undefined
  if (host === undefined || verdict === 'ask') return [note(`${verdict} "${rule}" has no equivalent`)]
  return [{ kind: 'host', use: verdict === 'allow' ? 'web' : 'nobody', host }]
}

/** Claude Code's paths: `//x` from the root of the machine, `/x` and `./x` from the project, a bare name anywhere. */
function claudePath(path: string): string {
  if (path.startsWith('//')) return path.slice(1)
  if (path.startsWith('/')) return path.slice(1)
  if (path.startsWith('./')) return path.slice(2)
  return path.startsWith('~') || path.includes('/') ? path : `**/${path}`
}

function commandRule(text: string, verdict: Verdict, rule: string): readonly Finding[] {
  const pattern = commandPattern(text)
  if (pattern === null) {
    const instead =
      verdict === 'deny' ? 'it is NOT denied by the new manifest: write a deny rule for it by hand' : 'it asks'
    return [note(`${verdict} "${rule}" is no list of words with a wildcard at the end; ${instead}`)]
  }
  // A deny of exactly one text would miss the same command with one more word.
  const wide = verdict === 'deny' && !pattern.endsWith(':*') ? `${pattern}:*` : pattern
  return [{ kind: 'command', verdict, pattern: wide }]
}

function pathRule(kind: 'read' | 'write', path: string, verdict: Verdict, rule: string): readonly Finding[] {
  if (/[[\]{}!]/.test(path)) {
    const instead = verdict === 'deny' ? '; it is NOT denied by the new manifest: write a deny rule for it by hand' : ''
    return [note(`${verdict} "${rule}" has a glob that has no equivalent${instead}`)]
  }
  if (verdict !== 'deny') return [{ kind, verdict, path }]
  // A denied directory is denied with all that is in it, and what may not be read may not be written either.
  const paths = path.endsWith('**') ? [path] : [path, `${path.replace(/\/$/, '')}/**`]
  const kinds = kind === 'read' ? (['read', 'write'] as const) : (['write'] as const)
  return kinds.flatMap((each) => paths.map((denied): Finding => ({ kind: each, verdict, path: denied })))
}

function importCodex(settings: Settings): Draft {
  const out = new DraftWriter()
  const workspace = record(settings.sandbox_workspace_write)
  const policy = settings.approval_policy
  const sandbox = settings.sandbox_mode ?? 'read-only'
  if (sandbox === 'read-only') {
    out.add({ kind: 'mode', mode: 'plan' })
    out.note('sandbox_mode "read-only" became mode = "plan", in which no command runs at all')
  } else if (policy === 'untrusted') out.add({ kind: 'mode', mode: 'default' })
  else out.add({ kind: 'mode', mode: 'contained' })
  if (sandbox === 'danger-full-access') {
    out.note('sandbox_mode "danger-full-access" has no equivalent: every command runs in the sandbox')
  }
  if (policy === 'never') out.add({ kind: 'unattended' })
  for (const path of texts(workspace.writable_roots, 'sandbox_workspace_write.writable_roots', out)) {
    out.add({ kind: 'directory', path })
  }
  if (workspace.network_access === true) {
    out.note('network_access = true opens every host; it was not taken over: grant the hosts that are really used')
  }
  for (const name of Object.keys(record(settings.mcp_servers))) {
    out.note(`the tools of the MCP server "${name}" ask, one by one, unless [permission.tools] names them`)
  }
  out.note('rules of Codex in *.rules files are not read')
  out.add(...unnamed(out.draft(), WEB_TOOLS, 'ask'))
  return out.draft()
}

const GEMINI_TOOLS: Readonly<Record<string, readonly string[]>> = {
  run_shell_command: ['bash'],
  ShellTool: ['bash'],
  read_file: ['read'],
  read_many_files: ['read', 'grep'],
  write_file: ['write'],
  replace: ['edit', 'apply_patch'],
  glob: ['glob'],
  grep_search: ['grep'],
  search_file_content: ['grep'],
  list_directory: ['list'],
  web_fetch: ['webfetch', 'http'],
  google_web_search: ['websearch'],
}

function importGemini(settings: Settings): Draft {
  const out = new DraftWriter()
  const tools = record(settings.tools)
  const lists = [
    [
      'deny',
      'tools.exclude',
      [...texts(tools.exclude, 'tools.exclude', out), ...texts(settings.excludeTools, 'excludeTools', out)],
    ],
    [
      'allow',
      'tools.allowed',
      [...texts(tools.allowed, 'tools.allowed', out), ...texts(settings.allowedTools, 'allowedTools', out)],
    ],
  ] as const
  for (const [verdict, name, rules] of lists) {
    for (const rule of rules) {
      const [, tool = '', inside] = /^(\w+)(?:\((.*)\))?$/s.exec(rule) ?? []
      const known = Object.hasOwn(GEMINI_TOOLS, tool) ? GEMINI_TOOLS[tool]! : null
      if (!known) out.note(`${name} "${rule}" names a tool that has no equivalent`)
      // A text in brackets is a prefix there.
      else if (inside !== undefined && known.includes('bash')) out.add(...commandRule(`${inside}:*`, verdict, rule))
      else if (verdict === 'allow' && (known.includes('bash') || known.includes('write'))) {
        out.note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)
      } else out.add(...known.map((own): Entry => ({ kind: 'level', tool: own, verdict })))
    }
  }
  if (tools.core !== undefined || settings.coreTools !== undefined) {
    out.note(
      'tools.core limits which tools there are; name those that should not be there under [permission.tools] as "deny"',
    )
  }
  for (const path of texts(record(settings.context).includeDirectories, 'context.includeDirectories', out)) {
    out.add({ kind: 'directory', path })
  }
  const mode = record(settings.general).defaultApprovalMode
  if (mode === 'auto_edit') out.add({ kind: 'mode', mode: 'auto_accept' })
  else if (mode === 'plan') out.add({ kind: 'mode', mode: 'plan' })
  else out.add({ kind: 'mode', mode: 'default' })
  out.add(...unnamed(out.draft(), ['webfetch', 'http'], 'ask'))
  return out.draft()
}

const OPENCODE_TOOLS: Readonly<Record<string, readonly string[]>> = {
  bash: ['bash'],
  edit: ['edit', 'write', 'apply_patch'],
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

function importOpencode(settings: Settings): Draft {
  const out = new DraftWriter()
  for (const [tool, setting] of Object.entries(record(settings.permission))) {
    const rules = typeof setting === 'string' ? { '*': setting } : record(setting)
    for (const [glob, verdict] of Object.entries(rules)) out.add(...opencodeRule(tool, glob, verdict))
  }
  for (const [tool, on] of Object.entries(record(settings.tools))) {
    if (on !== false) continue
    for (const own of OPENCODE_TOOLS[tool] ?? [tool]) out.add({ kind: 'level', tool: own, verdict: 'deny' })
  }
  return out.draft()
}

function opencodeRule(tool: string, glob: string, verdict: unknown): readonly Finding[] {
  const rule = `${tool}: ${glob}`
  if (verdict !== 'allow' && verdict !== 'ask' && verdict !== 'deny') return [note(`"${rule}" has no known level`)]
  const known = Object.hasOwn(OPENCODE_TOOLS, tool) ? OPENCODE_TOOLS[tool]! : null
  if (!known) return [note(`${verdict} "${rule}" has no equivalent`)]
  if (glob !== '*') {
    if (tool === 'bash') return commandRule(glob, verdict, rule)
    if (tool === 'read') return pathRule('read', glob, verdict, rule)
    if (tool === 'edit') return pathRule('write', glob, verdict, rule)
    return [note(`${verdict} "${rule}" has no equivalent`)]
  }
  if (verdict !== 'allow') return known.map((own) => ({ kind: 'level', tool: own, verdict }))
  const broad = tool === 'bash' || tool === 'edit'
  return broad ? [note(`allow "${rule}" allows everything; it was not taken over: grant what is really used`)] : []
}

function importSrt(settings: Settings): Draft {
  const out = new DraftWriter()
  const network = record(settings.network)
  const files = record(settings.filesystem)
  // There a host is open to the whole process, or to nothing of it.
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
  // Nothing may be written there unless it is named.
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
