/** What an answer does to a call, in the forms that several hosts share. */

import { expect } from 'vitest'

/** What an answer does to the call in that host, by what was observed of the real programs. */
export type Effect = 'pass' | 'sandboxed' | 'narrowed' | 'ask' | 'deny' | 'block'

/** In the form of plugins and extensions. */
export function readPlugin(answer: Record<string, unknown>): Effect {
  expect(answer.cordon).toBe(1)
  if (answer.decision === 'deny') {
    expect(answer.reason).toMatch(/\S/)
    return 'deny'
  }
  if ('filter' in answer) return 'narrowed'
  return 'command' in answer ? 'sandboxed' : 'pass'
}

const CLAUDE_FIELDS = new Set([
  'hookEventName',
  'permissionDecision',
  'permissionDecisionReason',
  'updatedInput',
  'additionalContext',
])

/** In Claude Code’s form. */
export function readClaude({ systemMessage, ...answer }: Record<string, unknown>): Effect {
  // What is dangerous about the set-up is reported once a session, beside the answer or alone.
  if (systemMessage !== undefined) expect(systemMessage).toMatch(/^cordon: \S/)
  if (systemMessage !== undefined && Object.keys(answer).length === 0) return 'pass'
  expect(Object.keys(answer)).toEqual(['hookSpecificOutput'])
  const output = answer.hookSpecificOutput as Record<string, unknown>
  for (const field of Object.keys(output)) expect(CLAUDE_FIELDS).toContain(field)
  expect(output.hookEventName).toBe('PreToolUse')
  if (output.permissionDecision === 'deny' || output.permissionDecision === 'ask') {
    expect(output.permissionDecisionReason).toMatch(/\S/)
    return output.permissionDecision
  }
  expect(output.updatedInput).toBeTypeOf('object')
  if ('additionalContext' in output) {
    // It is the host's to ask about a search, as without us.
    expect(output.permissionDecision).toBeUndefined()
    return 'narrowed'
  }
  return 'sandboxed'
}
