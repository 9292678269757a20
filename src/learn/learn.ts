/** `cordon learn`: runs a command confined, proposes what it lacked, and drops extras. */

import { readFileSync } from 'node:fs'
import { PassThrough, type Writable } from 'node:stream'
import { chosenBundles, NO_GRANTS } from '../confine/run-grants.ts'
import { matchSegment } from '../files/glob.ts'
import type { Decision } from '../policy/decision.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { readRegistries } from '../project/sign/trust.ts'
import { namedOwnPorts } from '../run/network/own-ports.ts'
import { defaultAllowlist } from '../sandbox/environment.ts'
import { gradeKey } from '../scan/redact/sensitive-keys.ts'
import type { Machine } from '../system/machine.ts'
import { granteeOf, type TextPlaces, withLines } from './manifest-text.ts'
import { type Need, readNeeds, type WithheldNeed, whyNotGranted } from './needs.ts'
import { type ProposedLine, propose } from './proposal.ts'
import { policyOfText, restoreTrial, type TrialParts, type TrialResult, tryOnce } from './trial.ts'

const KEPT = 64 * 1024

/** A stream that forwards everything and keeps the end, where errors are. */
interface OutputTap {
  readonly stream: Writable
  /** The kept text, after the stream ends. */
  text(): Promise<string>
}

function tapOutput(output: Writable): OutputTap {
  const stream = new PassThrough()
  let kept = ''
  stream.on('data', (bytes: Buffer) => {
    kept = (kept + bytes.toString('latin1')).slice(-KEPT)
  })
  stream.pipe(output, { end: false })
  return {
    stream,
    text: () =>
      new Promise((resolve) => {
        stream.once('end', () => resolve(kept))
        stream.end()
      }),
  }
}

