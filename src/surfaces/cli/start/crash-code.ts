/** The exit code after a crash: a hook blocks, other commands report a fault. */

/** Hosts take 2 as a block and most other codes as consent. */
export function crashCode([, , command, first]: readonly string[]): number {
  return command === 'hook' && first !== 'run' ? 2 : 125
}
