/** The command line that a host runs for its hook: it blocks even when Cordon cannot be run at all. */

import { quote, quoteIfNeeded } from './sandboxed-command.ts'

/** Seconds that a host waits: ten times as long as the hook ever takes, because a host that gives up on its hook runs the call. */
export const HOOK_TIMEOUT_SECONDS = 600

/** Seconds after which a hook without an answer blocks by itself; the client has its own clock for a process that hangs. */
export const ANSWER_SECONDS = 50

/** Seconds of them that a hook waits for people elsewhere. */
export const ASK_WAIT_SECONDS = 40

/** What every command line of ours ends with. */
export const HOOK_MARK = '# cordon hook'
const MARK = HOOK_MARK

/**
 * For whatever shell the host gives it to, since some take the person's own. Most hosts take a missing program, a crash or a signal for an allow, and only exit code 2 with a
 * sentence on stderr and nothing on stdout for a block; so the answer is held back until Cordon has ended well. A runaway
 * process ends at its limit of processor time.
 */
export function hookCommand(host: string, root: string | null, cordon: readonly string[]): string {
  const sorry = `cordon: the hook could not be run, so the call was blocked; cordon doctor says why. If Cordon was removed, delete its hooks from the settings of ${host}.`
  const otherwise = `echo "${sorry}" >&2; exit 2`
  const words = wordsOf(host, root, cordon)
  // The client holds the answer back itself; every shell reads this line, and a shell inside it takes each call a millisecond.
  // Looked for first: fish ends the whole line at a program that is not there, with an exit code that hosts take for an allow.
  if (isClient(cordon))
    return `test -x ${quoteIfNeeded(cordon[0]!)} && ${words} || /bin/sh -c ${quote(otherwise)} ${MARK}`
  return inShell(`out=$(ulimit -t 30; ${words}) && printf %s "$out" || { ${otherwise}; }`)
}

/** For results: the tool ran already, so whatever fails here is silence. */
export function resultCommand(host: string, root: string | null, cordon: readonly string[]): string {
  const words = wordsOf(host, root, cordon)
  if (isClient(cordon)) return `${words} 2>/dev/null || true ${MARK}`
  return inShell(`exec 2>/dev/null; out=$(ulimit -t 30; ${words}) && printf %s "$out"; exit 0`)
}

function inShell(script: string): string {
  return `/bin/sh -c ${quote(script)} ${MARK}`
}

/** The client limits what it starts itself: a resident that it starts must not live, nor its commands, under a hook's limit. */
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
