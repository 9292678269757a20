/** The command line of a hook: it blocks even if Cordon cannot run. */

import { quote, quoteIfNeeded } from './sandboxed-command.ts'

/** Seconds that a host waits, far beyond our own deadline: a host that stops waiting runs the call. */
export const HOOK_TIMEOUT_SECONDS = 600

/** Seconds after which a hook without an answer blocks; the client has its own clock for a hanging process. */
export const ANSWER_SECONDS = 50

/** Seconds of those for asking people elsewhere. */
export const ASK_WAIT_SECONDS = 40

/** Every command line of ours ends with this. */
export const HOOK_MARK = '# cordon hook'
const MARK = HOOK_MARK

/**
 * Works in any shell, since some hosts use the person's own. Most hosts take a missing program, a crash or a signal as
 * an allow; only exit code 2 with a sentence on stderr and an empty stdout blocks. So the answer waits until Cordon
 * has ended well. A processor limit ends a runaway process.
 */
export function hookCommand(host: string, root: string | null, cordon: readonly string[]): string {
  const sorry = `cordon: the hook could not be run, so the call was blocked; cordon doctor says why. If Cordon was removed, delete its hooks from the settings of ${host}.`
  const otherwise = `echo "${sorry}" >&2; exit 2`
  const words = wordsOf(host, root, cordon)
  // The client buffers the answer itself, which saves a shell per call. Test for it first: fish aborts the line at a
  // missing program, with an exit code that hosts take as an allow.
  if (isClient(cordon))
    return `test -x ${quoteIfNeeded(cordon[0]!)} && ${words} || /bin/sh -c ${quote(otherwise)} ${MARK}`
  return inShell(`out=$(ulimit -t 30; ${words}) && printf %s "$out" || { ${otherwise}; }`)
}

/** For results: the tool already ran, so errors stay silent. */
export function resultCommand(host: string, root: string | null, cordon: readonly string[]): string {
  const words = wordsOf(host, root, cordon)
  if (isClient(cordon)) return `${words} 2>/dev/null || true ${MARK}`
  return inShell(`exec 2>/dev/null; out=$(ulimit -t 30; ${words}) && printf %s "$out"; exit 0`)
}

function inShell(script: string): string {
  return `/bin/sh -c ${quote(script)} ${MARK}`
}

/** The client sets limits itself: a resident that it starts must not inherit a hook's limit. */
function isClient([program = '']: readonly string[]): boolean {
  return /\/cordon-client-\w+$/.test(program)
}

function wordsOf(host: string, root: string | null, cordon: readonly string[]): string {
  return [...cordon, 'hook', host, ...(root === null ? [] : ['--root', root])].map(quoteIfNeeded).join(' ')
}

/** True for a command line of ours, of any version. */
export function isHookCommand(command: unknown): command is string {
  return typeof command === 'string' && command.endsWith(MARK)
}
