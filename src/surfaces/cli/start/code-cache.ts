/** Loads the program's chunks with the code that earlier runs compiled: compiling takes a start longer than running. */

import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { Script } from 'node:vm'

/** Runs of a command that add what they compiled to its cache; later ones only read it. */
const LEARNING_RUNS = 20

/** Reads a built-in module or an installed package; a chunk's own `require`. */
type Require = (name: string) => unknown

interface Learning {
  readonly script: Script
  readonly file: string
  readonly runs: number
}

/**
 * The chunks of one build, loaded for one command. Node's own compile cache holds only what is compiled when a file is
 * loaded, and every function that is called afterwards would be compiled again in each run; this one is written at the
 * end of a run. Chunk names carry a hash of their content, so a cache never meets another text.
 */
export class ChunkLoader {
  readonly #chunks: string
  readonly #cache: string
  readonly #command: string
  readonly #require: Require
  readonly #bodies: Bodies = {}
  readonly #modules = new Map<string, { exports: unknown }>()
  readonly #learning: Learning[] = []

  /** `cache` is a directory beside the chunks: cached code is code, and no one else may write it. */
  constructor(chunks: string, cache: string, command: string, require: Require) {
    this.#chunks = chunks
    this.#cache = cache
    this.#command = command
    this.#require = require
  }

  /** The exports of a chunk, given as chunks name each other: `./core-HASH.cjs`; `file` holds it and others. */
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

  /** Writes what this run compiled, while the command is still learning. Where nothing can be written, nothing is lost. */
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
      // A read-only installation starts more slowly, and works.
    }
  }

  #read(name: string): Bodies {
    const file = `${this.#cache}/${name}.${this.#command}`
    const cached = readCache(file)
    // Latin-1, which the build guarantees: it needs no decoding.
    const script = new Script(readFileSync(`${this.#chunks}/${name}`, 'latin1'), {
      filename: `${this.#chunks}/${name}`,
      ...(cached && { cachedData: cached.subarray(0, -1) }),
    })
    const runs = cached && !script.cachedDataRejected ? cached.at(-1)! : 0
    if (runs < LEARNING_RUNS && !hasOptions()) this.#learning.push({ script, file, runs: runs + 1 })
    return script.runInThisContext() as Bodies
  }
}

/** What a file holds: chunks by name, each as a function of what CommonJS gives a module. */
type Bodies = Record<
  string,
  (exports: object, require: Require, module: object, filename: string, dirname: string) => void
>

/** V8 refuses code that was compiled under other options; runs with options must not take turns in replacing it. */
function hasOptions(): boolean {
  return process.execArgv.length > 0 || process.env.NODE_OPTIONS !== undefined
}

/** The kept code, and in the last byte the runs behind it; null when there is none, or something else. */
function readCache(file: string): Buffer | null {
  try {
    const cached = readFileSync(file)
    return cached.length > 1 && cached.at(-1)! <= LEARNING_RUNS ? cached : null
  } catch {
    return null
  }
}
