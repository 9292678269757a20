/** The package gate: versions that are too young are left out of what a registry offers, and a file is fetched only of a version that was judged. */

import { messageOf } from '../../system/fault.ts'
import { checksumsOf, crateFile, cratesProtocol } from '../packages/crates.ts'
import type { PackageMemory } from '../packages/memory.ts'
import { npmProtocol } from '../packages/npm.ts'
import { pypiProtocol } from '../packages/pypi.ts'
import {
  canonicalName,
  compareVersions,
  type Ecosystem,
  type PackageFacts,
  type Registry,
  type RegistryProtocol,
  type Release,
} from '../packages/release.ts'
import { ageProblem, concernsOf, isTrusted, isTrustedPlace, type PackageRules } from '../packages/rules.ts'
import { timeOf } from '../packages/time-of.ts'
import { allowed } from '../route/event.ts'
import type { AskHost } from '../route/gate.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import type { RequestTarget } from '../wire/request-head.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import { type FetchedDocument, fetchDocument } from './package-document.ts'
import { type Passage, recordRefused, startRecord, type Tunnel } from './passage.ts'

const PROTOCOLS: Readonly<Record<Ecosystem, RegistryProtocol>> = {
  npm: npmProtocol,
  pypi: pypiProtocol,
  crates: cratesProtocol,
}

/** A whole answer, instead of the registry's. */
export interface PackageAnswer {
  readonly status: number
  readonly headers: readonly string[]
  readonly body: string
}

export interface PackageRequest {
  readonly read: RequestTarget
  readonly method: string
  readonly rawHeaders: readonly string[]
  readonly tunnel: Tunnel | null
}

export type PackageVerdict = { readonly refusal: EgressDenial } | { readonly answer: PackageAnswer } | null

export interface PackageGateParts {
  readonly rules: PackageRules
  readonly memory: PackageMemory
  readonly now: () => number
  /** Names in the lock files that are committed; null where there are none. */
  readonly committed: (ecosystem: Ecosystem) => ReadonlySet<string> | null
  readonly ask: AskHost | undefined
  readonly command: string
  readonly signal: AbortSignal
}

export class PackageGate {
  readonly #parts: PackageGateParts
  readonly #answers = new Map<string, Promise<boolean | null>>()
  readonly #told = new Set<string>()

  constructor(parts: PackageGateParts) {
    this.#parts = parts
  }

