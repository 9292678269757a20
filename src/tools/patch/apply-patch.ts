/** `apply_patch`: changes several files, or none. */

import { Fault } from '../../system/fault.ts'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import type { PreparedWrite } from '../../system/guarded/write.ts'
import { requireAsClosed, type VerdictContext } from '../files/file-runs.ts'
import { decodeText, encodeText } from '../files/text-encoding.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { applyHunks, type FileChange } from './apply.ts'
import { parsePatch } from './parse.ts'

/** A file before and after; null if absent. */
interface FileState {
  readonly path: CheckedPath
  readonly before: { readonly bytes: Buffer; readonly stamp: string; readonly mode: number } | null
  after: Buffer | null
  mode: number | undefined
}

export interface ApplyPatchInput {
  readonly patch: string
}

/** The needed part of a tool's context. */
export type PatchContext = Pick<ToolContext, 'checked' | 'files' | 'signal'> & VerdictContext

export async function applyPatch(input: ApplyPatchInput, context: PatchContext): Promise<ToolOutput> {
  const changes = parsePatch(input.patch)
  const states = new Map<string, FileState>()
  const done = changes.map((change) => plan(change, states, context))
  context.signal.throwIfAborted()
  commit([...states.values()], context)
  const written = [...states.values()].filter((state) => state.after !== state.before?.bytes).map((state) => state.path)
  return {
    text: `Applied the patch:\n${done.join('\n')}`,
    data: { changes: changes.map(({ kind, path }) => ({ kind, path })) },
    files: { read: [...states.keys()], written },
  }
}

/** Computes a change in memory. */
function plan(change: FileChange, states: Map<string, FileState>, context: PatchContext): string {
  const state = stateOf(change.path, states, context)
  if (change.kind === 'add') {
    if (state.after !== null)
      throw new InputError(`${change.path} already exists; update it with a hunk instead of adding it`)
    state.after = Buffer.from(change.content, 'utf8')
    state.mode = change.executable ? 0o777 : 0o666
    return `A ${change.path}`
  }
  const { after: bytes } = state
  if (bytes === null) throw new InputError(`${change.path} does not exist, so the patch cannot ${change.kind} it`)
  if (change.kind === 'delete') {
    if (change.hunks.length > 0 && patched(change.path, bytes, change.hunks).length > 0) {
      throw new InputError(`${change.path} contains more than the patch deletes; nothing was changed`)
    }
    state.after = null
    return `D ${change.path}`
  }
  const after = change.hunks.length === 0 ? bytes : patched(change.path, bytes, change.hunks)
  const mode = change.executable === null ? state.mode : executableMode(state.mode ?? 0o666, change.executable)
  if (change.moveTo === null) {
    state.after = after
    state.mode = mode
    return `M ${change.path}`
  }
  const target = stateOf(change.moveTo, states, context)
  if (target.after !== null)
    throw new InputError(`${change.moveTo} already exists; ${change.path} cannot be moved there`)
  requireAsClosed(state.path, target.path, context)
  target.after = after
  target.mode = mode
  if (!change.copies) state.after = null
  return `${change.copies ? 'C' : 'R'} ${change.path} -> ${change.moveTo}`
}

function stateOf(given: string, states: Map<string, FileState>, context: PatchContext): FileState {
  const path = context.checked(given)
  const known = states.get(path)
  if (known) return known
  const found = context.files.stat(path)
  const content = found === null ? null : context.files.read(path)
  const before = content && { bytes: content.bytes, stamp: content.facts.stamp, mode: content.facts.mode & 0o777 }
  const state: FileState = { path, before, after: before?.bytes ?? null, mode: before?.mode }
  states.set(path, state)
  return state
}

function patched(given: string, bytes: Buffer, hunks: Parameters<typeof applyHunks>[2]): Buffer {
  const decoded = decodeText(bytes)
  if ('media' in decoded) throw new InputError(`${given} is not a text file (${decoded.media}); only text is patched`)
  const encoded = encodeText(applyHunks(given, decoded.text, hunks), decoded.encoding)
  if (!encoded) throw new InputError(`${given} is encoded as ${decoded.encoding}, which cannot hold the new text`)
  return decoded.encoding === 'utf-8-bom' && encoded.length === 3 ? Buffer.alloc(0) : encoded
}

function executableMode(mode: number, executable: boolean): number {
  return executable ? mode | ((mode & 0o444) >> 2) : mode & ~0o111
}

/** Everything that can fail comes first; a later failure is rolled back. */
function commit(states: readonly FileState[], context: PatchContext): void {
  const { files } = context
  const prepared: { readonly write: PreparedWrite; readonly state: FileState }[] = []
  const undo: (() => void)[] = []
  try {
    for (const state of states) {
      if (state.after === null || state.after === state.before?.bytes) continue
      const options = state.before ? { replaces: state.before.stamp } : { mode: state.mode, exclusive: true }
      prepared.push({ write: files.prepare(state.path, state.after, options), state })
    }
    for (const { write, state } of prepared) {
      const { before } = state
      write.commit()
      undo.push(() => {
        if (before) files.write(state.path, before.bytes, { mode: before.mode })
        else for (const path of [state.path, ...write.made.toReversed()]) files.remove(path)
      })
    }
    for (const state of states) {
      const { before } = state
      if (!before) continue
      if (state.after === null) {
        if (files.stat(state.path)?.stamp !== before.stamp) {
          throw new Fault('file-changed', `${state.path} was changed by somebody else meanwhile`)
        }
        files.remove(state.path)
        undo.push(() => files.write(state.path, before.bytes, { mode: before.mode }))
      } else if (state.mode !== undefined && state.mode !== before.mode) {
        files.changeMode(state.path, state.mode)
        undo.push(() => files.changeMode(state.path, before.mode))
      }
    }
  } catch (error) {
    for (const { write } of prepared.toReversed()) write.abort()
    for (const step of undo.reverse()) rollBack(step)
    throw error
  }
}

// Roll back as many files as possible; the first failure is reported.
function rollBack(step: () => void): void {
  try {
    step()
  } catch {
    // The original error is reported.
  }
}
