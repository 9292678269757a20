/**
 * The package gate: removes too young versions from registry documents, and fetches only files of
 * judged versions.
 */

import {
  compareVersions,
  type Ecosystem,
  type PackageFacts,
  type PackageMemory,
  type Registry,
  type Release,
} from '../packages/release.ts'
import { ageProblem, concernsOf, isTrusted, isTrustedPlace, type PackageRules } from '../packages/rules.ts'
import { allowed } from '../route/event.ts'
import type { AskHost } from '../route/gate.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import type { RequestTarget } from '../wire/request-head.ts'
import type { Target } from '../wire/target.ts'
import { type FetchedDocument, fetchDocument } from './package-document.ts'
import { PackageReader, PROTOCOLS } from './package-facts.ts'
import {
  basePath,
  elsewhere,
  factsKey,
  hostOf,
  hrefOf,
  idOf,
  indexUrl,
  keyOf,
  type PackageRequest,
  placeOf,
  registryOf,
  releaseAt,
  urlKey,
} from './package-place.ts'
import { type Passage, recordRefused, startRecord } from './passage.ts'

export type { PackageRequest } from './package-place.ts'

/** A whole answer instead of the registry's. */
export interface PackageAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
}

export type PackageVerdict = { readonly refusal: EgressDenial } | { readonly answer: PackageAnswer } | null

export interface PackageGateParts {
  readonly rules: PackageRules
  readonly memory: PackageMemory
  readonly now: () => number
  /** Names in committed lock files; null without any. */
  readonly committed: (ecosystem: Ecosystem) => ReadonlySet<string> | null
  readonly ask: AskHost | undefined
  readonly command: string
  readonly signal: AbortSignal
}

export class PackageGate {
  readonly #parts: PackageGateParts
  readonly #answers = new Map<string, Promise<boolean | null>>()
  readonly #reported = new Set<string>()
  readonly #reader: PackageReader

  constructor(parts: PackageGateParts) {
    this.#parts = parts
    this.#reader = new PackageReader(parts.rules, parts.memory, parts.now)
  }

  /** Null: the request continues unchanged. */
  async judge(passage: Passage, request: PackageRequest): Promise<PackageVerdict> {
    const { read, method } = request
    if (method !== 'GET' && method !== 'HEAD') return null
    const { rules, memory } = this.#parts
    const place = placeOf(read.target, read.path)
    const scheme = read.secure ? 'https' : 'http'
    if (place.path !== null && isTrustedPlace(rules, `${scheme}://${hostOf(place)}${place.path}`)) return null
    const own = registryOf(rules.registries, place)
    const known = place.path === null ? undefined : memory.files.get(keyOf(place))
    if (known) return this.#file(passage, request, known.ecosystem, known.name, own)
    if (own !== null) {
      if (place.path === null) return { refusal: unlisted(read) }
      const below = place.path.slice(basePath(own, place).length)
      const spot = PROTOCOLS[own.ecosystem].spot(below)
      if (spot === null) return { refusal: unlisted(read) }
      if (spot.kind === 'metadata') return this.#metadata(passage, request, own, spot)
      if (spot.kind === 'file') return this.#file(passage, request, own.ecosystem, spot.name, own)
    }
    for (const ecosystem of ECOSYSTEMS) {
      const isManager = rules.managers.includes(ecosystem)
      const name = PROTOCOLS[ecosystem].nameOfFile(place.path ?? read.path, isManager)
      if (name === null) continue
      if (name === '' || place.path === null) return { refusal: unlisted(read) }
      return this.#file(passage, request, ecosystem, name, null)
    }
    return null
  }

  /** An admitted file is served from another address. */
  redirected(read: RequestTarget, location: string): void {
    const from = placeOf(read.target, read.path)
    const known = from.path === null ? undefined : this.#parts.memory.files.get(keyOf(from))
    if (known && URL.canParse(location, hrefOf(read)))
      this.#parts.memory.files.set(urlKey(new URL(location, hrefOf(read))), known)
  }