/** Variable names in error messages. */
const VARIABLE = /(?<![\w$])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w])/g
/** Variable names in the words of a command, where it does not set them itself. */
const USED_VARIABLE = /(?<![\w])[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+(?![\w=])/g
/** Phrases for a refused connection, with its port. */
const SPOKEN_PORT = /(?:localhost|127\.0\.0\.1|\[?::1\]?)["')]*,?[^\n]{0,20}?\bport (\d{1,5})\b/g

/**
 * Variables and local ports that the words and the output name. The command chooses its words, so
 * each is proposed with its reason, and never a secret.
 */
export function needsInOutput(
  command: readonly string[],
  said: string,
  machine: Pick<Machine, 'env'>,
  allowlist: readonly string[] | null,
  listening: ReadonlySet<number> = listeningPorts(),
): { readonly needs: readonly Need[]; readonly withheld: readonly WithheldNeed[] } {
  const needs: Need[] = []
  const withheld: WithheldNeed[] = []
  const seen = allowlist ?? defaultAllowlist[process.platform === 'darwin' ? 'darwin' : 'linux']
  const named = new Set(command.flatMap((word) => Array.from(word.matchAll(USED_VARIABLE), ([name]) => name)))
  for (const name of new Set([...named, ...(said.match(VARIABLE) ?? [])])) {
    if ((machine.env[name] ?? '') === '' || seen.some((glob) => matchSegment(glob, name))) continue
    const how = named.has(name) ? 'its words name' : 'it said'
    if (gradeKey(name, '') !== null)
      withheld.push({ subject: `$${name}`, why: 'its name looks like a secret: cordon secrets, and [[secrets]]' })
    else needs.push({ kind: 'variable', value: name, evidence: `${how} ${name}, which you have and it does not see` })
  }
  const spoken = Array.from(said.matchAll(SPOKEN_PORT), ([, port]) => Number(port))
  for (const port of new Set([...namedOwnPorts([...command, said]), ...spoken]))
    if (listening.has(port))
      needs.push({
        kind: 'host',
        value: `127.0.0.1:${port}`,
        evidence: `it named port ${port}, where a server of this machine listens`,
      })
  return { needs, withheld }
}

function listeningPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  for (const file of ['/proc/net/tcp', '/proc/net/tcp6']) {
    try {
      for (const row of readFileSync(file, 'latin1').split('\n').slice(1)) {
        const [, local = '', , state] = row.trim().split(/\s+/)
        if (state === '0A') ports.add(Number.parseInt(local.slice(local.indexOf(':') + 1), 16))
      }
    } catch {
      // This system has no such file.
    }
  }
  return ports
}

/** How well the proposal was tested. */
export type Proof =
  /** The confined run worked: nothing is needed. */
  | 'nothing-needed'
  /** The command works with the lines and fails without any one of them. */
  | 'proven'
  /** It works with them; whether each is needed was not tested. */
  | 'works'
  /** It was not run with them. */
  | 'untried'
  /** From recorded refusals; nothing was run. */
  | 'recorded'
  /** It fails with them too. */
  | 'still-fails'

export interface LearnResult {
  readonly lines: readonly ProposedLine[]
  /** Unneeded lines. */
  readonly dropped: readonly ProposedLine[]
  readonly withheld: readonly WithheldNeed[]
  /** Ports it listened on that it does not need open. */
  readonly ports: readonly number[]
  readonly warnings: readonly string[]
  readonly proof: Proof
  readonly exitCode: number
  readonly runs: number
  /** The manifest with the lines; null if there are none. */
  readonly text: string | null
}

export interface LearnParts extends TrialParts {
  readonly loaded: LoadedPolicy
  /** The project's own manifest, or null. */
  readonly manifestText: string | null
  /** Asks whether to run with these grants open. */
  readonly consent: (lines: readonly ProposedLine[]) => Promise<boolean>
  readonly report: (line: string) => void
}

/** A command that fails at its first missing file shows one per run. */
const MOST_ROUNDS = 8

export async function learn(parts: LearnParts): Promise<LearnResult | { readonly denied: Decision }> {
  const session = new LearnRun(parts)
  return session.learn()
}

class LearnRun {
  readonly #parts: LearnParts
  readonly #places: TextPlaces
  readonly #needs = new Map<string, Need>()
  readonly #withheld = new Map<string, WithheldNeed>()
  readonly #warnings: string[] = []
  /** Answers about hosts during the runs. */
  readonly #answers = new Map<string, boolean>()
  #programs: ReadonlySet<string> = new Set()
  #ports: readonly number[] = []
  #leftOut = 0
  #runs = 0
  #restores = true

  constructor(parts: LearnParts) {
    this.#parts = parts
    const { loaded, machine, files, command } = parts
    this.#places = { loaded, machine, files, grantee: granteeOf(command, loaded) }
  }

  async learn(): Promise<LearnResult | { readonly denied: Decision }> {
    let ran = await this.#run([], true)
    if ('denied' in ran) return ran
    if (ran.observation.exitCode === 0 && !this.#wasOpened()) return this.#result([], [], 'nothing-needed', 0)
    let lines: readonly ProposedLine[] = []
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const proposal = this.#propose()
      const grown = proposal.lines.some((line) => !lines.some((known) => sameLine(known, line)))
      if (!grown)
        return this.#result(lines, [], lines.length === 0 ? 'untried' : 'still-fails', ran.observation.exitCode)
      lines = proposal.lines
      if (proposal.flooded || !(await this.#parts.consent(lines)))
        return this.#result(lines, [], 'untried', ran.observation.exitCode)
      // Start again from the original tree.
      this.#putBack(ran)
      ran = await this.#run(lines, true)
      if ('denied' in ran) return ran
      if (ran.observation.exitCode === 0) return this.#shrink(lines, ran)
    }
    return this.#result(lines, [], 'still-fails', ran.observation.exitCode)
  }

  /** Tries without each line from the same tree, and drops unneeded ones. */
  async #shrink(
    lines: readonly ProposedLine[],
    worked: TrialResult,
  ): Promise<LearnResult | { readonly denied: Decision }> {
    // A single line is needed: the confined run was the one without it.
    if (lines.length === 1 && !this.#wasOpened()) return this.#result(lines, [], 'proven', 0)
    if (!this.#restores || ('isHeld' in worked && !worked.isHeld) || !this.#putBack(worked)) {
      this.#warnings.push('its changes could not be undone, so it was not tried without each line')
      return this.#result(lines, [], 'works', 0)
    }
    let kept = lines
    for (const line of lines) {
      const without = kept.filter((one) => one !== line)
      this.#parts.report(`trying it without ${line.kind} ${line.value}`)
      const ran = await this.#run(without, false)
      if (!('denied' in ran) && ran.observation.exitCode === 0) kept = without
      if (!this.#putBack(ran)) {
        this.#warnings.push('the changes of a trial could not be undone')
        return this.#result(
          kept,
          lines.filter((one) => !kept.includes(one)),
          'works',
          0,
        )
      }
    }
    const last = await this.#run(kept, true)
    if ('denied' in last) return last
    const { exitCode } = last.observation
    const dropped = lines.filter((one) => !kept.includes(one))
    return this.#result(kept, dropped, exitCode === 0 ? 'proven' : 'still-fails', exitCode)
  }

  async #run(lines: readonly ProposedLine[], shown: boolean): Promise<TrialResult> {
    const { command, machine, files, output } = this.#parts
    const loaded =
      lines.length === 0
        ? this.#parts.loaded
        : await policyOfText(this.#textOf(lines), this.#parts.loaded, command, machine, files)
    this.#runs++
    const { askHost, askPort, ...closed } = this.#parts
    const asked = shown && askHost ? { askHost: this.#remembering(askHost), ...(askPort && { askPort }) } : {}
    const heard = shown && output ? tapOutput(output) : null
    const ran = await tryOnce(loaded, { ...closed, ...asked, output: heard?.stream ?? null })
    const said = (await heard?.text()) ?? ''
    if (!('denied' in ran) && shown) this.#observe(ran, loaded, said)
    return ran
  }

  #observe(
    { observation, isShown }: Exclude<TrialResult, { denied: Decision }>,
    loaded: LoadedPolicy,
    said: string,
  ): void {
    const { command, machine, files } = this.#parts
    const { needs, withheld, programs } = readNeeds(observation, { loaded, machine, files, isShown })
    const allowlist = loaded.sandbox.envAllowlist?.map(({ value }) => value) ?? null
    const spoken = needsInOutput(command, said, machine, allowlist)
    for (const one of spoken.withheld) this.#withheld.set(one.subject, one)
    for (const need of [...needs, ...spoken.needs]) this.#needs.set(`${need.kind} ${need.value}`, need)
    for (const one of withheld) this.#withheld.set(one.subject, one)
    this.#programs = new Set([...this.#programs, ...programs])
    this.#ports = [...new Set([...this.#ports, ...observation.ports])]
    this.#leftOut = Math.max(this.#leftOut, observation.leftOut)
  }

  #remembering(ask: NonNullable<LearnParts['askHost']>): NonNullable<LearnParts['askHost']> {
    return async (question) => {
      const answer = await ask(question)
      const { host, port } = question.target
      const value = port === 443 || port === 80 ? host : `${host}:${port}`
      if (answer !== null && !question.about) this.#answers.set(value, answer)
      return answer
    }
  }

  #wasOpened(): boolean {
    return [...this.#answers.values()].includes(true)
  }

  /** A no is final, and a yes is a need. */
  #applyAnswers(): void {
    for (const [value, agreed] of this.#answers) {
      if (agreed) this.#needs.set(`host ${value}`, { kind: 'host', value, evidence: 'you agreed to it' })
      else {
        this.#needs.delete(`host ${value}`)
        this.#withheld.set(value, { subject: value, why: 'you said no' })
      }
    }
  }

  #propose(): ReturnType<typeof propose> {
    const { command, loaded, machine } = this.#parts
    this.#applyAnswers()
    const proposal = propose({ needs: [...this.#needs.values()], programs: this.#programs }, this.#leftOut, {
      command,
      loaded,
      home: machine.home,
      isGrantable: (folder, how) => whyNotGranted(folder, how, loaded, machine) === null,
      registryHosts: (tool) => {
        const bundles = chosenBundles(loaded, [{ ...NO_GRANTS, tools: [tool] }])
        const found = readRegistries({ root: loaded.root, sandbox: { bundles } }, machine)
        return (found[tool] ?? []).map(({ host }) => host)
      },
    })
    for (const warning of proposal.warnings) if (!this.#warnings.includes(warning)) this.#warnings.push(warning)
    const { left } = withLines(this.#parts.manifestText, proposal.lines, this.#places)
    for (const { line, reason } of left) this.#withheld.set(line.value, { subject: line.value, why: reason })
    return { ...proposal, lines: proposal.lines.filter((line) => !left.some((one) => one.line === line)) }
  }

  #textOf(lines: readonly ProposedLine[]): string {
    return withLines(this.#parts.manifestText, lines, this.#places).text
  }

  #putBack(ran: TrialResult): boolean {
    if ('denied' in ran) return true
    const done = restoreTrial(ran.call, this.#parts.machine)
    this.#restores &&= done
    return done
  }

  #result(
    lines: readonly ProposedLine[],
    dropped: readonly ProposedLine[],
    proof: Proof,
    exitCode: number,
  ): LearnResult {
    return {
      lines,
      dropped,
      withheld: [...this.#withheld.values()],
      ports: this.#ports,
      warnings: this.#warnings,
      proof,
      exitCode,
      runs: this.#runs,
      text: lines.length === 0 ? null : this.#textOf(lines),
    }
  }
}

function sameLine(a: ProposedLine, b: ProposedLine): boolean {
  return a.kind === b.kind && a.value === b.value && a.wrapper === b.wrapper
}
