/** What a process that crashed exits with: a hook that cannot answer blocks, everything else reports a fault of Cordon's. */

/** The code for these arguments of a process. Hosts take 2 as a block and most others as consent. */
export function crashCode([, , command, first]: readonly string[]): number {
  return command === 'hook' && first !== 'run' ? 2 : 125
}
