/** The registry's data about a package: its releases and their files. PURE. */

import type { EgressDenial } from '../wire/refusal.ts'
/** The registry protocols that are judged. */
export type Ecosystem = 'npm' | 'pypi' | 'crates'

/** A signed registry; its URL ends with a slash. */
export interface Registry {
  readonly ecosystem: Ecosystem
  readonly url: string
  /** Index and files may be on subdomains of its host. */
  readonly subdomains: boolean
}

/** One installable file. */
export interface Release {
  readonly version: string
  /** Its absolute address; null if the registry does not give it. */
  readonly file: string | null
  /**
   * In milliseconds; null if the registry does not give it, and then it counts as just published.
   */
  readonly published: number | null
  /** Installing it runs code of the package. */
  readonly scripts: boolean
  readonly withdrawn: string | null
  readonly provenance: boolean
}

export interface PackageFacts {
  readonly name: string
  readonly releases: readonly Release[]
  /**
   * From a short form without times: `published` is when the package last changed, and a version
   * may be older.
   */
  readonly isBrief?: true
}

/** The subject of a registry request. */
export type Spot =
  | { readonly kind: 'metadata'; readonly name: string; readonly version?: string }
  | { readonly kind: 'file'; readonly name: string }
  /** Searches, audits, publishing, the list of names: nothing is installed. */
  | { readonly kind: 'other' }

/** Reads a registry of one ecosystem. */
export interface RegistryProtocol {
  /** The subject of a path below the registry's URL; null if unclear. */
  spot(path: string): Spot | null
  /**
   * The package of a release file anywhere, by its decoded path; null for other files. `wide` also
   * accepts ambiguous file endings.
   */
  nameOfFile(path: string, wide: boolean): string | null
  /** The path of a package's metadata, relative to the registry's URL. */
  metadataPath(name: string): string
  /** The document with publication times. */
  readonly accept: string
  /** A shorter one that says when the package last changed. */
  readonly brief?: string
  /**
   * The facts in a metadata document; throws or returns null for any other text. `url`: its
   * address.
   */
  read(text: string, type: string, url: string, name: string): PackageFacts | null
  /** The document with only these releases, in the format that the client requested. */
  render(fetched: Document, keeps: (release: Release) => boolean, accept: string, url: string): Document
  /** A document of which nothing was removed is passed on as it came, in the format that was fetched. */
  readonly passesWhole?: true
  /** The part of a rendered document about one version or tag; null if it is not offered. */
  pick?(body: string, version: string): string | null
}

export interface Document {
  readonly type: string
  readonly body: string
}

/** The name that all spellings of a package share. */
export function canonicalName(ecosystem: Ecosystem, name: string): string {
  if (ecosystem === 'npm') return name
  return name.toLowerCase().replace(/[-_.]+/g, ecosystem === 'crates' ? '_' : '-')
}

/** Sorts versions by their numbers; a pre-release comes before its release. */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [numbersOf(a), numbersOf(b)]
  for (let at = 0; at < Math.max(left.length, right.length); at++) {
    const difference = (left[at] ?? 0) - (right[at] ?? 0)
    if (difference !== 0) return difference
  }
  return Number(isPreRelease(b)) - Number(isPreRelease(a))
}

export function isPreRelease(version: string): boolean {
  return /^[^+]*?(?:-|\d(?:a|b|rc|\.dev)\d)/.test(version)
}

function numbersOf(version: string): number[] {
  return version
    .split(/[-+]/, 1)[0]!
    .split('.')
    .map((part) => Number.parseInt(part, 10) || 0)
}

export class PackageMemory {
  readonly facts: Map<string, Promise<PackageFacts | EgressDenial>> = new Map()
  /** Files by host and path, wherever registries place them. */
  readonly files: Map<string, { readonly ecosystem: Ecosystem; readonly name: string }> = new Map()
}
