/** PURE. Which limit ended a program: by what stopped it, by the kernel's counts, or by how it ended. */

/** The limit that ended a program. `inferred`: read off its end, not off the kernel's count. */
export interface LimitHit {
  readonly limit: 'time' | 'memory' | 'processes' | 'output' | 'file size'
  readonly certainty: 'observed' | 'inferred'
}

export interface Ending {
  readonly exitCode: number
  readonly stopped: 'time' | 'output' | 'cancelled' | null
  readonly stderr: { readonly bytes: Uint8Array }
}

const SIGKILL_EXIT = 137
const SIGXFSZ_EXIT = 153

/** What programs say when memory or processes run out. */
const WORDS: readonly (readonly [LimitHit['limit'], RegExp])[] = [
  [
    'memory',
    /\b(?:MemoryError|bad_alloc|heap out of memory|NoMemoryError|Cannot allocate memory|memory exhausted|Out of memory|out of memory)\b/i,
  ],
  [
    'processes',
    /(?:fork|clone|thread|spawn)[^\n]{0,80}(?:Resource temporarily unavailable|EAGAIN|Cannot|can't)|Resource temporarily unavailable|BlockingIOError: \[Errno 11\]/,
  ],
  ['file size', /\b(?:File too large|EFBIG|No space left on device|ENOSPC)\b/],
]

/** The limit that a program met with, or null. */
export function limitHit(ending: Ending, counted: readonly ('memory' | 'processes')[]): LimitHit | null {
  const { exitCode, stopped } = ending
  if (stopped === 'time' || stopped === 'output') {
    // What forks without end is ended by the clock, but the clock is not what it met with.
    return { limit: counted.includes('processes') ? 'processes' : stopped, certainty: 'observed' }
  }
  if (counted[0] !== undefined) return { limit: counted[0], certainty: 'observed' }
  if (exitCode === 0) return null
  if (exitCode === SIGXFSZ_EXIT) return { limit: 'file size', certainty: 'observed' }
  const said = Buffer.from(ending.stderr.bytes).toString('utf8')
  const named = WORDS.find(([, words]) => words.test(said))
  if (named) return { limit: named[0], certainty: 'inferred' }
  return exitCode === SIGKILL_EXIT ? { limit: 'memory', certainty: 'inferred' } : null
}
