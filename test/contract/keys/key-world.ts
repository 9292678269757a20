/** A project in which a manifest is checked from every surface: what a call is answered with, and what a command sees. */

import { chmodSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { Writable } from 'node:stream'
import { runHookCommand } from '../../../src/agents/hook/run.ts'
import { BatchChecker } from '../../../src/call/decide/batch.ts'
import { confine } from '../../../src/confine/confinement.ts'
import { canBeDenied } from '../../../src/confine/entitlement.ts'
import { NO_GRANTS } from '../../../src/confine/run-grants.ts'
import { planText } from '../../../src/confine/text-plan.ts'
import { printValue } from '../../../src/manifest/toml/edit.ts'
import type { Plain } from '../../../src/manifest/toml/tree.ts'
import { nearbyWords } from '../../../src/one-off/grants.ts'
import { runConfined } from '../../../src/one-off/run-typed.ts'
import { decideTyped, readTyped } from '../../../src/one-off/typed-call.ts'
import { type Asker, newSession, withAnswers } from '../../../src/project/answers.ts'
import { type LoadedManifest, loadPolicy } from '../../../src/project/load/load.ts'
import { signProject } from '../../../src/project/sign/trust.ts'
import { type Cordon, type CordonOptions, createCordon } from '../../../src/session/cordon.ts'
import { analyze } from '../../../src/shell/walk/analyze.ts'
import { answerHook } from '../../../src/surfaces/hook/answer-hook.ts'
import { findHost } from '../../../src/surfaces/hook/hosts/hosts.ts'
import type { Resolver } from '../../../src/system/dns.ts'
import { machineFiles } from '../../../src/system/files.ts'
import type { Json } from '../../../src/system/json-rpc.ts'
import { type Machine, thisMachine } from '../../../src/system/machine.ts'
import { claude, effectOf } from '../hooks/world.ts'
import { envelope, rawClient } from '../mcp/mcp-world.ts'

export const SURFACES = ['check', 'session', 'mcp', 'hook', 'run'] as const
export type Surface = (typeof SURFACES)[number]
export type ManifestObject = Readonly<Record<string, unknown>>

export interface ProbeCall {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

interface Repeated extends ProbeCall {
  readonly times: number
}

const HOST_TOOLS: Readonly<Record<string, (input: Readonly<Record<string, unknown>>) => object>> = {
  bash: ({ command }) => claude('Bash', { command }),
  read: ({ path }) => claude('Read', { file_path: path }),
  write: ({ path }) => claude('Write', { file_path: path, content: '' }),
  grep: ({ path }) => claude('Grep', { pattern: 'x', path }),
  webfetch: ({ url }) => claude('WebFetch', { url, prompt: 'x' }),
}

/** Nothing of a test reaches a network. */
const nowhere: Resolver = { resolve: async () => [] }

export class KeyWorld {
  readonly base: string = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-keys-')))
  readonly root: string = join(this.base, 'project')
  readonly home: string = join(this.base, 'home')
  readonly machine: Machine
  readonly #seen = new Map<string, Promise<string>>()
  #hookManifest = ''

  constructor(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>) {
    process.env.CORDON_KEYCHAIN = 'off'
    mkdirSync(this.root)
    mkdirSync(this.home)
    for (const [path, text] of Object.entries(files)) {
      const file = this.fill(path.startsWith('$') ? path : `$P/${path}`)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      if (text.startsWith('#!')) chmodSync(file, 0o755)
    }
    this.machine = {
      ...thisMachine(),
      cwd: this.root,
      home: this.home,
      env: { PATH: process.env.PATH ?? '', HOME: this.home, ...env },
      configDir: join(this.home, '.config/cordon'),
      stateDir: join(this.home, '.local/state/cordon'),
      cacheDir: join(this.home, '.cache/cordon'),
      systemDir: join(this.home, 'etc'),
    }
  }

  /** `$P` is the project, `$H` the home directory, `$B` what is around both. */
  fill<Value>(value: Value): Value {
    const text = JSON.stringify(value)
    return JSON.parse(text.replaceAll('$P', this.root).replaceAll('$H', this.home).replaceAll('$B', this.base)) as Value
  }

  /** How a surface answers a call: `allow`, `ask`, `deny`, `refused` where no one was asked, `unloadable` where the manifest is. */
  async verdict(surface: Surface, manifest: ManifestObject, call: ProbeCall, times = 1): Promise<string> {
    const asked = { ...this.fill(call), times }
    if ('problems' in (await this.#outcome(manifest))) return 'unloadable'
    switch (surface) {
      case 'check':
        return this.#checked(this.fill(manifest), asked)
      case 'session':
        return this.#called(manifest, asked)
      case 'mcp':
        return this.#served(manifest, asked)
      case 'hook':
        return this.#hooked(manifest, asked)
      case 'run':
        return this.#typed(manifest, String(asked.input.command).split(' '))
    }
  }

  /** What a command says on a surface: its output, or `fails`. */
  seen(surface: Surface, manifest: ManifestObject, argv: readonly string[]): Promise<string> {
    const key = JSON.stringify([surface, manifest, argv])
    const known = this.#seen.get(key) ?? this.#run(surface, manifest, this.fill(argv))
    this.#seen.set(key, known)
    return known
  }

  /** The hosts that a command would have on a surface. */
  async hosts(surface: Surface, manifest: ManifestObject, command: string): Promise<string> {
    const loaded = await this.load(manifest)
    const { root, machine } = this
    const place = { cwd: root, home: machine.home, loaded, session: newSession(loaded, machine), agreed: [] }
    const text = planText(command, factsOf(command, root), place).whole
    const decided = { command: surface === 'run' ? { words: command.split(' ') } : text, cwd: root }
    const { rules } = confine(loaded, decided, []).network
    const open = (rules.allowed ?? []).filter(
      (rule) => !rules.denied.some((denied) => denied.pattern.host === rule.pattern.host),
    )
    const facts = open.map(({ pattern, methods = [], paths = [], tls }) =>
      [pattern.text, ...methods, ...paths, ...(tls === 'pass' ? ['pass'] : [])].join(' '),
    )
    return facts.join(', ')
  }

  async load(manifest: ManifestObject): Promise<LoadedManifest> {
    const outcome = await this.#outcome(manifest)
    if ('problems' in outcome) throw new Error(outcome.problems.map((problem) => problem.message).join('\n'))
    return outcome.loaded
  }

  open(manifest: ManifestObject, options: Partial<CordonOptions> = {}): Promise<Cordon> {
    const object = this.fill(manifest)
    return createCordon({
      project: this.root,
      machine: this.machine,
      manifest: { object },
      resolver: nowhere,
      ...options,
    })
  }

  text(path: string): string {
    return readFileSync(this.fill(path), 'utf8')
  }

  close(): void {
    rmSync(this.base, { recursive: true, force: true })
  }

  #outcome(manifest: ManifestObject): ReturnType<typeof loadPolicy> {
    const choice = { kind: 'object', object: this.fill(manifest) } as const
    return loadPolicy({ machine: this.machine, files: machineFiles, root: this.root, choice })
  }

  async #checked(manifest: ManifestObject, { tool, input }: ProbeCall): Promise<string> {
    const checker = new BatchChecker(this.machine, machineFiles, { kind: 'project' })
    const answer = await checker.answer(JSON.stringify({ id: 1, tool, input, manifest, root: this.root }))
    return String(answer.decision ?? answer.error)
  }

  async #called(manifest: ManifestObject, { tool, input, times }: Repeated): Promise<string> {
    let asked = false
    const ask = async () => {
      asked = true
      return { kind: 'deny' as const }
    }
    const cordon = await this.open(manifest, { prompter: { name: 'table', ask } })
    try {
      const session = cordon.openSession()
      for (let before = 1; before < times; before++) await session.call(tool, input)
      const { status } = await session.call(tool, input)
      return asked ? 'ask' : status === 'refused' ? 'refused' : status === 'denied' ? 'deny' : 'allow'
    } finally {
      await cordon.close()
    }
  }

  async #served(manifest: ManifestObject, { tool, input, times }: Repeated): Promise<string> {
    let asked = false
    const ask = async () => {
      asked = true
      return { kind: 'deny' as const }
    }
    const status = String((await this.#viaMcp(manifest, tool, input, ask, times)).status)
    return asked ? 'ask' : status === 'refused' ? 'refused' : status === 'denied' ? 'deny' : 'allow'
  }

  async #viaMcp(
    manifest: ManifestObject,
    tool: string,
    input: object,
    ask: () => Promise<{ kind: 'deny' }> = async () => ({ kind: 'deny' }),
    times = 1,
  ): Promise<Json> {
    const client = rawClient({
      open: (prompter) => this.open(manifest, { prompter }),
      fallback: { name: 'test', ask },
    })
    try {
      const { signal } = new AbortController()
      const params = { name: tool, arguments: input as Json, _meta: envelope() }
      for (let before = 1; before < times; before++) await client.peer.request('tools/call', params, signal)
      const result = (await client.peer.request('tools/call', params, signal)) as Json
      const [content] = result.content as { text: string }[]
      return { ...(result.structuredContent as Json), text: content!.text }
    } finally {
      await client.close()
    }
  }

  async #hooked(manifest: ManifestObject, { tool, input, times }: Repeated): Promise<string> {
    await this.#sign(manifest)
    rmSync(join(this.machine.stateDir, 'hook-sessions'), { recursive: true, force: true })
    const text = JSON.stringify(HOST_TOOLS[tool]!(input)).replaceAll('$P', this.root)
    const setting = {
      machine: this.machine,
      files: machineFiles,
      root: this.root,
      cordon: ['cordon'],
      inside: false,
      commandLines: () => [],
    }
    const host = findHost('claude-code')!
    for (let before = 1; before < times; before++) await answerHook(host, text, setting)
    const effect = effectOf('claude-code', await answerHook(host, text, setting))
    return effect === 'pass' || effect === 'sandboxed' ? 'allow' : effect === 'block' ? 'deny' : effect
  }

  async #typed(manifest: ManifestObject, argv: readonly string[]): Promise<string> {
    const answered = await withAnswers(await this.load(manifest), this.#asker)
    if (!canBeDenied(answered, false)) return 'allow'
    const call = readTyped(argv, this.root, this.machine, machineFiles)
    return decideTyped(call, answered).decision
  }

  async #run(surface: Surface, manifest: ManifestObject, argv: readonly string[]): Promise<string> {
    const command = argv.join(' ')
    switch (surface) {
      case 'session': {
        const cordon = await this.open(manifest)
        const result = await cordon.openSession().call('bash', { command })
        await cordon.close()
        if (result.status !== 'done') return result.status
        return result.output.isError ? 'fails' : result.output.text.trim()
      }
      case 'mcp': {
        const result = await this.#viaMcp(manifest, 'bash', { command })
        return result.status !== 'done'
          ? String(result.status)
          : result.exitCode === 0
            ? String(result.text).trim()
            : 'fails'
      }
      case 'hook':
        return this.#hookRun(manifest, command)
      case 'run':
        return this.#typedRun(manifest, argv)
      case 'check':
        throw new Error('check runs nothing')
    }
  }

  async #hookRun(manifest: ManifestObject, command: string): Promise<string> {
    await this.#sign(manifest)
    const out = new Collected()
    const result = await runHookCommand({
      machine: this.machine,
      files: machineFiles,
      host: 'claude-code',
      root: this.root,
      session: 's1',
      command,
      io: { stdout: out, stderr: 'discard' },
    })
    if ('denied' in result) return `denied: ${result.denied}`
    return result.exitCode === 0 ? out.text().trim() : 'fails'
  }

  async #typedRun(manifest: ManifestObject, argv: readonly string[]): Promise<string> {
    const answered = await withAnswers(await this.load(manifest), this.#asker)
    const out = new Collected()
    const reads = nearbyWords(answered.loaded, argv, this.machine, machineFiles)
    const result = await runConfined({
      answered,
      machine: this.machine,
      files: machineFiles,
      argv,
      cwd: this.root,
      narrowing: [
        { kind: 'grants', grants: { ...NO_GRANTS, reads } },
        { kind: 'time', ms: Number.POSITIVE_INFINITY, by: 'the row' },
      ],
      io: { stdout: out, stderr: 'discard' as const },
    })
    if ('denied' in result) return 'denied'
    return result.outcome.result.exitCode === 0 ? out.text().trim() : 'fails'
  }

  get #asker(): Asker {
    return { machine: this.machine, files: machineFiles, session: null, agent: null }
  }

  async #sign(manifest: ManifestObject): Promise<void> {
    const text = Object.entries(this.fill(manifest))
      .map(([name, value]) => `${name} = ${printValue(value as Plain)}\n`)
      .join('')
    if (text === this.#hookManifest) return
    this.#hookManifest = text
    writeFileSync(join(this.root, 'cordon.toml'), text)
    const choice = { kind: 'project' } as const
    const outcome = await loadPolicy({ machine: this.machine, files: machineFiles, root: this.root, choice })
    if ('problems' in outcome) throw new Error(outcome.problems.map((problem) => problem.message).join('\n'))
    signProject(outcome.loaded, this.machine, new Date(0))
  }
}

function factsOf(command: string, cwd: string) {
  const analysis = analyze(command, { cwd, home: '/', variables: {} })
  return 'facts' in analysis ? analysis.facts : null
}

class Collected extends Writable {
  readonly #chunks: Buffer[] = []

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk)
    done()
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString('utf8')
  }
}
