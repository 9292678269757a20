/**
 * `apply_patch <<'EOF' … EOF` in a shell, from models without a patch tool. Cordon applies the patch itself, without a
 * shell.
 */

import { bareCall, checkedPaths } from '../../call/decide/resolve-call.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import { messageOf } from '../../system/fault.ts'
import type { ChangeKeeper } from '../../system/guarded/keeper.ts'
import type { PatchContext } from '../../tools/patch/apply-patch.ts'
import { InputError, type ToolOutput } from '../../tools/tool.ts'
import type { HookCall, HookJudge, ReadCall } from './judge.ts'

const HEREDOC = /^\s*(?:apply_patch|applypatch)[^\S\n]*<<[^\S\n]*(?:'(\w+)'|"(\w+)"|(\w+))[^\S\n]*\n([\s\S]*)$/
const BEGIN = /^\s*\*\*\* Begin Patch[^\S\n]*\n/

/** The patch of a command that contains nothing else, or null. Nothing in it is expanded, whatever its quotes. */
export function patchInCommand(command: string): string | null {
  const [, single, double, bare, rest] = HEREDOC.exec(command) ?? []
  const mark = single ?? double ?? bare
  if (mark === undefined || rest === undefined) return null
  const lines = rest.split('\n')
  const end = lines.indexOf(mark)
  if (end < 0 || lines.slice(end + 1).some((line) => line.trim() !== '')) return null
  const patch = `${lines.slice(0, end).join('\n')}\n`
  return BEGIN.test(patch) ? patch : null
}

/** A patch call if the command is a patch; otherwise the call itself. */
export function asPatch(call: HookCall): HookCall {
  if (call.kind !== 'tool' || call.tool !== 'bash' || call.input.cwd !== undefined) return call
  const patch = patchInCommand(String(call.input.command))
  return patch === null ? call : { kind: 'tool', tool: 'apply_patch', input: { patch } }
}

/** Applies an allowed patch, or explains why it does not fit. `keeper` is notified before each change. */
export async function applyAllowed(
  judge: HookJudge,
  read: ReadCall,
  signal: AbortSignal,
  keeper: ChangeKeeper,
): Promise<ToolOutput> {
  const { call, touches } = read
  if (call.kind !== 'tool' || 'denied' in touches) throw new TypeError('a patch that was not allowed')
  const [{ applyPatch }, { openGuardedFiles }] = await Promise.all([
    import('../../tools/patch/apply-patch.ts'),
    import('../../system/guarded/guarded-files.ts'),
  ])
  const checked = checkedPaths(touches)
  const context: PatchContext = {
    checked: (given) => {
      const path = checked.get(given)
      if (path === undefined) throw new InputError(`${given} was not part of what was decided`)
      return path
    },
    judge: (_, path) => {
      const facts = { ...bareCall('apply_patch'), reads: [{ given: path, path }] }
      return { verdict: evaluate(judge.loaded.policy, judge.session, facts).decision }
    },
    files: openGuardedFiles(undefined, keeper),
    signal,
  }
  try {
    return await applyPatch({ patch: String(call.input.patch) }, context)
  } catch (error) {
    if (!(error instanceof InputError)) throw error
    return { text: `${messageOf(error)}\n`, isError: true }
  }
}
