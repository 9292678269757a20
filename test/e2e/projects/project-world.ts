/** A project as a person has it, with the manifest that `cordon init` wrote, and the commands that they type in it. */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect } from 'vitest'
import { CLI, Project, type Ran } from '../cordon.ts'

/** What runs longer hangs. */
const PATIENCE_MS = 280_000

export class ProjectWorld {
  readonly #project = new Project()
  readonly #env: Readonly<Record<string, string>>

  /** `programs`: a folder below the home whose `bin` comes first on PATH. */
  constructor({ programs }: { readonly programs?: string } = {}) {
    const own = programs === undefined ? [] : [join(this.#project.home, programs, 'bin')]
    this.#env = {
      PATH: [...own, '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      HOME: this.#project.home,
      CORDON_KEYCHAIN: 'off',
      CORDON_RESIDENT: 'off',
    }
    this.home('.gitconfig', '[user]\n  name = A\n  email = a@example.org\n')
    // The person's own word: their registries are on this machine.
    this.home('.config/cordon/cordon.toml', 'schema_version = 1\n[http]\nallow_private_hosts = true\n')
  }

  get directory(): string {
    return this.#project.directory
  }

  get homeDirectory(): string {
    return this.#project.home
  }

  /** A file of the person's. */
  home(path: string, text: string): void {
    const file = join(this.#project.home, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
  }

  write(path: string, text: string): void {
    this.#project.write(path, text)
  }

  /** Files, a repository, `cordon init` and `cordon sign`: nothing is edited in between. */
  async start(files: Readonly<Record<string, string>>): Promise<string> {
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    this.git('init', '-q', '-b', 'main', '.')
    const found = await this.cordon('init')
    expect(found.code, found.err).toBe(0)
    const signed = await this.cordon('sign', '--yes')
    expect(signed.code, signed.err).toBe(0)
    return found.out
  }

  /** Runs git outside, as the person. */
  git(...args: string[]): string {
    const ran = spawnSync('git', args, { cwd: this.directory, encoding: 'utf8', env: this.#env })
    expect(ran.status, ran.stderr).toBe(0)
    return ran.stdout
  }

  /** Waits for it: a registry of this process can answer meanwhile. */
  cordon(...args: string[]): Promise<Ran> {
    const child = this.#spawn(args)
    const said = { out: '', err: '' }
    child.stdout.on('data', (chunk: Buffer) => (said.out += chunk))
    child.stderr.on('data', (chunk: Buffer) => (said.err += chunk))
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    return new Promise((resolve) => {
      child.once('close', (code) => {
        clearTimeout(timer)
        resolve({ code, ...said })
      })
    })
  }

  /** Runs a command in the sandbox; it must succeed. */
  async run(...command: string[]): Promise<Ran> {
    const ran = await this.cordon('run', '--', ...command)
    expect(ran.code, `${command.join(' ')}\n${ran.out}\n${ran.err}`).toBe(0)
    return ran
  }

  /** Commits everything from inside, as the person. */
  async commit(): Promise<void> {
    await this.run('git', 'add', '-A')
    await this.run('git', 'commit', '-qm', 'one')
    expect(this.git('log', '-1', '--format=%s %an')).toBe('one A\n')
    expect(this.git('status', '--porcelain')).toBe('')
  }

  /** Starts a server with `cordon run` and fetches its page from outside. */
  async served(port: number, ...command: string[]): Promise<string> {
    const child = this.#spawn(['run', '--', ...command])
    const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE_MS)
    let said = ''
    try {
      await new Promise<void>((resolve) => {
        for (const stream of [child.stdout, child.stderr])
          stream.on('data', (chunk: Buffer) => {
            said += chunk
            if (said.includes('serving:')) resolve()
          })
        void ended.then(resolve)
      })
      expect(said).toContain(`http://127.0.0.1:${port}`)
      return await (await fetch(`http://127.0.0.1:${port}/`)).text()
    } finally {
      clearTimeout(timer)
      child.kill('SIGTERM')
      await ended
    }
  }

  close(): void {
    this.#project.remove()
  }

  #spawn(args: readonly string[]) {
    return spawn(process.execPath, [CLI, ...args], {
      cwd: this.directory,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
  }
}

export const packageJson = (more: object): string =>
  JSON.stringify({ name: 'app', version: '0.0.0', private: true, ...more })
