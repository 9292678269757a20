/** A project with a home, a signed manifest and files, for one promise on one surface. */

import { spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { printValue } from '../../src/manifest/toml/edit.ts'
import type { Plain } from '../../src/manifest/toml/tree.ts'
import { loadPolicy } from '../../src/project/load/load.ts'
import { signProject } from '../../src/project/sign/trust.ts'
import { machineFiles } from '../../src/system/files.ts'
import { type Machine, thisMachine } from '../../src/system/machine.ts'
import { CLI, type Ran } from '../e2e/cordon.ts'
import { removeTree } from '../users.ts'
import type { PromiseRow } from './promise.ts'
import { standIn } from './stand-in.ts'

export class Place {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-promise-')))
  readonly home: string = join(this.base, 'home')
  readonly root: string
  readonly machine: Machine
  readonly env: Readonly<Record<string, string>>

  constructor({ files = {}, env = {}, atHome }: Pick<PromiseRow, 'files' | 'env' | 'atHome'>) {
    this.root = atHome === true ? this.home : join(this.base, 'project')
    mkdirSync(this.home)
    mkdirSync(this.root, { recursive: true })
    for (const [path, text] of Object.entries(files)) this.write(path, text)
    this.env = {
      PATH: process.env.PATH ?? '',
      HOME: this.home,
      CORDON_KEYCHAIN: 'off',
      CORDON_RESIDENT: 'off',
      SCRIPTED_KEY: 'sk-test-0123456789abcdefghijklmnopqrstuvwxyz',
      ...env,
    }
    process.env.CORDON_KEYCHAIN = 'off'
    this.machine = {
      ...thisMachine(),
      cwd: this.root,
      home: this.home,
      env: this.env,
      configDir: join(this.home, '.config/cordon'),
      stateDir: join(this.home, '.local/state/cordon'),
      cacheDir: join(this.home, '.cache/cordon'),
      systemDir: join(this.home, 'etc'),
    }
  }

  /** `$P` is the project, `$H` the home directory, `$B` what is around both. */
  fill<Value>(value: Value): Value {
    if (value === undefined) return value
    const text = JSON.stringify(value)
    return JSON.parse(text.replaceAll('$P', this.root).replaceAll('$H', this.home).replaceAll('$B', this.base)) as Value
  }

  path(path: string): string {
    return path.startsWith('$') ? this.fill(path) : resolve(this.root, path)
  }

  write(path: string, text: string): void {
    const file = this.path(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
  }

  text(path: string): string | null {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), 'utf8') : null
  }

  /** Writes the manifest; what is wrong with it, or nothing, and then it is signed. */
  async sign(manifest: NonNullable<PromiseRow['manifest']>): Promise<readonly string[]> {
    const filled = this.fill({ schema_version: 1, ...manifest })
    this.write(
      'cordon.toml',
      Object.entries(filled)
        .map(([name, value]) => `${name} = ${printValue(value as Plain)}\n`)
        .join(''),
    )
    const { machine, root } = this
    const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'project' } })
    if ('problems' in outcome) return outcome.problems.map(({ message }) => message)
    signProject(outcome.loaded, machine, new Date(0))
    return []
  }

  /** Every line of the record. */
  record(): readonly Readonly<Record<string, unknown>>[] {
    const folder = join(this.machine.stateDir, 'audit')
    const names = existsSync(folder) ? readdirSync(folder).filter((name) => name.endsWith('.jsonl')) : []
    return names.flatMap((name) =>
      readFileSync(join(folder, name), 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as Record<string, unknown>),
    )
  }

  /** The built program, as a person starts it. */
  async cordon(args: readonly string[], input = '', cwd: string = this.root): Promise<Ran> {
    const child = spawn(process.execPath, [CLI, ...args], { cwd, env: this.env })
    child.stdin.end(input)
    let [out, err] = ['', '']
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      err += text
    })
    const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
    return { code, out, err }
  }

  /** Runs something that takes this for its machine. */
  async as<Result>(work: () => Promise<Result>): Promise<Result> {
    standIn.machine = this.machine
    try {
      return await work()
    } finally {
      standIn.machine = null
    }
  }

  close(): void {
    removeTree(this.base)
  }
}
