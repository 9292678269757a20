/** Cordon as a library: load a policy, decide a call. */

export { type CallChecker, type CheckedCall, type CheckRequest, openChecker } from './runtime/check-call.ts'
export {
  type LoadedPolicy,
  type LoadOutcome,
  type LoadRequest,
  loadPolicy,
  type ManifestChoice,
} from './runtime/load-policy.ts'
export { type Files, machineFiles } from './system/files.ts'
export { type Machine, thisMachine } from './system/machine.ts'
export { version } from './version.ts'
