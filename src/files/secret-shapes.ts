/** Secrets by name or place, and the grants that name one (O4). */

import { posix } from 'node:path'
import { isGlob, matchSegment, matchSegments, words } from './glob.ts'
import { coversPath, literalPrefix, type PathPattern, splitPath } from './path-pattern.ts'
import { type SecretPlace, secretPlaces } from './secret-places.ts'

export { type SecretPlace, secretPlaces } from './secret-places.ts'

/**
 * Secrets in a project: basenames, with `*` for any run of characters; a folder that is secret as a whole, with a slash behind it; a
 * name that is one in this folder alone. Names of source code or of build tools' own folders are not in it.
 */
export const secretShapes: readonly string[] = words(`
    .env .env.* *.key *.pem *.seed *.pfx *.p12 *.p8 *.pk8 *.pkcs12 *.ppk *.jks *.jceks *.bks *.bcfks
    *.keystore *.keytab *.kdbx *.ovpn *.kubeconfig id_rsa id_ed25519 id_ecdsa id_dsa id_ed25519_sk
    id_ecdsa_sk *_rsa *_ed25519 .npmrc .pypirc .netrc _netrc .authinfo .htpasswd .htdigest *.env
    .env_* .env-* .envrc .envrc.* .dotenv .dev.vars .dev.vars.* .pgpass .my.cnf .mylogin.cnf .boto
    .s3cfg .passwd-s3fs .rclone.conf rclone.conf .dockercfg .vault-token .vault_pass* .vault-pass*
    .ansible_vault_pass* .git-credentials .gitcredentials .terraformrc .sentryclirc
    .databrickscfg .clasprc.json local.settings.json .secrets credentials.json credentials.tfrc.json
    credentials.csv rootkey.csv *_accesskeys.csv kubeconfig kubeconfig.yml kubeconfig.yaml
    kubeconfig.json secrets.yml secrets.yaml secrets.json secrets.toml service-account*.json
    service_account*.json serviceaccount*.json *-service-account.json client_secret*.json
    gha-creds-*.json google-credentials*.json gcp-key*.json firebase-adminsdk*.json
    *-firebase-adminsdk-*.json *.tfstate *.tfstate.* *.tfvars *.tfvars.json secring.gpg wallet.dat
    .bash_history .zsh_history .psql_history .mysql_history .python_history .node_repl_history .ssh/
    .gnupg/ .aws/ .kube/ .azure/ .oci/ .password-store/ .snowsql/ .secrets/ .docker/config.json
    .cargo/credentials .cargo/credentials.toml .gem/credentials .composer/auth.json gh/hosts.yml
    gcloud/application_default_credentials.json gcloud/credentials.db`)

/** Shapes that a basename alone can have. */
export const basenameShapes: readonly string[] = secretShapes.filter((shape) => !shape.includes('/'))

const FOLDER_SHAPES: ReadonlyMap<string, string> = new Map(
  secretShapes.filter((shape) => shape.endsWith('/')).map((shape) => [shape.slice(0, -1), shape]),
)
const BELOW_SHAPES: ReadonlyMap<string, string> = new Map(
  secretShapes.filter((shape) => /\/./.test(shape)).map((shape) => [shape, shape]),
)

/** The shape of a name that is secret because of the folders it is in: `.ssh/`, `.docker/config.json`. */
export function shapeBelow(folder: string, name: string): string | null {
  const folded = folder.toLowerCase()
  const parent = posix.basename(folded)
  const below = shapeOrCopied(name.toLowerCase(), (one) => BELOW_SHAPES.get(`${parent}/${one}`) ?? null)
  if (below !== null) return below
  if (!MAYBE_BELOW.test(folded)) return null
  for (const segment of folded.split('/')) {
    const shape = shapeOrCopied(segment, (one) => FOLDER_SHAPES.get(one) ?? null)
    if (shape !== null) return shape
  }
  return null
}

/** Cheap to ask of every folder of a tree. */
const MAYBE_BELOW = new RegExp(
  `/(?:copy of )?(?:${[...FOLDER_SHAPES.keys()].map((name) => name.replaceAll('.', '\\.')).join('|')})(?:[/ ._~-]|$)`,
)

/** Suffixes of example files, which contain no secrets. */
const EXAMPLE = /^\.?env[._-](.*[._-])?(example|sample|template|dist|tmpl|tpl|schema)$|^(example|sample|template)\.env$/

/** What editors and people put behind or around the name of a copy. */
const COPIES: readonly RegExp[] = [
  /^(.+)~$/,
  /^(.+?)[._-](?:bak|old|orig|backup|save|saved|copy|prev)\d*$/,
  /^(.+?) (?:copy(?: \d+)?|\((?:copy(?: \d+)?|\d+)\))$/,
  /^copy of (.+)$/,
  /^(.+?)(?:[._-]\d{6,}|\s+)$/,
  /^#(.+)#$/,
  /^\.(.+)\.sw[a-p]$/,
]

