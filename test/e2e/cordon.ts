/** Runs the built CLI the way a user does, in a throw-away project. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** The built program. */
export const CLI: string = join(import.meta.dirname, '../../dist/cordon.cjs')

export interface Ran {
  /** As a shell has it: 128 + n where a signal ended it. */
  readonly code: number | null
  readonly signal?: NodeJS.Signals | null
  readonly out: string
  readonly err: string
}

/** A project folder with its own home. */
export class Project {
  readonly directory: string
  readonly home: string

  constructor(files: Readonly<Record<string, string | Uint8Array>> = {}) {
    const base = mkdtempSync(join(tmpdir(), 'cordon-e2e-'))
    this.directory = join(base, 'project')
    this.home = join(base, 'home')
    mkdirSync(this.directory)
    mkdirSync(this.home)
    for (const [path, content] of Object.entries(files)) this.write(path, content)
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.directory, path)), { recursive: true })
    writeFileSync(join(this.directory, path), content)
  }

  /** Runs `cordon ARGS` here. */
  cordon(args: readonly string[], options: { input?: string; env?: Record<string, string>; cwd?: string } = {}): Ran {
    const run = spawnSync(process.execPath, [CLI, ...args], {
      cwd: options.cwd ?? this.directory,
      input: options.input ?? '',
      env: { PATH: process.env.PATH, HOME: this.home, ...options.env },
      encoding: 'utf8',
      maxBuffer: 256 * 1024 * 1024,
    })
    if (run.error) throw run.error
    const code = run.signal === null ? run.status : 128 + constants.signals[run.signal]
    return { code, signal: run.signal, out: run.stdout, err: run.stderr }
  }

  remove(): void {
    rmSync(dirname(this.directory), { recursive: true, force: true })
  }
}