  /** Null: the request goes on as it is. */
  async judge(passage: Passage, request: PackageRequest): Promise<PackageVerdict> {
    const { read, method } = request
    if (method !== 'GET' && method !== 'HEAD') return null
    const { rules, memory } = this.#parts
    const place = placeOf(read.target, read.path)
    if (place.path !== null && isTrustedPlace(rules, hostOf(place), place.path)) return null
    const own = registryOf(rules.registries, place)
    const known = place.path === null ? undefined : memory.files.get(keyOf(place))
    if (known) return this.#file(passage, request, known.ecosystem, known.name, own)
    if (own !== null) {
      if (place.path === null) return { refusal: unlisted(read) }
      const below = place.path.slice(basePath(own, place).length)
      const spot = PROTOCOLS[own.ecosystem].spot(below)
      if (spot === null) return { refusal: unlisted(read) }
      if (spot.kind === 'metadata') return this.#metadata(passage, request, own, spot.name)
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

  /** A file that was admitted is served from elsewhere. */
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
    name: string,
  ): Promise<PackageVerdict> {
    const { rules, now } = this.#parts
    if (isTrusted(rules, name)) return null
    const protocol = PROTOCOLS[registry.ecosystem]
    const fetched = await fetchDocument(passage, request, protocol.accept)
    if ('refusal' in fetched) return fetched
    if (fetched.status !== 200) return { answer: passedOn(fetched) }
    const facts = await this.#factsOf(passage, request, registry, name, fetched)
    if ('code' in facts) return { refusal: facts }
    this.#remember(registry, facts)
    const young = facts.releases.flatMap((release) => ageProblem(rules, name, release, now()) ?? [])
    const left = new Set(
      facts.releases
        .filter((release) => ageProblem(rules, name, release, now()) === null)
        .map((one) => idOf(registry, one)),
    )
    this.#tell(passage, request.read.target, facts, registry, left, young)
    const accept = headerOf(request.rawHeaders, 'accept')
    const { type, body } = protocol.render(
      fetched.text,
      (release) => left.has(idOf(registry, release)),
      accept,
      hrefOf(request.read),
    )
    const headers = [
      'Content-Type',
      type,
      'Cache-Control',
      'max-age=60',
      'Content-Length',
      String(Buffer.byteLength(body)),
    ]
    return { answer: { status: 200, headers, body } }
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
      const facts = await this.#facts(passage, request, registry, name)
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

  /** A version that was published since its registry was read. */
  async #newer(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
    own: Registry | null,
  ): Promise<Release | null> {
    const key = factsKey(registry, name)
    if (this.#told.has(key)) return null
    this.#told.add(key)
    this.#parts.memory.facts.delete(key)
    const facts = await this.#facts(passage, request, registry, name)
    return 'code' in facts ? null : releaseAt(facts, request.read, own !== null)
  }

  async #settle(request: PackageRequest, concerns: PackageVerdicts): Promise<EgressDenial | null> {
    for (const { key, verdict, message } of concerns) {
      const agreed = verdict === 'ask' && (await this.#answerTo(key, message, request.read.target)) === true
      if (!agreed) {
        const why = verdict === 'deny' ? '[packages] refuses it' : 'nobody agreed to it'
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

  #facts(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
  ): Promise<PackageFacts | EgressDenial> {
    const { facts: kept } = this.#parts.memory
    const key = factsKey(registry, name)
    const known = kept.get(key)
    if (known) return known
    const reading = this.#readFacts(passage, request, registry, name)
    kept.set(key, reading)
    void reading.then((facts) => {
      if ('code' in facts) kept.delete(key)
      else this.#remember(registry, facts)
    })
    return reading
  }

  async #readFacts(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
  ): Promise<PackageFacts | EgressDenial> {
    const path = PROTOCOLS[registry.ecosystem].metadataPath(name)
    const url = new URL(path, indexUrl(registry))
    const fetched = await fetchDocument(passage, elsewhere(request, url), PROTOCOLS[registry.ecosystem].accept)
    if ('refusal' in fetched) return fetched.refusal
    if (fetched.status !== 200) return unreadable(name, `it answered ${fetched.status}`)
    return this.#factsOf(passage, elsewhere(request, url), registry, name, fetched)
  }

  async #factsOf(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
    fetched: FetchedDocument,
  ): Promise<PackageFacts | EgressDenial> {
    try {
      const facts = PROTOCOLS[registry.ecosystem].read(fetched.text, fetched.type, hrefOf(request.read), name)
      if (facts === null)
        return unreadable(name, `its answer (${fetched.type || 'of no type'}) has no times of versions`)
      const canonical = canonicalName(registry.ecosystem, name)
      if (canonicalName(registry.ecosystem, facts.name) !== canonical)
        return unreadable(name, `it answered for ${facts.name}`)
      return registry.ecosystem === 'crates'
        ? await this.#crateFacts(passage, request, registry, facts, fetched.text)
        : facts
    } catch (error) {
      return unreadable(name, messageOf(error))
    }
  }

  /** An index of crates says elsewhere where files are, and an older one when versions were published. */
  async #crateFacts(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    facts: PackageFacts,
    text: string,
  ): Promise<PackageFacts | EgressDenial> {
    const index = registry.subdomains ? new URL('/', hrefOf(request.read)) : new URL(registry.url)
    const config = await this.#document(passage, request, new URL('config.json', index))
    if (config === null || typeof config.dl !== 'string') return unreadable(facts.name, 'its config.json names no dl')
    const { dl, api } = config
    const undated = this.#parts.rules.minimumAge !== null && facts.releases.some(({ published }) => published === null)
    const url = typeof api === 'string' && URL.canParse(api) ? new URL(`/api/v1/crates/${facts.name}`, api) : null
    const more = undated && url !== null ? await this.#document(passage, request, url) : null
    const times = new Map<unknown, unknown>(
      (Array.isArray(more?.versions) ? (more.versions as Record<string, unknown>[]) : []).map((one) => [
        one.num,
        one.created_at,
      ]),
    )
    const checksums = checksumsOf(text)
    return {
      name: facts.name,
      releases: facts.releases.map((release) => ({
        ...release,
        published: release.published ?? timeOf(times.get(release.version)),
        file: crateFile(dl, facts.name, release.version, checksums.get(release.version) ?? ''),
      })),
    }
  }

  async #document(
    passage: Passage,
    request: PackageRequest,
    url: URL,
  ): Promise<Readonly<Record<string, unknown>> | null> {
    const fetched = await fetchDocument(passage, elsewhere(request, url), 'application/json')
    if ('refusal' in fetched || fetched.status !== 200) return null
    return JSON.parse(fetched.text) as Readonly<Record<string, unknown>>
  }

  #remember(registry: Registry, facts: PackageFacts): void {
    const { memory } = this.#parts
    memory.facts.set(factsKey(registry, facts.name), Promise.resolve(facts))
    for (const { file } of facts.releases)
      if (file !== null && URL.canParse(file))
        memory.files.set(urlKey(new URL(file)), { ecosystem: registry.ecosystem, name: facts.name })
  }

  /** Says which versions were left out, where one of them is newer than all that was offered. */
  #tell(
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
    if (offered === all || all === null || this.#told.has(facts.name)) return
    this.#told.add(facts.name)
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
    if (this.#told.has(message)) return
    this.#told.add(message)
    const event = allowed({ kind: 'http', target, command: passage.command, message })
    passage.onEvent({ ...event, code: 'package-withdrawn' })
  }
}

