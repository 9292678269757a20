/** The port to a container engine: one program in, run in its own container that is gone afterwards. */

import type { CapturedOutput } from '../backend.ts'
import type { LimitReport } from '../limits.ts'

/** The limits of a container. All are set: a model's program has no unlimited resource. */
export interface ContainerLimits {
  readonly memoryBytes: number
  readonly cpus: number
  readonly processes: number
  readonly timeoutMs: number
  /** Of each stream. */
  readonly outputBytes: number
  /** The largest file, and the size of each private in-memory directory. */
  readonly fileBytes: number
}

export interface InputFile {
  /** A plain name. */
  readonly name: string
  readonly bytes: Uint8Array
}

export interface ContainerRun {
  /**
   * The program as the container knows it; a leading `{in}` is the directory of its input files.
   */
  readonly argv: readonly string[]
  /** The program's text, under this name in the directory of its input files. */
  readonly source: InputFile
  /** Copied into the working directory. */
  readonly files: readonly InputFile[]
  readonly stdin: Uint8Array
  /** Plain names in the working directory that are handed out afterwards. */
  readonly outputs: readonly string[]
  readonly limits: ContainerLimits
  /** An image by digest in place of the host's programs; only engines with a store of images have one. */
  readonly image: string | null
  readonly signal: AbortSignal
}

export interface ContainerOutcome {
  readonly engine: EngineName
  readonly exitCode: number
  readonly stdout: CapturedOutput
  readonly stderr: CapturedOutput
  readonly hit: LimitHit | null
  /** What of the outputs was there. */
  readonly files: readonly InputFile[]
  readonly milliseconds: number
}

export const ENGINE_NAMES = ['runsc', 'runc', 'crun', 'podman', 'docker', 'os'] as const

export type EngineName = (typeof ENGINE_NAMES)[number]

/** The result of an engine's probe on this machine. */
export type EngineSupport =
  | { readonly works: true; readonly wall: string; readonly limits: readonly LimitReport[] }
  | { readonly works: false; readonly why: string }

export interface ContainerEngine {
  readonly name: EngineName
  /** True when it can run images. */
  readonly images: boolean
  /** Runs a program in it and checks the protections; once. */
  probe(limits: ContainerLimits): Promise<EngineSupport>
  run(run: ContainerRun): Promise<ContainerOutcome>
}

/** The limit that ended a program. `inferred`: read off its end, not off the kernel's count. */
interface LimitHit {
  readonly limit: 'time' | 'memory' | 'processes' | 'output' | 'file size'
  readonly certainty: 'observed' | 'inferred'
}

interface Ending {
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
    // The clock ends endless forks, but the process limit is the one they reached.
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
