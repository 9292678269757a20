/** Copies a hashed script to a place where it can be run but not changed (T3). */

import { randomBytes } from 'node:crypto'
import { chmodSync, closeSync, fsyncSync, openSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorCode, Fault } from '../../system/fault.ts'
import { isAlive } from '../../system/processes.ts'
import { makeDirectories, openOwnDirectory } from '../../system/state.ts'

export interface StagedScript {
  /** A private, read-only, executable copy for the sandbox. */
  readonly path: string
  dispose(): void
}

const STALE_MS = 24 * 3600 * 1000

/** Copies a script into its own directory in the state directory. */
export function stageScript(stateDir: string, name: string, script: Uint8Array): StagedScript {
  const base = join(openOwnDirectory(stateDir), 'run')
  const directory = join(base, `${process.pid}-${randomBytes(8).toString('hex')}`)
  const path = join(directory, name)
  const dispose = (): void => rmSync(directory, { recursive: true, force: true })
  try {
    makeDirectories(directory)
    const fd = openSync(path, 'wx', 0o500)
    try {
      writeFileSync(fd, script)
      fsyncSync(fd)
    } finally {
      closeSync(fd)
    }
    chmodSync(path, 0o500)
  } catch (error) {
    dispose()
    throw new Fault('tool-staging', `the script ${name} cannot be prepared (${errorCode(error) ?? 'unknown'})`, {
      cause: error,
    })
  }
  return { path, dispose }
}

/** Removes copies of killed processes. */
export function reapStaged(stateDir: string, now: number): void {
  const base = join(stateDir, 'run')
  let names: string[]
  try {
    names = readdirSync(base)
  } catch {
    return
  }
  for (const name of names) {
    const path = join(base, name)
    const pid = Number.parseInt(name, 10)
    try {
      if (!isAlive(pid) || now - statSync(path).mtimeMs > STALE_MS) rmSync(path, { recursive: true, force: true })
    } catch {
      // Another process was faster.
    }
  }
}
