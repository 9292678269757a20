/** A project, a home, a scripted model, and `cordon chat` in a pseudo-terminal in between. */

import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PATIENCE_MS } from '../../until.ts'
import { CLI, type Ran } from '../cordon.ts'
import { TestScreen } from './screen.ts'
import { type Script, type ScriptedModel, startScriptedModel } from './scripted-model.ts'

export const KEY = 'sk-test-0123456789abcdefghijklmnopqrstuvwxyz'

export interface WorldOptions {
  readonly files?: Readonly<Record<string, string>>
  readonly manifest?: string
  /** Null: nothing is set up. */
  readonly config?: Readonly<Record<string, unknown>> | null
  readonly wire?: string
}

/** A space for one test. */
export class ChatWorld {
  readonly base: string
  readonly root: string
  readonly home: string
  readonly model: ScriptedModel
  readonly #open: PtyChat[] = []

  static async open(script: Script, options: WorldOptions = {}): Promise<ChatWorld> {
    const model = await startScriptedModel(script)
    return new ChatWorld(model, options)
  }

  private constructor(model: ScriptedModel, { files = {}, manifest, config, wire = 'openai-chat' }: WorldOptions) {
    this.base = mkdtempSync(join(tmpdir(), 'cordon-chat-'))
    this.root = join(this.base, 'project')
    this.home = join(this.base, 'home')
    this.model = model
    mkdirSync(this.root)
    mkdirSync(join(this.home, '.config/cordon'), { recursive: true, mode: 0o700 })
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    if (manifest !== undefined) this.write('manifest.toml', manifest)
    const profile = {
      wire,
      base_url: model.url,
      model: 'scripted',
      key_env: 'SCRIPTED_KEY',
      price: { input: 1, output: 2 },
    }
    const written = config === undefined ? { profile: 'test', profiles: { test: profile } } : config
    if (written !== null) {
      writeFileSync(join(this.home, '.config/cordon/config.json'), JSON.stringify(written), { mode: 0o600 })
    }
  }

  get env(): Record<string, string> {
    return {
      PATH: process.env.PATH!,
      HOME: this.home,
      CORDON_KEYCHAIN: 'off',
      SCRIPTED_KEY: KEY,
      TERM: 'xterm-256color',
      NO_COLOR: '1',
    }
  }

  get state(): string {
    return join(this.home, '.local/state/cordon')
  }

  write(path: string, text: string): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true })
    writeFileSync(join(this.root, path), text)
  }

  has(path: string): boolean {
    return existsSync(join(this.root, path))
  }

  text(path: string): string {
    return readFileSync(join(this.root, path), 'utf8')
  }

  /** Everything below the state directory as one text, keys aside. */
  stateText(folder: string): string {
    const directory = join(this.state, folder)
    if (!existsSync(directory)) return ''
    return readdirSync(directory, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'))
      .join('\n')
  }

  auditLines(): Record<string, unknown>[] {
    return this.stateText('audit')
      .split('\n')
      .filter((line) => line.startsWith('{'))
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }

  /** Opens `cordon chat` at a terminal. */
  chat(args: readonly string[] = [], env: Readonly<Record<string, string>> = {}): PtyChat {
    const manifest = this.has('manifest.toml') ? ['--manifest', 'manifest.toml'] : []
    const chat = new PtyChat(['chat', ...manifest, ...args], this.root, { ...this.env, ...env })
    this.#open.push(chat)
    return chat
  }

  /** Runs `cordon` with pipes. */
  async cordon(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    const child = spawn(process.execPath, [CLI, ...args], { cwd: this.root, env: { ...this.env, ...env } })
    child.stdin.end()
    return collect(child)
  }

  async close(): Promise<void> {
    for (const chat of this.#open) await chat.kill()
    await this.model.close()
    rmSync(this.base, { recursive: true, force: true })
  }
}

async function collect(child: ChildProcess): Promise<Ran> {
  let out = ''
  let err = ''
  child.stdout!.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr!.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  return { code, out, err }
}

/** `cordon` in a pseudo-terminal. */
export class PtyChat {
  readonly screen: TestScreen
  raw = ''
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  #waiting: (() => void)[] = []

  constructor(args: readonly string[], cwd: string, env: Readonly<Record<string, string>>, columns = 80, rows = 24) {
    this.screen = new TestScreen(columns, rows)
    const quoted = [process.execPath, CLI, ...args].map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
    const inner = `stty cols ${columns} rows ${rows}; exec ${quoted}`
    this.#child = spawn('script', ['-qfec', inner, '/dev/null'], { cwd, env: { ...env, SHELL: '/bin/sh' } })
    this.#child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      this.raw += text
      this.screen.write(text)
      for (const wake of this.#waiting.splice(0)) wake()
    })
    this.#ended = new Promise((resolve) => this.#child.once('close', (code) => resolve(code)))
    void this.#ended.then(() => {
      for (const wake of this.#waiting.splice(0)) wake()
    })
  }

  /** The process of `cordon` itself. */
  get pid(): number {
    const own = this.#child.pid!
    const children = readFileSync(`/proc/${own}/task/${own}/children`, 'utf8').trim().split(' ')
    return Number(children[0])
  }

  /** Answers a question of Cordon's, which counts keys only after a pause. */
  async answers(key: string): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, 700))
    this.type(key)
  }

  type(text: string): void {
    this.#child.stdin!.write(text)
  }

  /** Types a line and sends it. */
  async send(text: string): Promise<void> {
    this.type(text)
    await this.until((screen) => screen.visible.includes(text.split('\n').at(-1)!.slice(-60)))
    this.type('\r')
  }

  /** Waits until the screen shows something; fails with what it shows. */
  async until(shows: ((screen: TestScreen) => boolean) | RegExp): Promise<void> {
    const test =
      shows instanceof RegExp
        ? (screen: TestScreen) => shows.test(screen.isAlternate ? screen.visible : screen.text)
        : shows
    const deadline = Date.now() + PATIENCE_MS
    while (!test(this.screen)) {
      const left = deadline - Date.now()
      if (left <= 0 || this.#child.exitCode !== null) {
        throw new Error(`waited for ${shows}; the screen shows:\n${this.screen.text}\n--- now:\n${this.screen.visible}`)
      }
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(left, 500))
        this.#waiting.push(() => {
          clearTimeout(timer)
          resolve()
        })
      })
    }
  }

  /** Waits for the prompt to be free: the status line shows the mode, and no work in progress. */
  async ready(): Promise<void> {
    await this.until(
      (screen) =>
        /^(?:build|plan)\b.* · /m.test(screen.visible.split('\n').slice(-3).join('\n')) && !screen.isAlternate,
    )
  }

  ended(): Promise<number | null> {
    return this.#ended
  }

  async kill(): Promise<void> {
    if (this.#child.exitCode === null && this.#child.signalCode === null) {
      try {
        process.kill(this.pid, 'SIGKILL')
      } catch {
        this.#child.kill('SIGKILL')
      }
    }
    await this.#ended
  }
}
