/** Reads Codex's session record: its start directory, and what its own sandbox lets the turn do. */

import { join } from 'node:path'
import type { Machine } from '../../../system/machine.ts'
import { isObject, type Json, type RulePlace, recordOf } from '../host/host.ts'
import { firstLine, linesWith, piecesFromEnd, withRecord } from './record-file.ts'

const MAX_LOOKED = 64 * 1024 * 1024

/** The start directory of a session, or null. */
export function startDirectory(input: Json): string | null {
  const path = recordOf(input)
  if (path === null) return null
  const line: unknown = JSON.parse(withRecord(path, firstLine))
  if (!isObject(line) || line.type !== 'session_meta' || !isObject(line.payload)) return null
  return typeof line.payload.cwd === 'string' ? line.payload.cwd : null
}

const WRITING: ReadonlySet<unknown> = new Set(['workspace-write', 'danger-full-access', 'external-sandbox'])

/** Whether Codex would deny this turn's commands writes; true if its record does not say. */
export function isReadOnlyTurn(input: Json): boolean {
  const path = recordOf(input)
  if (path === null) return true
  try {
    const policy = withRecord(path, (fd) => lastPolicy(fd, input.turn_id))
    return !WRITING.has(policy?.type)
  } catch {
    return true
  }
}

/** The sandbox of a turn, from the last line that names one. */
function lastPolicy(fd: number, turn: unknown): Json | null {
  for (const piece of piecesFromEnd(fd, MAX_LOOKED)) {
    for (const text of linesWith(piece, '"turn_context"')) {
      const policy = policyOf(text, turn)
      if (policy !== null) return policy
    }
  }
  return null
}

function policyOf(text: string, turn: unknown): Json | null {
  let line: unknown
  try {
    line = JSON.parse(text)
  } catch {
    return null
  }
  if (!isObject(line) || line.type !== 'turn_context' || !isObject(line.payload)) return null
  const { turn_id: own, sandbox_policy: policy } = line.payload
  const isOther = typeof own === 'string' && typeof turn === 'string' && own !== turn
  return isOther || !isObject(policy) ? null : policy
}

export function codexHome({ home, env }: Pick<Machine, 'home' | 'env'>): string {
  return env.CODEX_HOME ?? join(home, '.codex')
}

/** The folders of its rules: the project's, the person's, the machine's. */
export function codexRuleFolders({ folders, ...at }: Pick<RulePlace, 'folders' | 'home' | 'env'>): readonly string[] {
  return [...folders.map((folder) => join(folder, '.codex/rules')), join(codexHome(at), 'rules'), '/etc/codex/rules']
}

/** Our rule's file, beside Codex's other settings. */
export const CODEX_RULES = 'rules/cordon.rules'

const MARK = '# Written by cordon install.'

/** The rule for the program of the short form, if it is the whole command. */
export function codexRules(program: string): string {
  return `${MARK} A command in this form runs in Cordon's sandbox, which cannot start inside Codex's.
prefix_rule(pattern = [${JSON.stringify(program)}], decision = "allow")
`
}

export function isCodexRules(text: string): boolean {
  return text.startsWith(MARK)
}
