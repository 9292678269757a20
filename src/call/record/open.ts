/** Opens the audit record: one file of chained lines per session. */

import { type AuditLog, type AuditSigner, openAuditLog } from '../../audit/log.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { createRedactor } from '../../scan/redact/redact.ts'
import { sha256 } from '../../system/addon.ts'
import type { Machine } from '../../system/machine.ts'
import { uniqueName } from '../../system/made-file.ts'
import { auditRecorder, type SessionRecorder } from './recorder.ts'

export type RecordSource =
  /** A session in this process. */
  | { readonly by: 'session'; readonly id: string; readonly agent: string }
  /** A gateway in this process. */
  | { readonly by: 'gateway'; readonly name: string }
  /** An agent host's session: one process per call. */
  | { readonly by: 'host'; readonly host: string; readonly session: string | null }
  /** Commands that a person types in one project: one process per command. */
  | { readonly by: 'person' }

/** Project facts that the record needs. */
export interface RecordedProject {
  readonly root: string
  readonly session: Pick<LoadedPolicy['session'], 'audit'>
}

/** For a project whose manifest is not in force or was not read. */
export function plainProject(root: string, maxBytes = 10_485_760): RecordedProject {
  const stores = { value: false, rule: 'audit.arguments', source: 'built-in' }
  return { root, session: { audit: { maxBytes, arguments: stores } } }
}

/**
 * Opens a session's record with its first line. If that line cannot be written, the call does not
 * run; a session without calls leaves no file.
 */
export function openRecord(
  loaded: RecordedProject,
  machine: Machine,
  recorded: RecordSource,
  signer?: () => AuditSigner | null,
): SessionRecorder {
  let opened: AuditLog | null = null
  const { audit } = loaded.session
  const shared = recorded.by === 'host' || recorded.by === 'person'
  const log = (): AuditLog => {
    if (opened) return opened
    const redactor = createRedactor()
    opened = openAuditLog({
      stateDir: machine.stateDir,
      session: sessionName(recorded, loaded),
      now: () => new Date().toISOString(),
      redact: (text) => redactor.redact(text),
      maxBytes: audit.maxBytes,
      first: { type: 'session', by: recorded.by, project: loaded.root, ...agentOf(recorded) },
      ...(signer && { signer }),
      ...(shared && { sync: 'never', shared: true }),
    })
    return opened
  }
  return auditRecorder(
    {
      record: (event) => log().record(event),
      sign: async () => {
        if (!opened?.isDue) return
        const { auditSigner } = await import('./signer.ts')
        const key = auditSigner(machine)
        if (key) opened.checkpoint(key)
      },
      close: () => opened?.close(),
    },
    { arguments: audit.arguments.value, project: loaded.root, now: Date.now },
  )
}

function agentOf(recorded: RecordSource): { readonly agent?: string } {
  if (recorded.by === 'session') return { agent: recorded.agent }
  return recorded.by === 'host' ? { agent: recorded.host } : {}
}

/** A session's name in the record. */
export function sessionName(recorded: RecordSource, { root }: Pick<RecordedProject, 'root'>): string {
  switch (recorded.by) {
    case 'session':
      return recorded.id
    case 'gateway':
      return `mcp-${recorded.name}-${uniqueName()}`
    case 'host':
      return hostName(recorded.host, recorded.session)
    case 'person':
      return `run-${sha256(root).slice(0, 16)}`
  }
}

/** The host's session id if it is a valid file name, otherwise its hash. */
function hostName(host: string, session: string | null): string {
  if (session === null) return `${host}-unnamed`
  return `${host}-${/^[A-Za-z0-9_-]{1,60}$/.test(session) ? session : sha256(session).slice(0, 32)}`
}
