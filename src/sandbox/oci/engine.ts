/** The port to a container engine: one program in, run in its own container that is gone afterwards. */

import type { Captured } from '../backend.ts'
import type { LimitReport } from '../limits.ts'
import type { LimitHit } from './hit.ts'

/** What a container may use up. Every one is set: a program of a model has no limit that no one chose. */
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
  /** The program as the container knows it; `{in}` at the start of a word stands for the directory of what was handed in. */
  readonly argv: readonly string[]
  /** The program's text, under this name in the directory of what was handed in. */
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
  readonly stdout: Captured
  readonly stderr: Captured
  readonly hit: LimitHit | null
  /** What of the outputs was there. */
  readonly files: readonly InputFile[]
  readonly milliseconds: number
}

export const ENGINE_NAMES = ['runsc', 'runc', 'crun', 'podman', 'docker', 'os'] as const

export type EngineName = (typeof ENGINE_NAMES)[number]

/** What an engine was seen to do on this machine. */
export type EngineSupport =
  | { readonly works: true; readonly wall: string; readonly limits: readonly LimitReport[] }
  | { readonly works: false; readonly why: string }

export interface ContainerEngine {
  readonly name: EngineName
  /** True when it can run images. */
  readonly images: boolean
  /** Really runs a program in it and checks what held; asked once. */
  probe(limits: ContainerLimits): Promise<EngineSupport>
  run(run: ContainerRun): Promise<ContainerOutcome>
}
