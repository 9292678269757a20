/** PURE. The steps at which cordon-init can fail, and the meaning of each failure for a person. */

import type { FaultCode } from '../../system/fault.ts'
import { NUMBERS } from '../protocol.ts'

export type InitStep = keyof typeof NUMBERS.step

interface StepMeaning {
  readonly code: FaultCode
  readonly what: string
  readonly remedy: string
}

const KERNEL = 'Cordon needs Linux 5.12 or newer with user namespaces; run `cordon doctor`.'
const REPORT = 'This is a defect of Cordon: please report it.'

export const STEP_MEANINGS: Readonly<Record<InitStep, StepMeaning>> = {
  ORDERS: { code: 'sandbox-orders', what: 'the sandbox did not understand its setup message', remedy: REPORT },
  PRIVATE: { code: 'sandbox-mounts', what: 'the mounts could not be isolated', remedy: KERNEL },
  PROC: { code: 'sandbox-proc', what: '/proc could not be prepared', remedy: KERNEL },
  STAGE: { code: 'sandbox-masks', what: 'the empty files for masks could not be created', remedy: KERNEL },
  MASK: {
    code: 'mask-moved',
    what: 'a secret that must be hidden has moved',
    remedy: 'Run the command again: files were being moved while it started.',
  },
  PIN: {
    code: 'pin-moved',
    what: 'a protected path has moved',
    remedy: 'Run the command again: files were being moved while it started.',
  },
  READONLY: { code: 'sandbox-mounts', what: 'a part of the sandbox could not be mounted read-only', remedy: KERNEL },
  LISTENER: { code: 'sandbox-network', what: 'the network listener could not be opened', remedy: KERNEL },
  HANDOVER: { code: 'sandbox-network', what: 'the network listener could not be handed over', remedy: REPORT },
  NESTING: { code: 'sandbox-userns', what: 'nested user namespaces could not be switched off', remedy: KERNEL },
  USERNS: { code: 'sandbox-userns', what: 'the second user namespace could not be created', remedy: KERNEL },
  IDS: { code: 'sandbox-userns', what: 'the user id could not be mapped', remedy: KERNEL },
  TERMINAL: { code: 'sandbox-terminal', what: 'the terminal could not be created', remedy: KERNEL },
  CAPABILITIES: { code: 'sandbox-privileges', what: 'the capabilities could not be dropped', remedy: KERNEL },
  NO_NEW_PRIVS: { code: 'sandbox-privileges', what: 'no_new_privs could not be set', remedy: KERNEL },
  SECCOMP: { code: 'sandbox-seccomp', what: 'the system call filter was not accepted', remedy: KERNEL },
  FORK: {
    code: 'sandbox-processes',
    what: 'the command’s process could not be created',
    remedy: 'Raise `[limits] processes`, or free some: the machine or the limit has none left.',
  },
  LIMITS: { code: 'sandbox-limits', what: 'a limit could not be set', remedy: 'Check `[limits]` in the manifest.' },
  DIRECTORY: {
    code: 'working-directory',
    what: 'the working directory cannot be entered inside the sandbox',
    remedy: 'Use a directory that exists and that a grant covers.',
  },
  EXEC: {
    code: 'command-not-executable',
    what: 'the command could not be started',
    remedy: 'Check the name, the permissions and the interpreter line, and that a grant shows the file.',
  },
  GATE: { code: 'sandbox-orders', what: 'the sandbox did not get the signal to start', remedy: REPORT },
  JOIN: {
    code: 'sandbox-limits',
    what: 'the control group with the limits could not be joined',
    remedy: 'Run `cordon doctor`; without `[limits]` that need one, no group is created.',
  },
  PLACE: {
    code: 'place-moved',
    what: 'a path that the sandbox mounts has changed',
    remedy: 'Run the command again: files were being moved while it started.',
  },
  STREAM: {
    code: 'stream-unfit',
    what: 'the command cannot be given this as its input or output, which would open more to it than bytes',
    remedy:
      'Give it a file, a pipe or /dev/null: a directory opens everything below it, and a device accepts commands.',
  },
  BROKER: {
    code: 'changes-broker',
    what: 'changes could not be routed through the sandbox’s init',
    remedy: 'Run `cordon doctor`: it says what of Landlock or seccomp this machine is missing.',
  },
  PROGRAMS: {
    code: 'programs-judge',
    what: 'the programs that a command starts could not be checked',
    remedy: 'Run `cordon doctor`: ptrace of child processes must be allowed (kernel.yama.ptrace_scope below 3).',
  },
}

/** The step of a number that came from the init; null for one that it does not have. */
export function stepOf(value: number): InitStep | null {
  for (const [step, number] of Object.entries(NUMBERS.step)) if (number === value) return step as InitStep
  return null
}
