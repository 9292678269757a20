/** What a session writes down: a line before each call, one after it, and one for everything that changes in between. */

import { createHash, randomUUID } from 'node:crypto'
import type { Approval } from '../approval/approve.ts'
import type { AuditLog } from '../audit/log.ts'
import type { Decision } from '../policy/decision.ts'
import type { ToolInput } from '../tools/tool.ts'
import type { ToolResult } from './tool-result.ts'

export interface CallRecord {
  readonly call: string
  readonly started: number
}

export interface BegunCall {
  readonly tool: string
  readonly input: ToolInput
  readonly subject: string
  readonly decision: Decision
  readonly agent: string
}

export interface SessionRecorder {
  /** Throws when the line cannot be written: then the call does not run. */
  begin(call: BegunCall): CallRecord
  end(record: CallRecord | null, result: ToolResult): void
  answered(subject: string, approver: string, approval: Approval): void
  tainted(tool: string, score: number): void
  close(): void
}

/** A recorder that writes into the audit log. */
export function auditRecorder(
  log: AuditLog,
  options: { readonly arguments: boolean; readonly now: () => number },
): SessionRecorder {
  return {
    begin({ tool, input, subject, decision, agent }) {
      const call = randomUUID()
      log.record({
        type: decision.decision === 'deny' ? 'denied' : 'begin',
        call,
        agent,
        tool,
        args_hash: createHash('sha256').update(canonical(input)).digest('hex'),
        ...(options.arguments && { args: input, subject }),
        decision: {
          verdict: decision.decision,
          reason: decision.reason.code,
          message: decision.reason.message,
          rules: decision.rules.map(({ rule, source }) => `${rule} (${source})`),
        },
        trust: 'built-in',
      })
      return { call, started: options.now() }
    },
    end(record, result) {
      if (!record || result.status === 'denied') return
      const output = result.status === 'done' ? result.output : null
      log.record({
        type: 'end',
        call: record.call,
        duration_ms: Math.round(options.now() - record.started),
        outcome:
          result.status === 'done'
            ? 'ok'
            : result.status === 'failed' && result.error.code === 'cancelled'
              ? 'cancelled'
              : 'failed',
        ...(output?.exitCode !== undefined && { exit_code: output.exitCode }),
        ...(output && {
          output: { parsed: 'text', bytes: Buffer.byteLength(output.text), truncated: output.truncated !== undefined },
        }),
        ...(output?.files && { files: [...output.files.read, ...output.files.written] }),
        ...(output?.hosts && { hosts: output.hosts }),
        ...(result.status === 'refused' && { error: result.refusal.message }),
        ...(result.status === 'failed' && { error: result.error.message }),
      })
    },
    answered: (subject, approver, approval) =>
      log.record({ type: 'approval', approver, approved: approval.approved, ...(options.arguments && { subject }) }),
    tainted: (tool, score) => log.record({ type: 'taint', tool, score }),
    close: () => log.close(),
  }
}

function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonical(field)}`).join(',')}}`
}
