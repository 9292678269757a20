/** A resident of a test's own: its runtime directory, its home, its projects, and a Node that writes down each start. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from '../../until.ts'
import { asUser, type User } from '../../users.ts'

const DIST = join(import.meta.dirname, '../../../dist')

export interface Call {
  readonly cwd?: string
  readonly env?: Readonly<Record<string, string>>
  readonly input?: string
  /** Where the host says that it is; absent: in the project. */
  readonly from?: string
  /** Words before the client's, such as `unshare -m`. */
  readonly under?: readonly string[]
}

export interface Answer {
  readonly code: number | null
  readonly signal: string | null
  readonly out: string
  readonly err: string
}

export class ResidentWorld {
  readonly user: User
  readonly base: string
  readonly runtime: string
  readonly home: string
  readonly node: string
  /** A copy, which a test may replace. */
  readonly dist: string
  readonly #log: string
  readonly #started: ChildProcess[] = []

  constructor(user: User) {
    this.user = user
    this.base = mkdtempSync(join(tmpdir(), 'cordon-resident-'))
    this.runtime = this.folder('runtime')
    this.home = this.folder('home')
    this.dist = this.folder('dist')
    for (const part of ['cordon.cjs', 'chunks', 'native', 'inside'])
      cpSync(join(DIST, part), join(this.dist, part), { recursive: true })
    this.#log = join(this.base, 'starts')
    this.node = join(this.base, 'node')
    writeFileSync(this.node, `#!/bin/sh\necho "$2 $3" >>'${this.#log}'\nexec '${process.execPath}' "$@"\n`, {
      mode: 0o755,
    })
    writeFileSync(this.#log, '')
    for (const path of [this.base, this.runtime, this.home, this.#log]) chownSync(path, user.uid, user.gid)
  }

  folder(name: string): string {
    const path = join(this.base, name)
    mkdirSync(path)
    chmodSync(path, name === 'runtime' ? 0o700 : 0o755)
    chownSync(path, this.user.uid, this.user.gid)
    return path
  }

  get client(): string {
    return join(this.dist, 'native', `cordon-client-${process.arch}`)
  }

  get program(): readonly string[] {
    return [this.node, join(this.dist, 'cordon.cjs')]
  }

  /** A project with a signed manifest. */
  project(name: string, manifest: string): string {
    const path = this.folder(name)
    this.write(join(path, 'cordon.toml'), manifest)
    this.sign(path)
    return path
  }

  write(path: string, text: string): void {
    writeFileSync(path, text)
    chownSync(path, this.user.uid, this.user.gid)
  }

  sign(project: string): void {
    const signed = this.call(['sign', '--yes'], { cwd: project })
    if (signed.code !== 0) throw new Error(`the manifest could not be signed: ${signed.err}`)
  }

  words(args: readonly string[], under: readonly string[] = []): string[] {
    return asUser(this.user, [...under, this.client, ...this.program, ...args])
  }

  env(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return {
      PATH: '/usr/local/bin:/usr/bin:/bin',
      HOME: this.home,
      XDG_RUNTIME_DIR: this.runtime,
      CORDON_KEYCHAIN: 'off',
      ...more,
    }
  }

  /** `cordon ARGS`, by the client, as a host calls it. */
  call(args: readonly string[], { cwd = this.base, env = {}, input = '', under = [] }: Call = {}): Answer {
    const [program, ...words] = this.words(args, under)
    const run = spawnSync(program!, words, { cwd, input, env: this.env(env), encoding: 'utf8' })
    return { code: run.status, signal: run.signal, out: run.stdout, err: run.stderr }
  }

  /** The same, and this goes on meanwhile. */
  start(
    args: readonly string[],
    { cwd = this.base, env = {} }: Call = {},
  ): ChildProcess & { readonly ended: Promise<Answer> } {
    const [program, ...words] = this.words(args)
    return this.#follow(spawn(program!, words, { cwd, env: this.env(env), stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  /** Another program of the same user. */
  startOther(argv: readonly string[]): ChildProcess & { readonly ended: Promise<Answer> } {
    const [program, ...words] = asUser(this.user, argv)
    return this.#follow(spawn(program!, words, { stdio: ['ignore', 'pipe', 'pipe'] }))
  }

  #follow(child: ChildProcess): ChildProcess & { readonly ended: Promise<Answer> } {
    this.#started.push(child)
    const [out, err]: [Buffer[], Buffer[]] = [[], []]
    child.stdout!.on('data', (piece: Buffer) => out.push(piece))
    child.stderr!.on('data', (piece: Buffer) => err.push(piece))
    const ended = new Promise<Answer>((resolve) =>
      child.once('close', (code, signal) =>
        resolve({ code, signal, out: Buffer.concat(out).toString(), err: Buffer.concat(err).toString() }),
      ),
    )
    return Object.assign(child, { ended })
  }

  /** A hook's question about a command, and the answer of Claude Code's form. */
  hook(
    project: string,
    command: string,
    call: Call = {},
  ): { readonly decision: string; readonly command: string | null } & Answer {
    const input = JSON.stringify({
      session_id: 'resident',
      cwd: call.from ?? project,
      hook_event_name: 'PreToolUse',
      permission_mode: 'default',
      tool_name: 'Bash',
      tool_input: { command },
    })
    const answer = this.call(['hook', 'claude-code', '--root', project], { cwd: project, ...call, input })
    const said = answer.out === '' ? null : JSON.parse(answer.out).hookSpecificOutput
    return {
      ...answer,
      decision: said?.permissionDecision ?? `code ${answer.code}`,
      command: said?.updatedInput?.command ?? null,
    }
  }

  /** How often its own process was started for a call; workers are not for one. */
  coldStarts(): number {
    return readFileSync(this.#log, 'utf8')
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('resident')).length
  }

  /** Has a resident that serves: the first call starts it. */
  async ready(project: string): Promise<void> {
    await until('a resident serves', () => {
      const before = this.coldStarts()
      this.hook(project, 'true')
      return this.coldStarts() === before
    })
  }

  /** Its process, read as its user would see it. */
  keeper(runtime: string = this.runtime): number | null {
    const place = join(runtime, 'cordon')
    const lock = namesIn(place).find((name) => name.endsWith('.lock'))
    const pid = lock === undefined ? 0 : Number(readFileSync(join(place, lock), 'latin1'))
    return pid > 0 && existsSync(`/proc/${pid}`) ? pid : null
  }

  workers(runtime: string = this.runtime): readonly number[] {
    const keeper = this.keeper(runtime)
    if (keeper === null) return []
    return readFileSync(`/proc/${keeper}/task/${keeper}/children`, 'latin1').split(' ').filter(Boolean).map(Number)
  }

  socket(): string {
    const name = namesIn(join(this.runtime, 'cordon')).find((one) => one.endsWith('.socket'))
    return join(this.runtime, 'cordon', name ?? 'none')
  }

  stopResident(): void {
    const keeper = this.keeper()
    if (keeper !== null) process.kill(keeper, 'SIGTERM')
  }

  async close(): Promise<void> {
    for (const child of this.#started) if (child.exitCode === null) child.kill('SIGKILL')
    const workers = this.workers()
    this.stopResident()
    await until(
      'the resident is gone',
      () => workers.every((pid) => !existsSync(`/proc/${pid}`)) && this.keeper() === null,
    )
    rmSync(this.base, { recursive: true, force: true })
  }
}

function namesIn(path: string): readonly string[] {
  return existsSync(path) ? readdirSync(path) : []
}
