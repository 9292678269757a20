/** Runs commands with real bash in a sandbox whose PATH contains only recorders, and reads back what was executed. */

import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

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

  /** `more`: further names that are programs. */
  constructor(more: Iterable<string> = []) {
    this.#root = mkdtempSync(join(tmpdir(), 'recorders-'))
    const bin = join(this.#root, 'recorders')
    mkdirSync(bin)
    const source = join(import.meta.dirname, 'recorder.c')
    try {
      execFileSync('cc', ['-O1', '-static', '-o', join(bin, 'recorder'), source], { stdio: 'pipe' })
    } catch (error) {
      throw new Error(`the soundness test needs a C compiler (cc) to build its recorder: ${String(error)}`)
    }
    for (const name of new Set([...PROGRAMS, 'driver', ...more])) symlinkSync('recorder', join(bin, name))
    this.#makeLocales()
  }

  /** A charset in which a character takes the backslash behind it along, and a translation that is a command. */
  #makeLocales(): void {
    const [locales, messages] = [join(this.#root, 'locales'), join(this.#root, 'messages')]
    mkdirSync(locales)
    try {
      execFileSync('localedef', ['-c', '-i', 'zh_CN', '-f', 'GBK', join(locales, 'zh_CN.gbk')], { stdio: 'pipe' })
    } catch (error) {
      throw new Error(`the soundness test needs localedef and its tables (Debian: locales): ${String(error)}`)
    }
    for (const locale of ['C.UTF-8', 'zh_CN.gbk']) {
      mkdirSync(join(messages, locale, 'LC_MESSAGES'), { recursive: true })
      writeFileSync(join(messages, locale, 'LC_MESSAGES/m.mo'), catalogue('f', '$(rm q)'))
    }
  }

  /** Runs the commands, as many at once as there are processors, and reports what each executed. */
  async run(commands: readonly string[]): Promise<readonly Execution[]> {
    const size = Math.max(1, Math.ceil(commands.length / availableParallelism()))
    const shares = Array.from({ length: Math.ceil(commands.length / size) }, (_, at) =>
      commands.slice(at * size, (at + 1) * size),
    )
    return (await Promise.all(shares.map((share) => this.#runShare(share)))).flat()
  }

  async #runShare(commands: readonly string[]): Promise<readonly Execution[]> {
    const rec = mkdtempSync(join(this.#root, 'rec-'))
    writeFileSync(join(rec, 'commands'), commands.map((command) => `${command}\0`).join(''))
    writeFileSync(join(rec, 'log'), '')
    await promisify(execFile)('bwrap', this.#arguments(rec)).catch((error: unknown) => {
      throw new Error(
        `bubblewrap could not run the recorders (install bwrap; unprivileged user namespaces must be allowed): ${String(error)}`,
      )
    })
    const executions = parseLog(readFileSync(join(rec, 'log')))
    rmSync(rec, { recursive: true })
    if (executions.length !== commands.length) {
      throw new Error(`the recorder log has ${executions.length} commands instead of ${commands.length}`)
    }
    return executions
  }

  #arguments(rec: string): string[] {
    const readOnly = ['/usr', '/bin', '/lib', '/lib64'].flatMap((path) => ['--ro-bind-try', path, path])
    return [
      '--unshare-all',
      '--die-with-parent',
      // Nothing inside can kill it then.
      '--as-pid-1',
      '--new-session',
      '--clearenv',
      ...readOnly,
      ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--tmpfs', '/w', '--tmpfs', '/home/u'],
      ...['--dir', '/w/src', '--dir', '/w/lib', '--dir', '/home/u/d'],
      ...['a.ts', 'b.ts', 'src/c.ts', '-n'].flatMap((name) => ['--symlink', '/dev/null', `/w/${name}`]),
      ...['recorders', 'locales', 'messages'].flatMap((name) => ['--ro-bind', join(this.#root, name), `/${name}`]),
      ...['--bind', rec, '/rec', '--chdir', '/w'],
      ...['--', '/recorders/driver'],
    ]
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true })
  }
}

/** A message catalogue with one translation, in the format of gettext. */
function catalogue(message: string, translation: string): Buffer {
  const pairs = [
    ['', 'Content-Type: text/plain; charset=UTF-8\n'],
    [message, translation],
  ] as const
  const table = Buffer.alloc(28 + 32)
  for (const [at, value] of [0x950412de, 0, 2, 28, 44, 0, 0].entries()) table.writeUInt32LE(value, at * 4)
  let text = ''
  for (const column of [0, 1] as const)
    for (const row of [0, 1] as const) {
      const at = 28 + column * 16 + row * 8
      table.writeUInt32LE(Buffer.byteLength(pairs[row][column]), at)
      table.writeUInt32LE(table.length + Buffer.byteLength(text), at + 4)
      text += `${pairs[row][column]}\0`
    }
  return Buffer.concat([table, Buffer.from(text)])
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