/** A secret path: the shape or place that matched. */
interface Secret {
  /** The basename shape such as `*.key`, or the place such as `~/.ssh`. */
  readonly shape: string
  readonly what: string
  readonly kind: 'name' | 'place'
}

/** Returns the secret shape of a basename: a built-in one, or one of the manifest's denials. */
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
  const globs: { readonly glob: string; readonly start: string }[] = []
  for (const shape of [...basenameShapes, ...denied]) {
    const folded = shape.toLowerCase()
    if (!isGlob(folded)) exact.set(folded, shape)
    else if (/^\*\.[^.*?]+$/.test(folded)) extensions.set(folded.slice(2), shape)
    else if (/^\*[^*?]+$/.test(folded)) endings.push([folded.slice(1), shape])
    else if (/^[^*?]+\*$/.test(folded)) beginnings.push([folded.slice(0, -1), shape])
    else globs.push({ glob: folded, start: longestPart(folded) })
  }
  const shapeOf = (name: string): string | null => {
    const dot = name.lastIndexOf('.')
    const known = exact.get(name) ?? (dot < 0 ? undefined : extensions.get(name.slice(dot + 1)))
    if (known !== undefined) return known
    for (const [ending, shape] of endings) if (name.endsWith(ending)) return shape
    for (const [beginning, shape] of beginnings) if (name.startsWith(beginning)) return shape
    for (const { glob, start } of globs) if (name.includes(start) && matchSegment(glob, name)) return glob
    return null
  }
  return (basename) => {
    const name = basename.toLowerCase()
    const shape = shapeOf(name)
    if (shape !== null) return name.includes('env') && EXAMPLE.test(name) && !denied.includes(shape) ? null : shape
    return copiedShape(name, shapeOf)
  }
}

/** The longest text between the wildcards of a glob: few names contain it. */
function longestPart(glob: string): string {
  return glob.split(/[*?]/).reduce((longest, part) => (part.length > longest.length ? part : longest), '')
}

/** Cheap to ask of every name of a tree. */
const MAYBE_COPY = /~$|#$|\.sw[a-p]$|(?:bak|old|orig|backup|saved?|copy|prev)\d*$|\)$|\s$|\d{6}$| copy \d+$|^copy of /

const shapeOrCopied = (name: string, shapeOf: ShapeOf): string | null => shapeOf(name) ?? copiedShape(name, shapeOf)

function copiedShape(name: string, shapeOf: ShapeOf): string | null {
  if (!MAYBE_COPY.test(name)) return null
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
  return builtInShapes()(posix.basename(path)) ?? shapeBelow(posix.dirname(path), posix.basename(path))
}

/** What of `[capabilities.deny.read] default_files` joins the masks: entries of the form `*.ext`. */
export function deniedShapes(files: readonly string[]): readonly string[] {
  return files.filter((file) => /^\*\.[^*?/]+$/.test(file))
}

/** The secret place of this path, or of a folder above it; null for none. */
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

/** The secret that a path is, by its place or else by its basename. */
export function secretOf(path: string, facts: { readonly home: string; readonly shapeOf?: ShapeOf }): Secret | null {
  const place = secretPlace(path, facts.home)
  if (place) return { shape: place.path, what: place.what, kind: 'place' }
  const own = (facts.shapeOf ?? builtInShapes())(posix.basename(path))
  const shape = own ?? shapeBelow(posix.dirname(path), posix.basename(path))
  return shape === null ? null : { shape, what: `a file of the shape ${shape}`, kind: 'name' }
}

/**
 * Whether a grant names this secret. `*` and `**` never do, nor does a glob that only happens to
 * match (`*.json` for `.env.json`): the grant must write out the basename, or the part of it that
 * makes it a secret (`*.key`, `.env.*`). It names a secret place if its literal part is the place
 * or something below it (`~/.ssh/known_hosts`).
 */
export function openedByGrant(path: string, grants: readonly PathPattern[], facts: GrantFacts): boolean {
  const secret = secretOf(path, facts)
  if (secret === null) return true
  const place = secret.shape.startsWith('~/') ? facts.home + secret.shape.slice(1) : secret.shape
  return grants.some((grant) => {
    if (!coversPath(grant, path)) return false
    if (secret.kind === 'place') return namesPlace(grant, path, place)
    return namesBasename(grant, path, secret.shape) || (secret.shape.endsWith('/') && namesFolder(grant, secret.shape))
  })
}

/** What `openedByGrant` needs to know about the machine and the manifest. */
interface GrantFacts {
  readonly home: string
  readonly shapeOf?: ShapeOf
}

/**
 * Whether PEM text contains only certificates, so that it is not a secret. Any other block, a
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

/** The parsed places; built on first use, because not every start needs them. */
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

/** A folder that is secret as a whole is named by a grant that writes it out: `.ssh`, `deploy/.ssh/**`. */
function namesFolder(grant: PathPattern, shape: string): boolean {
  return `${literalPrefix(grant).toLowerCase()}/`.includes(`/${shape}`)
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