type PackageVerdicts = ReturnType<typeof concernsOf>

const ECOSYSTEMS: readonly Ecosystem[] = ['npm', 'pypi', 'crates']
const MAX_QUESTIONS = 64

interface Place {
  readonly host: string
  readonly port: number
  /** Decoded, without the query; null where it can be read in more than one way. */
  readonly path: string | null
}

function placeOf({ host, port }: Target, path: string): Place {
  return { host, port, path: plainPath(path) }
}

function plainPath(path: string): string | null {
  try {
    const plain = decodeURIComponent(path.replace(/[?#].*$/s, ''))
    return /[\\;%?#]|\/\/|(?:^|\/)\.{1,2}(?:\/|$)|[^\x20-\x7e]/.test(plain) ? null : plain
  } catch {
    return null
  }
}

/** Without the port where it is one of the web's. */
const hostOf = ({ host, port }: Place): string => (port === 80 || port === 443 ? host : `${host}:${port}`)

const keyOf = ({ host, port, path }: Place): string => `${host}:${port === 80 ? 443 : port}${path}`

function urlKey(url: URL): string {
  const port = url.port === '' ? 443 : Number(url.port)
  return keyOf({ host: url.hostname.replace(/^\[|\]$/g, ''), port, path: plainPath(url.pathname) })
}

/** The registry that a place belongs to: the one with the longest path, of several. */
function registryOf(registries: readonly Registry[], place: Place): Registry | null {
  const found = registries.filter(
    (registry) => place.path?.startsWith(basePath(registry, place)) ?? isHost(registry, place),
  )
  return found.toSorted((a, b) => a.url.length - b.url.length).at(-1) ?? null
}

/** The path of the registry on that host; one that nothing starts with where it is not there. */
function basePath(registry: Registry, place: Place): string {
  if (!isHost(registry, place)) return '\0'
  const url = new URL(registry.url)
  return registry.subdomains && place.host !== url.hostname ? '/' : plainPath(url.pathname)!
}

function isHost({ url, subdomains }: Registry, { host, port }: Place): boolean {
  const own = new URL(url)
  const ports = own.port === '' ? [80, 443] : [Number(own.port)]
  return ports.includes(port) && (host === own.hostname || (subdomains && host.endsWith(`.${own.hostname}`)))
}

/** Where the index is of a registry that serves it from a name below its own. */
function indexUrl({ ecosystem, url, subdomains }: Registry): URL {
  const index = new URL(url)
  if (ecosystem === 'crates' && subdomains) index.hostname = `index.${index.hostname}`
  return index
}

function releaseAt({ releases }: PackageFacts, { target, path }: RequestTarget, isOwn: boolean): Release | null {
  const place = placeOf(target, path)
  const wanted = place.path?.replace(/\.metadata$/, '') ?? null
  if (wanted === null) return null
  const key = keyOf({ ...place, path: wanted })
  const base = wanted.slice(wanted.lastIndexOf('/') + 1)
  return (
    releases.find(({ file }) => file !== null && urlKey(new URL(file)) === key) ??
    // A mirror serves the files below its own address, and names them as the public one does.
    (isOwn && base !== 'download' ? releases.find(({ file }) => file?.endsWith(`/${base}`)) : undefined) ??
    null
  )
}

/** A file of Python is published by itself; elsewhere a version is one file. */
function idOf({ ecosystem }: Registry, { version, file }: Release): string {
  return ecosystem === 'pypi' ? (file ?? version) : version
}

function factsKey({ ecosystem, url }: Registry, name: string): string {
  return `${url} ${canonicalName(ecosystem, name)}`
}

function hrefOf({ target, secure, path }: RequestTarget): string {
  return `${secure ? 'https' : 'http'}://${authorityOf(target, secure ? 443 : 80)}${path}`
}

/** A request that Cordon makes itself; what the client sent to prove who it is goes to the same host alone. */
function elsewhere({ read, rawHeaders, tunnel }: PackageRequest, url: URL): PackageRequest {
  const secure = url.protocol === 'https:'
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = url.port === '' ? (secure ? 443 : 80) : Number(url.port)
  const kind = host.includes(':') ? 'ipv6' : /^[\d.]+$/.test(host) ? 'ipv4' : 'name'
  const target: Target = { host, port, kind }
  const same = host === read.target.host && port === read.target.port
  return {
    read: { target, secure, path: `${url.pathname}${url.search}` },
    method: 'GET',
    rawHeaders: same ? rawHeaders : [],
    tunnel: same ? tunnel : null,
  }
}

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

function unreadable(name: string, why: string): EgressDenial {
  return { code: 'package-unreadable', message: `the registry was asked about ${name}, and ${why}` }
}
