/**
 * Secrets that were hidden once, by device and inode: they stay secrets, whatever a command makes of the folders above them. Without
 * it `mv packages node_modules` would make a package of a project's folder, and its `.env` a file that came with it.
 */

import { readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { unwritable } from '../../system/fault.ts'
import { uniqueName, writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'

/** More than a machine has; the oldest go first. */
const MOST = 50_000

/** What is remembered, of all projects. */
export class SecretMemory {
  readonly #stateDir: string
  #known: Set<string> | null = null
  #isNew = false

  constructor(stateDir: string) {
    this.#stateDir = stateDir
  }

  has(identity: string): boolean {
    return this.#names().has(identity)
  }

  /** Notes what is hidden for its name. */
  note(identity: string): void {
    if (this.#names().has(identity)) return
    this.#names().add(identity)
    this.#isNew = true
  }

  /** Writes what is new; before the command starts that could move it. */
  keep(): void {
    if (!this.#isNew) return
    // Another process may have noted others meanwhile.
    const names = [...new Set([...this.#read(), ...this.#names()])].slice(-MOST)
    const temporary = `${this.#file}.${uniqueName()}`
    try {
      makeDirectories(this.#stateDir)
      writeMade(temporary, JSON.stringify(names), { flag: 'wx' })
      renameSync(temporary, this.#file)
      this.#isNew = false
    } catch (error) {
      removeIfPossible(temporary)
      throw unwritable(this.#file, error)
    }
  }

  get #file(): string {
    return join(this.#stateDir, 'secrets-seen.json')
  }

  #names(): Set<string> {
    this.#known ??= this.#read()
    return this.#known
  }

  #read(): Set<string> {
    try {
      const parsed: unknown = JSON.parse(readFileSync(this.#file, 'utf8'))
      return new Set(Array.isArray(parsed) ? parsed.filter((name): name is string => typeof name === 'string') : [])
    } catch {
      // None yet, or not what we wrote: what is hidden now is noted again.
      return new Set()
    }
  }
}

function removeIfPossible(file: string): void {
  try {
    rmSync(file, { force: true })
  } catch {
    // On a disk that takes no changes.
  }
}
