/** Registry data about packages, read once per session. */

import { messageOf } from '../../system/fault.ts'
import { checksumsOf, crateFile, cratesProtocol } from '../packages/crates.ts'
import { npmProtocol } from '../packages/npm.ts'
import { pypiProtocol } from '../packages/pypi.ts'
import {
  canonicalName,
  type Ecosystem,
  type PackageFacts,
  type PackageMemory,
  type Registry,
  type RegistryProtocol,
  type Release,
} from '../packages/release.ts'
import { ageProblem, NO_TIMES, type PackageRules } from '../packages/rules.ts'
import { timeOf } from '../packages/time-of.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { type FetchedDocument, fetchDocument } from './package-document.ts'
import { elsewhere, factsKey, fileKey, hrefOf, indexUrl, type PackageRequest } from './package-place.ts'
import type { Passage } from './passage.ts'

export const PROTOCOLS: Readonly<Record<Ecosystem, RegistryProtocol>> = {
  npm: npmProtocol,
  pypi: pypiProtocol,
  crates: cratesProtocol,
}

/** Reads registries, by the rules of the command that asks. */
export class PackageReader {
  readonly #rules: PackageRules
  readonly #memory: PackageMemory
  readonly #now: () => number

  constructor(rules: PackageRules, memory: PackageMemory, now: () => number) {
    this.#rules = rules
    this.#memory = memory
    this.#now = now
  }

  facts(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
  ): Promise<PackageFacts | EgressDenial> {
    const { facts: kept } = this.#memory
    const key = factsKey(registry, name)
    const known = kept.get(key)
    if (known) return known
    const reading = this.#readFacts(passage, request, registry, name)
    kept.set(key, reading)
    void reading.then((facts) => {
      if ('code' in facts) kept.delete(key)
      else this.remember(registry, facts)
    })
    return reading
  }

  async #readFacts(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
  ): Promise<PackageFacts | EgressDenial> {
    const { metadataPath, brief, accept } = PROTOCOLS[registry.ecosystem]
    const place = elsewhere(request, new URL(metadataPath(name), indexUrl(registry)))
    const short = brief === undefined ? null : await this.read(passage, place, registry, name, brief)
    return short !== null && this.suffices(short) ? short : this.read(passage, place, registry, name, accept)
  }

  /** The facts in the document at the place of a request, in this format. */
  async read(
    passage: Passage,
    place: PackageRequest,
    registry: Registry,
    name: string,
    accept: string,
  ): Promise<PackageFacts | EgressDenial> {
    const fetched = await fetchDocument(passage, place, accept)
    if ('refusal' in fetched) return fetched.refusal
    if (fetched.status !== 200) return unreadable(name, `it answered ${fetched.status}`)
    return this.factsOf(passage, place, registry, name, fetched)
  }

  /** Whether the facts judge every version: the short form does if nothing changed lately. */
  suffices(facts: PackageFacts | EgressDenial): boolean {
    if ('code' in facts) return false
    const isOld = (release: Release) => ageProblem(this.#rules, facts.name, release, this.#now()) === null
    return facts.isBrief !== true || facts.releases.every(isOld)
  }

  async factsOf(
    passage: Passage,
    request: PackageRequest,
    registry: Registry,
    name: string,
    fetched: FetchedDocument,
  ): Promise<PackageFacts | EgressDenial> {
    try {
      const facts = PROTOCOLS[registry.ecosystem].read(fetched.text, fetched.type, hrefOf(request.read), name)
      if (facts === null)
        return unreadable(
          name,
          `it (${fetched.type || 'of no type'}) does not say when versions were published. ${NO_TIMES}`,
        )
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

  /** A crate index gives file addresses elsewhere, and older ones lack publication times. */
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
    const undated = this.#rules.minimumAge !== null && facts.releases.some(({ published }) => published === null)
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

  remember(registry: Registry, facts: PackageFacts): void {
    this.#memory.facts.set(factsKey(registry, facts.name), Promise.resolve(facts))
    const owner = { ecosystem: registry.ecosystem, name: facts.name }
    for (const { file } of facts.releases) {
      const key = file === null ? null : fileKey(file)
      if (key !== null) this.#memory.files.set(key, owner)
    }
  }
}

function unreadable(name: string, why: string): EgressDenial {
  return { code: 'package-unreadable', message: `the registry’s answer about ${name} cannot be used: ${why}` }
}
