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
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { acceptBundle } from '../../src/fleet/bundle-store.ts'
import { printValue } from '../../src/manifest/toml/edit.ts'
import type { Plain } from '../../src/manifest/toml/tree.ts'
import { loadPolicy } from '../../src/project/load/load.ts'
import { signProject } from '../../src/project/sign/trust.ts'
import { machineFiles } from '../../src/system/files.ts'
import { type Machine, thisMachine } from '../../src/system/machine.ts'
import { createPackageRegistry, PACKAGE_HOST } from '../contract/egress/package-registry.ts'
import { CLI, type Ran } from '../e2e/cordon.ts'
import { bundle, fleetOf, layer, signedBy } from '../fleet/fleet-world.ts'
import { removeTree } from '../users.ts'
import type { PromiseRow } from './promise.ts'
import { standIn } from './stand-in.ts'

/** What a brokered secret is really. */
export const REAL = 'sk-real-0123456789'

const answer: RequestListener = ({ headers }, response) =>
  void response.end(`answered ${headers.authorization?.endsWith(REAL) ? 'the secret' : 'no one'}\n`)

export class Place {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-promise-')))
  readonly home: string = join(this.base, 'home')
  readonly root: string
  readonly machine: Machine
  readonly env: Readonly<Record<string, string>>
  #server: Server | null = null
  #port = 0

  constructor({ files = {}, env = {}, atHome }: Pick<PromiseRow, 'files' | 'env' | 'atHome'>) {
    this.root = atHome === true ? this.home : join(this.base, 'project')
    mkdirSync(this.home)
    mkdirSync(this.root, { recursive: true })
    for (const [path, text] of Object.entries(files)) this.write(path, this.fill(text))
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
    const exists = { PORT: String(this.#port), P: this.root, H: this.home, B: this.base }
    const text = JSON.stringify(value).replace(/\$(PORT|P|H|B)\b/g, (_, name: keyof typeof exists) => exists[name])
    return JSON.parse(text) as Value
  }

  /** Everything that a row wants of its machine; what is wrong with its manifest, or nothing. */
  async prepare({
    served,
    organisation,
    manifest,
    files = {},
    trusted = [],
  }: Omit<PromiseRow, 'id' | 'promise' | 'shown'>): Promise<readonly string[]> {
    if (served) {
      const listener = served === 'pages' ? answer : createPackageRegistry(this.base).listener
      this.#server = createServer((request, response) => {
        if (served === 'packages') request.headers.host = PACKAGE_HOST
        listener(request, response)
      })
      // As a parent proxy it answers for any requested host.
      this.#server.on('connect', (_, socket) => {
        socket.write('HTTP/1.1 200 OK\r\n\r\n')
        this.#server!.emit('connection', socket)
      })
      await new Promise<void>((resolve) => this.#server!.listen(0, '127.0.0.1', resolve))
      this.#port = (this.#server.address() as AddressInfo).port
      for (const [path, text] of Object.entries(files)) this.write(path, this.fill(text))
    }
    if (organisation !== undefined) {
      const { configDir, stateDir } = this.machine
      const { settings, team, text } = fleetOf(this.base)
      mkdirSync(configDir, { recursive: true, mode: 0o700 })
      writeFileSync(join(configDir, 'fleet.json'), text, { mode: 0o600 })
      acceptBundle(stateDir, settings, signedBy(bundle({ layers: [layer(organisation)] }), team[0]!), Date.now())
    }
    const problems = manifest ? await this.sign(manifest) : []
    for (const tool of trusted) await this.cordon(['tools', 'trust', '--yes', tool])
    return problems
  }

  path(path: string): string {
    return path.startsWith('$') ? this.fill(path) : resolve(this.root, path)
  }

  write(path: string, text: string): void {
    const file = this.path(path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, text)
    if (text.startsWith('#!')) chmodSync(file, 0o755)
    // Cordon reads its own state from what no one else can write.
    if (path.startsWith('$H/.local/state'))
      for (const own of [file, dirname(file)]) chmodSync(own, own === file ? 0o600 : 0o700)
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
  cordon(args: readonly string[], input = ''): Promise<Ran> {
    return this.#ran([process.execPath, CLI, ...args], input)
  }

  /** A line of a shell in which `cordon` is that program. */
  shell(line: string): Promise<Ran> {
    return this.#ran(['bash', '-c', `cordon() { '${process.execPath}' '${CLI}' "$@"; }; ${line}`], '')
  }

  async #ran([program, ...args]: readonly string[], input: string): Promise<Ran> {
    const child = spawn(program!, args, { cwd: this.root, env: this.env })
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
    this.#server?.closeAllConnections()
    this.#server?.close()
    removeTree(this.base)
  }
}
