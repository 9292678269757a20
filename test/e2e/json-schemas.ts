/** What each command prints with `--json`, as a JSON Schema: a field that programs may rely on is required here. */

import type { SchemaObject } from 'ajv'

const object = (...required: readonly string[]): SchemaObject => ({ type: 'object', required: [...required] })
const list = (...required: readonly string[]): SchemaObject => ({ type: 'array', items: object(...required) })

/** Of every command, where something is wrong. */
export const ERROR: SchemaObject = {
  type: 'object',
  required: ['error', 'code', 'remedy'],
  properties: { error: { type: 'string' }, code: { type: 'string' }, remedy: { type: ['string', 'null'] } },
}

/** Of a command without its own fields: what it printed. */
const PRINTED: SchemaObject = {
  type: 'object',
  required: ['ok', 'exit', 'output'],
  properties: { ok: { type: 'boolean' }, exit: { type: 'integer' }, output: { type: 'string' } },
  additionalProperties: false,
}

const DECISION: SchemaObject = {
  type: 'object',
  required: ['decision', 'reason', 'rules', 'segments'],
  properties: {
    decision: { enum: ['allow', 'ask', 'deny'] },
    reason: object('code', 'message'),
    rules: list('rule', 'source'),
    segments: list('kind', 'text', 'decision', 'reason'),
  },
}

export interface JsonRow {
  readonly line: string
  readonly schema: SchemaObject
  /** A value a line. */
  readonly lines?: true
  readonly input?: string
}

/** One for each command, or why there is none. */
export const JSON_ROWS: readonly JsonRow[] = [
  { line: 'check -- ls', schema: DECISION },
  {
    line: 'check --batch',
    input: '{"id":1,"tool":"bash","input":{"command":"ls"}}\n',
    schema: { ...DECISION, required: ['id', 'decision'] },
  },
  {
    line: 'explain -- ls',
    schema: { ...DECISION, required: [...(DECISION.required as string[]), 'facts', 'network'] },
  },
  { line: 'status', schema: object('root', 'manifest', 'refusals', 'asks', 'undo', 'agents') },
  { line: 'init --print', schema: object('file', 'found', 'text') },
  { line: 'policy show', schema: object('root', 'values') },
  { line: 'policy lint', schema: object('warnings') },
  { line: 'policy test', schema: object('cases', 'failures') },
  { line: 'run --plan -- true', schema: object() },
  { line: 'add read a.txt --yes', schema: { type: 'object' } },
  { line: 'learn --from record', schema: object('lines', 'proof', 'exitCode', 'text') },
  { line: 'sign', schema: object('status', 'signed', 'diff') },
  { line: 'verify', schema: object('status', 'grantHash') },
  { line: 'tools list', schema: list() },
  { line: 'skills list', schema: list() },
  { line: 'keys', schema: object('own', 'trusted') },
  { line: 'secrets list', schema: list() },
  { line: 'audit query', schema: object('v', 'seq', 'time', 'session', 'type', 'prev'), lines: true },
  { line: 'log', schema: object('v', 'seq', 'time', 'session', 'type', 'prev'), lines: true },
  { line: 'review log', schema: list() },
  { line: 'audit verify', schema: object('ok', 'sessions') },
  { line: 'audit report', schema: object('title', 'generatedAt', 'sessions') },
  { line: 'grants list', schema: list('id', 'project', 'kind', 'value', 'verdict', 'scope', 'locked') },
  { line: 'grants prune', schema: list() },
  { line: 'quarantine list', schema: list('id', 'path') },
  { line: 'redact', input: 'plain\n', schema: PRINTED },
  { line: 'scan', input: 'plain\n', schema: object('injection', 'score', 'findings') },
  { line: 'doctor', schema: object('backend', 'usable', 'assurances') },
  { line: 'setup', schema: object('changes', 'written', 'notes') },
  { line: 'uninstall', schema: object('hooks', 'residents', 'files', 'keys', 'folders', 'stays', 'removed') },
  { line: 'resident status', schema: object('residents', 'stopped') },
  { line: 'tools trust nothing', schema: ERROR },
  { line: 'undo --list', schema: { type: 'array' } },
  { line: 'bundles', schema: list('tool', 'summary') },
  { line: 'approvals list', schema: list('id', 'project', 'tool', 'subject', 'view') },
  { line: 'fleet status', schema: { type: ['object', 'null'] } },
  { line: 'approvals answer', schema: PRINTED },
  { line: 'audit report --out report.html', schema: PRINTED },
  { line: 'learn --root /nonexistent -- true', schema: ERROR },
  { line: 'agent wit', schema: PRINTED },
  { line: 'completions bash', schema: PRINTED },
  { line: 'version', schema: object('version') },
  { line: 'help', schema: object('version', 'commands') },
  { line: 'run --help', schema: object('name', 'summary', 'usage', 'flags') },
  { line: 'help run', schema: object('name', 'summary', 'usage', 'flags') },
]

/** Commands whose JSON is seen elsewhere, or which have none. */
export const OTHERS: Readonly<Record<string, string>> = {
  try: 'It takes twenty seconds: its JSON is that of every command without fields.',
  install: 'test/contract/hooks and test/agents install for each host.',
  import: 'There are no settings to import here: it ends with an error, which is JSON.',
  chat: 'test/e2e/chat/print.test.ts reads it.',
  ui: 'It serves until it is ended.',
  login: 'It waits for a browser.',
  shell: 'Its stdout is the shell’s.',
  hook: 'Its stdout is the answer in the host’s form.',
  mcp: 'Its stdout speaks MCP.',
  acp: 'Its stdout speaks ACP.',
}
