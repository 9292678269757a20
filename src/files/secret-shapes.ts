/** What counts as a secret by its name or its place, and which grants name one (O4). */

import { posix } from 'node:path'
import { isGlob, matchSegment, matchSegments } from './glob.ts'
import { coversPath, literalPrefix, type PathPattern, splitPath } from './path-pattern.ts'
import { type SecretPlace, secretPlaces } from './secret-places.ts'

export { type SecretPlace, secretPlaces } from './secret-places.ts'

/** Basenames of secrets in a project: `*` stands for any run of characters. */
export const secretShapes: readonly string[] = [
  '.env',
  '.env.*',
  '*.key',
  '*.pem',
  '*.seed',
  '*.pfx',
  '*.p12',
  '*.jks',
  '*.keystore',
  'id_rsa',
  'id_ed25519',
  'id_ecdsa',
  'id_dsa',
  '*_rsa',
  '*_ed25519',
  '.npmrc',
  '.pypirc',
  '.netrc',
  '.htpasswd',
  '*.env',
  '.env_*',
  '.env-*',
  '.pgpass',
  '.boto',
  '.git-credentials',
  'credentials.json',
]

/** Folders of a project that are secret as a whole. */
const SECRET_FOLDERS: ReadonlySet<string> = new Set(['.ssh', '.gnupg'])

/** Names that are secret in a folder of this name alone. */
const SECRET_BELOW: Readonly<Record<string, ReadonlySet<string>>> = { '.aws': new Set(['credentials']) }

/** True for a folder that is secret as a whole, by its name. */
export function isSecretFolder(name: string): boolean {
  return SECRET_FOLDERS.has(name.toLowerCase())
}

/** The shape of a name that is secret because of the folder it is in: `.aws/credentials`. */
export function shapeBelow(folder: string, name: string): string | null {
  const above = posix.basename(folder).toLowerCase()
  return SECRET_BELOW[above]?.has(name.toLowerCase()) ? `${above}/${name.toLowerCase()}` : null
}

/** What stands behind the name of an example: nobody writes a secret into it. */
const EXAMPLE = /^\.?env[._-](.*[._-])?(example|sample|template|dist|tmpl|tpl|schema)$|^(example|sample|template)\.env$/

/** What editors and people put behind or around the name of a copy. */
const COPIES: readonly RegExp[] = [
  /^(.+)~$/,
  /^(.+?)[._-](?:bak|old|orig|backup|save|saved|copy|prev)\d*$/,
  /^#(.+)#$/,
  /^\.(.+)\.sw[a-p]$/,
]

/** Which secret a path is: the shape or the place that says so. */
export interface Secret {
  /** The basename shape such as `*.key`, or the place such as `~/.ssh`. */
  readonly shape: string
  readonly what: string
  readonly kind: 'name' | 'place'
}

/** Tells the secret shape of a basename; built once from the built-in shapes and what the manifest denies. */
export type ShapeOf = (basename: string) => string | null

/**
 * Compiles basename shapes into one fast test. Extensions that the manifest denies for reading join as `*.ext`;
 * upper and lower case are one, because `Server.KEY` is a key on every system.
 */
export function compileShapes(denied: readonly string[] = []): ShapeOf {
  const exact = new Map<string, string>()
  const extensions = new Map<string, string>()
  const endings: [string, string][] = []
  const beginnings: [string, string][] = []
  const globs: string[] = []
  for (const shape of [...secretShapes, ...denied]) {
    const folded = shape.toLowerCase()
    if (!isGlob(folded)) exact.set(folded, shape)
    else if (/^\*\.[^.*?]+$/.test(folded)) extensions.set(folded.slice(2), shape)
    else if (/^\*[^*?]+$/.test(folded)) endings.push([folded.slice(1), shape])
    else if (/^[^*?]+\*$/.test(folded)) beginnings.push([folded.slice(0, -1), shape])
    else globs.push(folded)
  }
  const shapeOf = (name: string): string | null => {
    const dot = name.lastIndexOf('.')
    const known = exact.get(name) ?? (dot < 0 ? undefined : extensions.get(name.slice(dot + 1)))
    if (known !== undefined) return known
    for (const [ending, shape] of endings) if (name.endsWith(ending)) return shape
    for (const [beginning, shape] of beginnings) if (name.startsWith(beginning)) return shape
    for (const glob of globs) if (matchSegment(glob, name)) return glob
    return null
  }
  return (basename) => {
    const name = basename.toLowerCase()
    const shape = shapeOf(name)
    if (shape !== null) return name.includes('env') && EXAMPLE.test(name) && !denied.includes(shape) ? null : shape
    return MAYBE_COPY.test(name) ? copiedShape(name, shapeOf) : null
  }
}

/** Cheap to ask of every name of a tree. */
const MAYBE_COPY = /~$|#$|\.sw[a-p]$|(?:bak|old|orig|backup|saved?|copy|prev)\d*$/

function copiedShape(name: string, shapeOf: ShapeOf): string | null {
  for (const copy of COPIES) {
    const original = copy.exec(name)?.[1]
    const shape = original === undefined ? null : shapeOf(original)
    if (shape !== null) return shape
  }
  return null
}

let builtIn: ShapeOf | null = null

function builtInShapes(): ShapeOf {
  builtIn ??= compileShapes()
  return builtIn
}

/** The built-in shape that the basename of this path has, or null. */
export function secretShape(path: string): string | null {
  return builtInShapes()(posix.basename(path)) ?? shapeAbove(path)
}

/** The shape that a path has because of the folders above it. */
function shapeAbove(path: string): string | null {
  const segments = path.split('/')
  const folder = segments.slice(0, -1).find(isSecretFolder)
  return folder === undefined ? shapeBelow(posix.dirname(path), posix.basename(path)) : `${folder.toLowerCase()}/`
}

