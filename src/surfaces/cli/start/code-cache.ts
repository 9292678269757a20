/** Loads the program's chunks with code compiled by earlier runs: compiling takes longer than running. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Script } from 'node:vm'

/** Runs that add compiled code to a command's cache; later runs only read it. */
const LEARNING_RUNS = 20

type Require = (name: string) => unknown

interface Learning {
  readonly script: Script
  readonly file: string
  readonly runs: number
}

/**
 * The chunks of one build, loaded for one command. Node's own compile cache contains only functions compiled at load
 * time, and recompiles the rest in each run; this cache is written at the end of a run. Chunk names contain a content
 * hash, so a cache never meets another text.
 */
export class ChunkLoader {
  readonly #chunks: string
  readonly #cache: string
  readonly #command: string
  readonly #require: Require
  readonly #bodies: Bodies = {}
  readonly #modules = new Map<string, { exports: unknown }>()
  readonly #learning: Learning[] = []

  /** `cache` is a directory beside the chunks that nobody else may write, because cached code is code. */
  constructor(chunks: string, cache: string, command: string, require: Require) {
    this.#chunks = chunks
    this.#cache = cache
    this.#command = command
    this.#require = require
  }

  /** The exports of a chunk by its name, `./core-HASH.cjs`, from the `file` that contains it. */
  load(name: string, file: string = name.slice(2)): unknown {
    const known = this.#modules.get(name)
    if (known) return known.exports
    if (!this.#bodies[name]) Object.assign(this.#bodies, this.#read(file))
    const module = { exports: {} }
    this.#modules.set(name, module)
    const require = (wanted: string): unknown => (wanted.startsWith('./') ? this.load(wanted) : this.#require(wanted))
    this.#bodies[name]!(module.exports, require, module, `${this.#chunks}/${name.slice(2)}`, this.#chunks)
    return module.exports
  }

  /** Writes the code compiled by this run while the command is still learning. Failing to write is harmless. */
  remember(): void {
    if (this.#learning.length === 0) return
    try {
      mkdirSync(this.#cache, { recursive: true, mode: 0o755 })
      for (const { script, file, runs } of this.#learning) {
        const draft = `${file}.${process.pid}`
        writeFileSync(draft, Buffer.concat([script.createCachedData(), Uint8Array.of(runs)]), { mode: 0o644 })
        renameSync(draft, file)
      }
    } catch {
      // A read-only installation only starts more slowly.
    }
  }

  #read(name: string): Bodies {
    const file = `${this.#cache}/${name}.${this.#command}`
    const cached = readCache(file)
    // The build guarantees Latin-1, which needs no decoding.
    const script = new Script(readFileSync(`${this.#chunks}/${name}`, 'latin1'), {
      filename: `${this.#chunks}/${name}`,
      ...(cached && { cachedData: cached.subarray(0, -1) }),
    })
    const runs = cached && !script.cachedDataRejected ? cached.at(-1)! : 0
    if (runs < LEARNING_RUNS && !hasOptions()) this.#learning.push({ script, file, runs: runs + 1 })
    return script.runInThisContext() as Bodies
  }
}

/** The chunks of a file by name, each a CommonJS function. */
type Bodies = Record<
  string,
  (exports: object, require: Require, module: object, filename: string, dirname: string) => void
>

/** V8 rejects code compiled under other options, so runs with options would keep replacing the cache. */
function hasOptions(): boolean {
  return process.execArgv.length > 0 || process.env.NODE_OPTIONS !== undefined
}

/** The cached code with its number of runs in the last byte; null if missing or invalid. */
function readCache(file: string): Buffer | null {
  try {
    const cached = readFileSync(file)
    return cached.length > 1 && cached.at(-1)! <= LEARNING_RUNS ? cached : null
  } catch {
    return null
  }
}
