/** What a registry says of a package: its releases, and where their files are. PURE. */

/** The protocols of registries that are judged. */
export type Ecosystem = 'npm' | 'pypi' | 'crates'

/** A registry as it was signed; its URL ends with a slash. */
export interface Registry {
  readonly ecosystem: Ecosystem
  readonly url: string
  /** Index and files are served from names below its host too. */
  readonly subdomains: boolean
}

/** One file that can be installed. */
export interface Release {
  readonly version: string
  /** Where it is, absolute; null where the registry does not say. */
  readonly file: string | null
  /** In milliseconds; null where the registry does not say, and then it counts as published just now. */
  readonly published: number | null
  /** Installing it runs code of the package. */
  readonly scripts: boolean
  readonly withdrawn: string | null
  readonly provenance: boolean
}

export interface PackageFacts {
  readonly name: string
  readonly releases: readonly Release[]
}

/** What a request to a registry is about. */
export type Spot =
  | { readonly kind: 'metadata'; readonly name: string }
  | { readonly kind: 'file'; readonly name: string }
  /** Searches, audits, publishing, the list of names: nothing that is installed. */
  | { readonly kind: 'other' }

/** How a registry of one ecosystem is read. */
export interface RegistryProtocol {
  /** What a path below the URL of a registry is about; null for one that cannot be known. */
  spot(path: string): Spot | null
  /** The package that a file anywhere is a release of, by its decoded path; null where it is no such file. `wide`: also by endings that other files have. */
  nameOfFile(path: string, wide: boolean): string | null
  /** Where the metadata of a package is, relative to the URL of the registry. */
  metadataPath(name: string): string
  readonly accept: string
  /** The facts in a metadata document; throws or is null where it is not. `url`: where it came from. */
  read(text: string, type: string, url: string, name: string): PackageFacts | null
  /** The document with these releases alone, as the client asked for it. */
  render(text: string, keeps: (release: Release) => boolean, accept: string, url: string): Document
}

export interface Document {
  readonly type: string
  readonly body: string
}

/** The name under which spellings of one package are the same. */
export function canonicalName(ecosystem: Ecosystem, name: string): string {
  if (ecosystem === 'npm') return name
  return name.toLowerCase().replace(/[-_.]+/g, ecosystem === 'crates' ? '_' : '-')
}

/** Orders versions by their numbers; one with a pre-release comes before the same without. */
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