/** What of `[capabilities.deny.read] default_files` joins the masks: entries of the form `*.ext`. */
export function deniedShapes(files: readonly string[]): readonly string[] {
  return files.filter((file) => /^\*\.[^*?/]+$/.test(file))
}

/** The secret place that this path is, or is below of; null when there is none. */
export function secretPlace(path: string, home: string): SecretPlace | null {
  const segments = splitPath(path.toLowerCase())
  const homeSegments = splitPath(home.toLowerCase())
  const inHome = homeSegments.every((segment, index) => segments[index] === segment)
  const { anywhere, underHome } = places()
  return (inHome ? placeAmong(underHome, segments.slice(homeSegments.length)) : null) ?? placeAmong(anywhere, segments)
}

function placeAmong(places: PlacesByStart, segments: readonly string[]): SecretPlace | null {
  for (const { place, folded } of places.of.get(segments[0] ?? '') ?? places.rest) {
    if (segments.length >= folded.length && matchSegments(folded, segments.slice(0, folded.length))) return place
  }
  return null
}

/** Which secret a path is, by its place or else by its basename. */
export function secretOf(path: string, facts: { readonly home: string; readonly shapeOf?: ShapeOf }): Secret | null {
  const place = secretPlace(path, facts.home)
  if (place) return { shape: place.path, what: place.what, kind: 'place' }
  const shape = (facts.shapeOf ?? builtInShapes())(posix.basename(path)) ?? shapeAbove(path)
  return shape === null ? null : { shape, what: `a file of the shape ${shape}`, kind: 'name' }
}

/**
 * True when a grant names this secret. `*` and `**` never do, nor does a glob that only happens to match (`*.json` for
 * `.env.json`): the grant must write the basename out, or the part of it that makes it a secret (`*.key`, `.env.*`).
 * A secret place is named by a grant whose literal part is the place or something below it (`~/.ssh/known_hosts`).
 */
export function openedByGrant(path: string, grants: readonly PathPattern[], facts: GrantFacts): boolean {
  const secret = secretOf(path, facts)
  if (secret === null) return true
  const place = secret.shape.startsWith('~/') ? facts.home + secret.shape.slice(1) : secret.shape
  return grants.some((grant) => {
    if (!coversPath(grant, path)) return false
    return secret.kind === 'place' ? namesPlace(grant, path, place) : namesBasename(grant, path, secret.shape)
  })
}

/** What `openedByGrant` needs to know about the machine and the manifest. */
export interface GrantFacts {
  readonly home: string
  readonly shapeOf?: ShapeOf
}

/**
 * True when PEM text holds certificates and nothing else, so that it is not a secret. Any block of another kind, a
 * mention of a private key, or no certificate at all keeps it one.
 */
export function holdsOnlyCertificates(text: string): boolean {
  if (/PRIVATE/i.test(text)) return false
  const labels = [...text.matchAll(/-----BEGIN ([^-\r\n]*)-----/g)].map((match) => match[1])
  return labels.length > 0 && labels.every((label) => label !== undefined && CERTIFICATE_LABELS.has(label))
}

const CERTIFICATE_LABELS: ReadonlySet<string> = new Set([
  'CERTIFICATE',
  'TRUSTED CERTIFICATE',
  'X509 CERTIFICATE',
  'X509 CRL',
])

interface FoldedPlace {
  readonly place: SecretPlace
  readonly folded: readonly string[]
}

/** Places by their first segment, because every path of a project is asked about; each list has those that begin with a pattern, too. */
interface PlacesByStart {
  readonly of: ReadonlyMap<string, readonly FoldedPlace[]>
  readonly rest: readonly FoldedPlace[]
}

let foldedPlaces: { readonly anywhere: PlacesByStart; readonly underHome: PlacesByStart } | null = null

/** The places prepared for comparing; made on first use, because not every start asks. */
function places(): NonNullable<typeof foldedPlaces> {
  foldedPlaces ??= {
    anywhere: byStart(secretPlaces.filter((place) => !place.path.startsWith('~/')).map((place) => [place, place.path])),
    underHome: byStart(
      secretPlaces.filter((place) => place.path.startsWith('~/')).map((place) => [place, place.path.slice(1)]),
    ),
  }
  return foldedPlaces
}

function byStart(rows: readonly (readonly [place: SecretPlace, path: string])[]): PlacesByStart {
  const of = new Map<string, FoldedPlace[]>()
  const rest: FoldedPlace[] = []
  for (const [place, path] of rows) {
    const row = { place, folded: splitPath(path.toLowerCase()) }
    const start = row.folded[0]!
    if (isGlob(start)) {
      rest.push(row)
      for (const list of of.values()) list.push(row)
      continue
    }
    const list = of.get(start) ?? [...rest]
    list.push(row)
    of.set(start, list)
  }
  return { of, rest }
}

function namesPlace(grant: PathPattern, path: string, place: string): boolean {
  if (grant.absolute === path) return true
  if (isGlob(place)) return namesBasename(grant, path, posix.basename(place))
  const prefix = literalPrefix(grant)
  return prefix === place || prefix.startsWith(`${place}/`)
}

function namesBasename(grant: PathPattern, path: string, shape: string): boolean {
  const basename = posix.basename(path)
  const essence = shape.toLowerCase().replace(/^\*|\.?\*$/g, '')
  const names = grant.files ?? [grant.segments.at(-1) ?? '**']
  return names.some((name) => {
    if (!isGlob(name)) return name === basename
    return name.toLowerCase().includes(essence) && matchSegment(name, basename)
  })
}
