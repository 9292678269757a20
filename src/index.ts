/** Cordon as a library: open a project, open a session, call tools; or only decide. */

import {
  type Answer,
  type ApprovalRequest,
  programmaticPrompter as answerBy,
  type Prompter,
} from './approval/prompter.ts'
import type { CallChecker, openChecker as OpenChecker } from './call/decide/check-call.ts'
import { isToolName, requireFields, requireKind, requireOneOf, requireText, requireTool } from './call/given.ts'
import type { LoadOutcome, LoadRequest } from './project/load/load.ts'
import type { Cordon, CordonOptions } from './session/cordon.ts'
import { defineTool as define, type ToolDefinition } from './tools/define-tool.ts'
import type { InputSchema } from './tools/input-schema.ts'
import type { Tool } from './tools/tool.ts'

export type { Approval, Refusal } from './approval/approve.ts'
export type { Answer, ApprovalRequest, Prompter } from './approval/prompter.ts'
export type { Suggestion } from './approval/suggestion.ts'
export { terminalPrompter } from './approval/terminal-prompter.ts'
export type { CallChecker, CheckedCall, CheckRequest } from './call/decide/check-call.ts'
export { resultText, type ToolFailure, type ToolResult } from './call/tool-result.ts'
export type { LoadedPolicy, LoadOutcome, LoadRequest, ManifestChoice } from './project/load/load.ts'
export type { Cordon, CordonOptions, SessionOptions } from './session/cordon.ts'
export type { PermissionRow, SandboxView, Session, SessionEvent } from './session/session.ts'
export { Fault } from './system/fault.ts'
export { type Files, machineFiles } from './system/files.ts'
export type { CheckedPath } from './system/guarded/checked-path.ts'
export { type Machine, thisMachine } from './system/machine.ts'
export { version } from './system/version.ts'
export { type ToolDeclaration, type ToolDefinition, toolHints, touchesNothing } from './tools/define-tool.ts'
export type { InputOf, InputSchema, PropertySchema } from './tools/input-schema.ts'
export {
  type Actions,
  InputError,
  type Tool,
  type ToolContext,
  type ToolFacts,
  type ToolHints,
  type ToolLabel,
  type ToolOutput,
  type ToolSpec,
} from './tools/tool.ts'

// What opens a project loads its parts when it is called: a program that imports Cordon pays for what it uses.

/** Opens a project. Throws a Fault when its manifest does not load or is not signed. */
export async function createCordon(options: CordonOptions): Promise<Cordon> {
  return (await import('./session/cordon.ts')).createCordon(options)
}

/** A runnable tool. Its ports only do what was decided and what its labels name. */
export function defineTool<const Schema extends InputSchema>(definition: ToolDefinition<Schema>): Tool {
  requireTool('the definition of defineTool', definition, isToolName)
  return define(definition)
}

/** A prompter that answers by a function: for programs that embed Cordon, and for tests. */
export function programmaticPrompter(
  decide: (request: ApprovalRequest) => Answer | Promise<Answer>,
  name = 'program',
): Prompter {
  return answerBy(
    requireKind('the function of programmaticPrompter', decide, 'function'),
    requireText('its name', name),
  )
}

/** Decides calls without running them. */
export async function openChecker(...facts: Parameters<typeof OpenChecker>): Promise<CallChecker> {
  const [loaded, machine, files] = facts
  requireKind('the policy of openChecker', loaded, 'object')
  requireKind('the machine of openChecker', machine, ['ownAddresses'])
  requireKind('the files of openChecker', files, ['canonical'])
  return (await import('./call/decide/check-call.ts')).openChecker(...facts)
}

/** Loads the manifests of a project, to decide and to show: it does not ask whether they are signed. */
export async function loadPolicy(request: LoadRequest): Promise<LoadOutcome> {
  requireFields('loadPolicy', request, ['machine', 'files', 'root', 'choice', 'organisation'])
  requireKind('the machine of loadPolicy', request.machine, ['ownAddresses'])
  requireKind('the files of loadPolicy', request.files, ['canonical'])
  if (request.root !== null) requireText('the root of loadPolicy', request.root)
  const { kind } = requireKind<LoadRequest['choice']>('the choice of loadPolicy', request.choice, 'object')
  requireOneOf('the kind of the choice', kind, ['project', 'file', 'object'])
  return (await import('./project/load/load.ts')).loadPolicy(request)
}