  async #metadata(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    { name, version }: { readonly name: string; readonly version?: string },
  ): Promise<PackageVerdict> {
    const { rules, now } = this.#parts
    if (isTrusted(rules, name)) return null
    const protocol = PROTOCOLS[registry.ecosystem]
    const accept = headerOf(request.rawHeaders, 'accept')
    const { brief } = protocol
    const isWhole = version === undefined
    const form = isWhole && brief && accept.includes(brief.split(';', 1)[0]!) ? brief : protocol.accept
    // What one version or tag is, is read from the document of all.
    const place = isWhole ? request : elsewhere(request, new URL(protocol.metadataPath(name), indexUrl(registry)))
    const fetched = await fetchDocument(passage, place, form)
    if ('refusal' in fetched) return fetched
    if (fetched.status !== 200) return { answer: passedOn(fetched) }
    const first = await this.#reader.factsOf(passage, place, registry, name, fetched)
    const facts =
      'code' in first || this.#reader.suffices(first)
        ? first
        : await this.#reader.read(passage, place, registry, name, protocol.accept)
    if ('code' in facts) return { refusal: facts }
    this.#reader.remember(registry, facts)
    const young = facts.releases.flatMap((release) => ageProblem(rules, name, release, now()) ?? [])
    const left = new Set(
      facts.releases
        .filter((release) => ageProblem(rules, name, release, now()) === null)
        .map((one) => idOf(registry, one)),
    )
    this.#reportOmitted(passage, request.read.target, facts, registry, left, young)
    const document = { type: fetched.type, body: fetched.text }
    // INVARIANT: only the document that the facts were read from goes on whole.
    const isWholeGood = protocol.passesWhole && facts === first && left.size === facts.releases.length
    const rendered = isWholeGood
      ? document
      : protocol.render(document, (release) => left.has(idOf(registry, release)), accept, hrefOf(place.read))
    const part = isWhole ? rendered.body : (protocol.pick?.(rendered.body, version) ?? null)
    const { type, body } = { ...rendered, body: part ?? '"version not found"' }
    const headers = [
      'Content-Type',
      type,
      'Cache-Control',
      'max-age=60',
      'Content-Length',
      String(Buffer.byteLength(body)),
    ]
    return { answer: { status: part === null ? 404 : 200, headers, body } }
  }

  async #file(
    passage: Passage,
    request: PackageRequest,
    ecosystem: Ecosystem,
    name: string,
    own: Registry | null,
  ): Promise<PackageVerdict> {
    const { rules, now, committed } = this.#parts
    if (isTrusted(rules, name)) return null
    const registries = own === null ? rules.registries.filter((one) => one.ecosystem === ecosystem) : [own]
    let problem: EgressDenial | null = null
    for (const registry of registries) {
      const facts = await this.#reader.facts(passage, request, registry, name)
      if ('code' in facts) {
        problem ??= facts
        continue
      }
      const release =
        releaseAt(facts, request.read, own !== null) ?? (await this.#newer(passage, request, registry, name, own))
      if (release === null) continue
      const age = ageProblem(rules, name, release, now())
      if (age !== null) return { refusal: age }
      const concerns = concernsOf(rules, ecosystem, name, release, committed(ecosystem))
      const refusal = await this.#settle(request, concerns)
      if (refusal !== null) return { refusal }
      if (release.withdrawn !== null && !request.read.path.endsWith('.metadata'))
        this.#note(passage, request.read.target, `${name} ${release.version} is ${release.withdrawn}`)
      this.#parts.memory.files.set(keyOf(placeOf(request.read.target, request.read.path)), { ecosystem, name })
      return null
    }
    return { refusal: problem ?? unlisted(request.read) }
  }

  /** A version that was published after the registry was read. */
  async #newer(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
    own: Registry | null,
  ): Promise<Release | null> {
    const key = factsKey(registry, name)
    if (this.#reported.has(key)) return null
    this.#reported.add(key)
    this.#parts.memory.facts.delete(key)
    const facts = await this.#reader.facts(passage, request, registry, name)
    return 'code' in facts ? null : releaseAt(facts, request.read, own !== null)
  }

  async #settle(request: PackageRequest, concerns: PackageVerdicts): Promise<EgressDenial | null> {
    for (const { key, verdict, message } of concerns) {
      const agreed = verdict === 'ask' && (await this.#answerTo(key, message, request.read.target)) === true
      if (!agreed) {
        const why = verdict === 'deny' ? '[packages] refuses it' : 'nobody approved it'
        return {
          code: 'package-refused',
          message: `${message} ${why}; to trust the name, list it under trusted in [packages]`,
        }
      }
    }
    return null
  }

  #answerTo(key: string, message: string, target: Target): Promise<boolean | null> {
    const { ask, command, signal } = this.#parts
    const known = this.#answers.get(key)
    if (known) return known
    if (!ask || this.#answers.size >= MAX_QUESTIONS) return Promise.resolve(false)
    const judgement = { verdict: 'deny', code: 'host-unlisted', message, matched: null } as const
    const about = { code: 'package', subject: key, message } as const
    const answer = ask({ command, target, judgement, signal, about }).catch(() => false)
    this.#answers.set(key, answer)
    return answer
  }

  /** Reports omitted versions that are newer than all offered ones. */
  #reportOmitted(
    passage: Passage,
    target: Target,
    facts: PackageFacts,
    registry: Registry,
    left: ReadonlySet<string>,
    young: readonly EgressDenial[],
  ): void {
    if (young.length === 0) return
    const [offered, all] = [facts.releases.filter((one) => left.has(idOf(registry, one))), facts.releases].map(
      (releases) =>
        releases
          .map(({ version }) => version)
          .toSorted(compareVersions)
          .at(-1) ?? null,
    )
    if (offered === all || all === null || this.#reported.has(facts.name)) return
    this.#reported.add(facts.name)
    const newest = facts.releases.find(
      ({ version, ...one }) => version === all && !left.has(idOf(registry, { version, ...one })),
    )
    const problem = newest && ageProblem(this.#parts.rules, facts.name, newest, this.#parts.now())
    const instead = offered === null ? 'no version is old enough' : `${offered} is the newest that is offered`
    if (problem) this.#deny(passage, target, { ...problem, message: `${problem.message}: ${instead}` })
  }

  #deny(passage: Passage, target: Target, refusal: EgressDenial): void {
    recordRefused(passage, startRecord(passage, { kind: 'http', target }), refusal)
  }

  #note(passage: Passage, target: Target, message: string): void {
    if (this.#reported.has(message)) return
    this.#reported.add(message)
    const event = allowed({ kind: 'http', target, command: passage.command, message })
    passage.onEvent({ ...event, code: 'package-withdrawn' })
  }
}

type PackageVerdicts = ReturnType<typeof concernsOf>

const ECOSYSTEMS: readonly Ecosystem[] = ['npm', 'pypi', 'crates']
const MAX_QUESTIONS = 64

function headerOf(rawHeaders: readonly string[], name: string): string {
  const at = rawHeaders.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name)
  return at < 0 ? '' : rawHeaders[at + 1]!
}

function passedOn({ status, type, text, location }: FetchedDocument): PackageAnswer {
  const headers = ['Content-Length', String(Buffer.byteLength(text))]
  if (type !== '') headers.push('Content-Type', type)
  if (location !== null) headers.push('Location', location)
  return { status, headers, body: text }
}

function unlisted({ path }: RequestTarget): EgressDenial {
  const file = path.replace(/\?.*$/s, '').slice(0, 200)
  return {
    code: 'package-unlisted',
    message: `${file} is a package that no signed registry lists, so its age is not known; trusted in [packages] takes its address`,
  }
}
