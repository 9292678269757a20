/** Runs commands with real bash in a sandbox whose PATH holds only recorders, and reads back what was executed. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** What bash executed for one command. */
export interface Execution {
  /** argv of every program started, in order. */
  readonly executed: readonly (readonly string[])[]
  /** The command was still running when its time was up. */
  readonly timedOut: boolean
}

/** Programs that exist on PATH: recorders, some of which go on as the real wrapper. */
export const PROGRAMS: readonly string[] =
  'git ls rm cat grep make node npm tool gen fail cp curl sed sudo watch parallel env timeout nice nohup setsid stdbuf xargs find flock sh bash dash ionice chrt taskset'.split(
    ' ',
  )

/** The start that the sandbox gives every command. */
export const START = { cwd: '/w', home: '/home/u', variables: { HOME: '/home/u', PWD: '/w' } } as const

export class RecorderSandbox {
  readonly #root: string

  constructor() {
    this.#root = mkdtempSync(join(tmpdir(), 'recorders-'))
    const bin = join(this.#root, 'recorders')
    mkdirSync(bin)
    const source = join(import.meta.dirname, 'recorder.c')
    try {
      execFileSync('cc', ['-O1', '-o', join(bin, 'recorder'), source], { stdio: 'pipe' })
    } catch (error) {
      throw new Error(`the soundness test needs a C compiler (cc) to build its recorder: ${String(error)}`)
    }
    for (const name of [...PROGRAMS, 'driver']) symlinkSync('recorder', join(bin, name))
  }

  /** Runs the commands one after another and reports what each executed. */
  run(commands: readonly string[]): readonly Execution[] {
    const rec = mkdtempSync(join(this.#root, 'rec-'))
    writeFileSync(join(rec, 'commands'), commands.map((command) => `${command}\0`).join(''))
    writeFileSync(join(rec, 'log'), '')
    const result = spawnSync('bwrap', this.#arguments(rec), { encoding: 'utf8' })
    if (result.error !== undefined || result.status !== 0) {
      throw new Error(
        `bubblewrap could not run the recorders (install bwrap; unprivileged user namespaces must be allowed): ${result.error?.message ?? result.stderr}`,
      )
    }
    const executions = parseLog(readFileSync(join(rec, 'log')))
    rmSync(rec, { recursive: true })
    if (executions.length !== commands.length) {
      throw new Error(`the recorder log holds ${executions.length} commands instead of ${commands.length}`)
    }
    return executions
  }

  #arguments(rec: string): string[] {
    const readOnly = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
    return [
      '--unshare-all',
      '--die-with-parent',
      '--new-session',
      '--clearenv',
      ...readOnly,
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/w', '--tmpfs', '/home/u'],
      ...['--dir', '/w/src', '--dir', '/w/lib', '--dir', '/home/u/d'],
      ...['a.ts', 'b.ts', 'src/c.ts', '-n'].flatMap((name) => ['--symlink', '/dev/null', `/w/${name}`]),
      ...['--ro-bind', join(this.#root, 'recorders'), '/recorders', '--bind', rec, '/rec', '--chdir', '/w'],
      ...['--', '/recorders/driver'],
    ]
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

function parseLog(log: Buffer): Execution[] {
  const executions: { executed: string[][]; timedOut: boolean }[] = []
  let at = 0
  while (at < log.length) {
    const end = log.indexOf(10, at)
    const line = log.toString('latin1', at, end)
    at = end + 1
    if (line === 'C') executions.push({ executed: [], timedOut: false })
    else if (line === 'T') (executions.at(-1) as { timedOut: boolean }).timedOut = true
    else if (line.startsWith('R ')) {
      const size = Number(line.slice(2))
      executions.at(-1)?.executed.push(log.toString('utf8', at, at + size - 1).split('\0'))
      at += size
    }
  }
  return executions
}
