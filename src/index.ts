/** Cordon as a library: open a project, open a session, call tools; or only decide. */

export type { Approval, Refusal } from './approval/approve.ts'
export { type Answer, type ApprovalRequest, type Prompter, programmaticPrompter } from './approval/prompter.ts'
export type { Suggestion } from './approval/suggestion.ts'
export { terminalPrompter } from './approval/terminal-prompter.ts'
export { type CallChecker, type CheckedCall, type CheckRequest, openChecker } from './call/decide/check-call.ts'
export { resultText, type ToolFailure, type ToolResult } from './call/tool-result.ts'
export {
  type LoadedPolicy,
  type LoadOutcome,
  type LoadRequest,
  loadPolicy,
  type ManifestChoice,
} from './project/load/load.ts'
export { type Cordon, type CordonOptions, createCordon, type SessionOptions } from './session/cordon.ts'
export type { PermissionRow, SandboxView, Session, SessionEvent } from './session/session.ts'
export { type Files, machineFiles } from './system/files.ts'
export type { CheckedPath } from './system/guarded/checked-path.ts'
export { type Machine, thisMachine } from './system/machine.ts'
export { version } from './system/version.ts'
export {
  ADDS,
  CHANGES,
  defineTool,
  LOOKS_OUT,
  READS,
  RUNS,
  type ToolDeclaration,
  type ToolDefinition,
  touchesNothing,
} from './tools/define-tool.ts'
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
