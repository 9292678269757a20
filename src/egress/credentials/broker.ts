/**
 * The credential broker: a command has placeholders, and only the proxy knows their values and
 * hosts.
 */

import { randomBytes } from 'node:crypto'
import type { Transform } from 'node:stream'
import { quote } from '../../hosts/host.ts'
import { type HostPattern, reachesHost } from '../../hosts/pattern.ts'
import type { SuffixLookup } from '../../hosts/suffix.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf, type Target } from '../wire/target.ts'
import { isAwsSigned, needsPayload, signAgain } from './aws-signature.ts'
import { foreignCredential, foreignField } from './foreign-credential.ts'
import { type AskedRange, widenRange } from './partial-answer.ts'
import { type ReadFrameHead, scrubFrames } from './scrub-frames.ts'
import { scrubBytes, scrubStream } from './scrub-stream.ts'
import { secretForms } from './secret-forms.ts'
import { createSearch, type SecretSearch } from './secret-search.ts'

/** A `[[secrets]]` entry with its value. */
export interface BrokeredSecret {
  /** The variable with the placeholder. */
  readonly name: string
  readonly value: string
  /** The text before and after it in the variable, and between repetitions. */
  readonly around?: readonly string[]
  readonly hosts: readonly HostPattern[]
  /** The request header that carries it; `authorization` when neither header nor query is set. */
  readonly header?: string
  /** The query parameter that carries it. */
  readonly query?: string
  /** The password of a database: its hosts speak this protocol and nothing else. */
  readonly login?: LoginProtocol
  /**
   * The value is never sent: requests that were signed with the placeholder are signed again with
   * it. All requests to its hosts must be.
   */
  readonly signs?: 'aws'
  /** Every request to its hosts must carry it, beside known harmless fields only. */
  readonly exclusive?: boolean
  /**
   * Headers and query parameters allowed for its hosts although they could carry another
   * credential; `x-*` for a prefix.
   */
  readonly passHeaders?: readonly string[]
  readonly passParameters?: readonly string[]
  /** Paths that need no credential: by GET, without a query. */
  readonly openPaths?: readonly string[]
  /** The existing placeholder, in a file of the project. */
  readonly placeholder?: string
  /** Other credentials may go to its hosts, as they could before this one was found in the project. */
  readonly lenient?: boolean
}

/**
 * An entry without a usable value. Its hosts stay closed, because any other credential could go
 * there.
 */
export interface AbsentSecret extends Pick<BrokeredSecret, 'name' | 'hosts'> {
  readonly problem: string
}

export type LoginProtocol = 'postgres' | 'redis'

/** A database login that the broker performs. */
export interface Login {
  readonly name: string
  readonly protocol: LoginProtocol
  readonly placeholder: string
  readonly value: string
  /**
   * Removes the password from the host's data at the same length, message by message if their heads
   * are readable.
   */
  scrub(readHead?: ReadFrameHead): Transform
  /** The same for a whole message. */
  scrubMessage(bytes: Buffer): Buffer
}

export interface OutgoingRequest {
  readonly target: Target
  readonly method: string
  /** The hash of the body in hex, if `signsPayload` required it. */
  readonly payloadHash?: string | null
  /** TLS, or a connection inside this machine. */
  readonly secure: boolean
  /** Path and query. */
  readonly path: string
  readonly rawHeaders: readonly string[]
  /** If given, a wildcard of a secret's hosts does not match below another public suffix. */
  readonly suffixes?: SuffixLookup | undefined
}

export interface SwappedRequest {
  readonly path: string
  readonly rawHeaders: readonly string[]
  /** Names of the inserted secrets. */
  readonly used: readonly string[]
  /** The part of the answer that the command asked for; the request asks for more. */
  readonly asked: AskedRange | null
}

export interface Broker {
  /** Variables for the sandbox: name and placeholder. */
  readonly environment: Readonly<Record<string, string>>
  /** Adds a secret that has no variable. */
  add(secret: BrokeredSecret & { readonly placeholder: string }): void
  /** Inserts the values where they may go, or returns why the request must not leave. */
  swap(request: OutgoingRequest): SwappedRequest | { readonly refusal: EgressDenial }
  /**
   * Whether the request will be signed again and lacks its body's hash, so that the body must be
   * read first.
   */
  signsPayload(target: Target, rawHeaders: readonly string[]): boolean
  /**
   * Searches a passing body for placeholders: returns the refusal for one that is in this piece, or
   * ends with it, or null.
   */
  bodyReader(target: Target): (piece: Buffer) => EgressDenial | null
  /**
   * The refusal for form fields that can carry another credential than the brokered one, or null.
   */
  fieldProblem(target: Target, names: readonly string[]): EgressDenial | null
  /** The login for every connection to this host; null unless it is a brokered database. */
  loginFor(target: Target): Login | null
  /** Whether a secret belongs to this host: then only readable requests go there. */
  isFor(target: Target): boolean
  /**
   * Whether a secret may go to this host: then its answers may contain a secret, for any request.
   */
  mayEcho(target: Target): boolean
  /** Removes values from a host's answer: an echo must not bring the secret into the sandbox. */
  scrubText(text: string): string
  /** `sameLength` overwrites each value, and keeps the number of bytes. */
  scrubStream(sameLength: boolean): Transform
  /** The same for a protocol whose frames declare their length. */
  scrubFrames(readHead: ReadFrameHead): Transform
}

interface KnownSecret extends BrokeredSecret {
  readonly placeholder: string
  /** Finds the placeholder in any form of a body: plain, base64 at any offset, hex, escaped. */
  readonly search: SecretSearch
}

/**
 * Creates the placeholders of a session. Throws for a value that no header could carry; the message
 * never contains it.
 */
export function createBroker(secrets: readonly BrokeredSecret[], absent: readonly AbsentSecret[] = []): Broker {
  const present = secrets.map(hold)
  const environment = Object.fromEntries([
    ...absent.map(({ name }) => [name, '']),
    ...present.map((secret) => [secret.name, (secret.around ?? ['', '']).join(secret.placeholder)]),
  ])
  let known: SecretSearch | null = null
  const search = () => {
    known ??= createSearch(present.map((secret) => secretForms(secret.value, secret.placeholder)))
    return known
  }

  const mayEcho = (target: Target) =>
    present.some((secret) => !secret.signs && !secret.login && isGranted(secret, target))

  function swap(given: OutgoingRequest): SwappedRequest | { readonly refusal: EgressDenial } {
    const wide = mayEcho(given.target) ? widenRange(given.rawHeaders) : { rawHeaders: given.rawHeaders, asked: null }
    const { asked } = wide
    const request = { ...given, rawHeaders: wide.rawHeaders }
    let { path, rawHeaders } = request
    const used: string[] = []
    const unset = absent.find((secret) => isGranted(secret, request.target))
    if (unset) return { refusal: { code: 'secret-missing', message: unset.problem } }
    const database = present.find((secret) => secret.login && isGranted(secret, request.target))
    if (database) return { refusal: misplacedLogin(database) }
    const stranger = foreignRefusal(present, request)
    if (stranger !== null) return { refusal: stranger }
    for (const secret of present) {
      if (secret.signs && isGranted(secret, request.target, request.suffixes)) continue
      const inPath = holdsIn(path, secret.placeholder)
      const headers = rawHeaders.flatMap((text, at) => (headerHolds(text, secret.placeholder) ? [at] : []))
      if (!inPath && headers.length === 0) continue
      const refusal = placeRefusal(secret, request, inPath, headers)
      if (refusal !== null) return { refusal }
      if (inPath) path = putInQuery(path, secret)
      rawHeaders = rawHeaders.map((text, at) => (headers.includes(at) ? putInHeader(text, secret) : text))
      used.push(secret.name)
    }
    const signing = present.filter((secret) => secret.signs && isGranted(secret, request.target, request.suffixes))
    if (signing.length > 0) return signedAgain(signing, given, { path, rawHeaders, used, asked })
    const isOpen = ({ openPaths = [] }: KnownSecret): boolean => request.method === 'GET' && openPaths.includes(path)
    const needsOne = present.some((secret) => secret.exclusive && isGranted(secret, request.target) && !isOpen(secret))
    if (used.length > 0 || !needsOne) {
      return { path, rawHeaders, used, asked }
    }
    const message = `a request to ${quote(request.target.host)} must carry the brokered credential, and this one carries none`
    return { refusal: { code: 'secret-absent', message } }
  }

  return {
    environment,
    add: (secret) => {
      if (present.some((one) => one.placeholder === secret.placeholder)) return
      present.push(hold(secret))
      known = null
    },
    swap,
    signsPayload: (target, rawHeaders) =>
      needsPayload(rawHeaders) && present.some((secret) => secret.signs && isGranted(secret, target)),
    bodyReader: (target) => {
      const watched = present
        .filter((secret) => !isGranted(secret, target))
        .map((secret) => ({ secret, tail: Buffer.alloc(0) }))
      return (piece) => {
        for (const one of watched) {
          const bytes = Buffer.concat([one.tail, piece])
          const { found, waitsFrom } = one.secret.search(bytes)
          if (found.length > 0) return elsewhere(one.secret, target)
          one.tail = bytes.subarray(waitsFrom)
        }
        return null
      }
    },
    fieldProblem: (target, names) => {
      const granted = present.filter((secret) => !secret.lenient && isGranted(secret, target))
      if (granted.length === 0) return null
      const found = foreignField(names, { parameters: granted.flatMap((secret) => secret.passParameters ?? []) })
      return found === null ? null : foreign(found, target)
    },
    loginFor: (target) => {
      const secret = present.find((one) => one.login !== undefined && isGranted(one, target))
      if (!secret) return null
      const { name, placeholder, value } = secret
      return {
        name,
        placeholder,
        value,
        protocol: secret.login!,
        scrub: (readHead) => (readHead ? scrubFrames(search(), readHead, 0) : scrubStream(search(), true)),
        scrubMessage: (bytes) => scrubBytes(bytes, search(), true),
      }
    },
    isFor: (target) => [...present, ...absent].some((secret) => isGranted(secret, target)),
    mayEcho,
    scrubText: (text) => scrubBytes(Buffer.from(text, 'latin1'), search()).toString('latin1'),
    scrubStream: (sameLength) => scrubStream(search(), sameLength),
    scrubFrames: (readHead) => scrubFrames(search(), readHead),
  }
}

/**
 * Why the value of a secret cannot be brokered, or null. A shorter one would match in every answer.
 */
export function unfitValue({ name, value }: Pick<BrokeredSecret, 'name' | 'value'>): string | null {
  if (value.length >= 4 && /^[\x20-\x7e]+$/.test(value) && value === value.trim()) return null
  return `the value of the secret ${name} cannot go into a header: expected at least four printable ASCII characters without spaces around them`
}

function hold(secret: BrokeredSecret): KnownSecret {
  const unfit = unfitValue(secret)
  if (unfit !== null) throw new TypeError(unfit)
  const placeholder = secret.placeholder ?? `cordon_${secret.name.toLowerCase()}_${randomBytes(20).toString('hex')}`
  return { ...secret, placeholder, search: createSearch([secretForms(placeholder, '')]) }
}

function placeRefusal(
  secret: KnownSecret,
  request: OutgoingRequest,
  inPath: boolean,
  headers: readonly number[],
): EgressDenial | null {
  if (!isGranted(secret, request.target, request.suffixes)) return elsewhere(secret, request.target)
  if (!request.secure) {
    const message = `the secret ${secret.name} does not go over plain HTTP to ${quote(request.target.host)}`
    return { code: 'secret-insecure', message }
  }
  const header = secret.header?.toLowerCase() ?? (secret.query === undefined ? 'authorization' : null)
  const inOtherHeader = headers.some((at) => at % 2 === 0 || request.rawHeaders[at - 1]!.toLowerCase() !== header)
  if (!inOtherHeader && (!inPath || isOnlyInQuery(request.path, secret))) return null
  const places = [header && `the header ${quote(header)}`, secret.query && `the query parameter ${quote(secret.query)}`]
  const message = `the secret ${secret.name} is put in only in ${places.filter(Boolean).join(' or ')}`
  return { code: 'secret-misplaced', message }
}

/** The request, signed with the first key whose placeholder created its signature. */
function signedAgain(
  secrets: readonly KnownSecret[],
  request: OutgoingRequest,
  swapped: SwappedRequest,
): SwappedRequest | { readonly refusal: EgressDenial } {
  const { target, method, path, rawHeaders, secure, payloadHash = null } = request
  const [first] = secrets
  const refuse = (code: EgressDenial['code'], message: string) => ({ refusal: { code, message } })
  if (!secure) return refuse('secret-insecure', `requests to ${quote(target.host)} are not signed over plain HTTP`)
  const shown = [path, ...rawHeaders]
  const misplaced = secrets.find(({ placeholder }) => shown.some((text) => headerHolds(text, placeholder)))
  if (misplaced)
    return refuse('secret-misplaced', `the secret ${misplaced.name} signs requests, and is itself sent nowhere`)
  let problem = 'is not signed'
  for (const secret of isAwsSigned(rawHeaders) ? secrets : []) {
    const signed = signAgain(
      { method, path, rawHeaders, payloadHash },
      { method, path: swapped.path, rawHeaders: swapped.rawHeaders, payloadHash, host: target.host },
      secret.placeholder,
      secret.value,
      Date.now(),
    )
    if ('authorization' in signed) {
      const headers = swapped.rawHeaders.map((text, at) =>
        at % 2 === 1 && swapped.rawHeaders[at - 1]!.toLowerCase() === 'authorization' ? signed.authorization : text,
      )
      return { ...swapped, rawHeaders: headers, used: [...swapped.used, secret.name] }
    }
    problem = signed.problem
  }
  const message = `a request to ${quote(target.host)} must be signed with the placeholder of ${first!.name}, and this one ${problem}`
  return refuse(isAwsSigned(rawHeaders) ? 'secret-foreign' : 'secret-absent', message)
}

function foreignRefusal(present: readonly KnownSecret[], request: OutgoingRequest): EgressDenial | null {
  const granted = present.filter((secret) => isGranted(secret, request.target))
  if (granted.every((secret) => secret.lenient)) return null
  const found = foreignCredential(request, {
    placeholders: granted.map((secret) => secret.placeholder),
    strict: granted.some((secret) => secret.exclusive),
    // Signing again checks whose signature it is.
    headers: granted.flatMap((secret) => [...(secret.passHeaders ?? []), ...(secret.signs ? ['authorization'] : [])]),
    parameters: granted.flatMap((secret) => secret.passParameters ?? []),
  })
  return found === null ? null : foreign(found, request.target)
}

function foreign(found: string, { host }: Target): EgressDenial {
  // The field name must not come first: after the refusal's code it would be masked like a secret's
  // value.
  const message = `a field called ${quote(found)} can carry another credential than the brokered one, and was on its way to ${quote(host)}`
  return { code: 'secret-foreign', message }
}

function isGranted(secret: Pick<KnownSecret, 'hosts'>, { host, port }: Target, suffixes?: SuffixLookup): boolean {
  return secret.hosts.some((pattern) => reachesHost(pattern, host, port, suffixes))
}

function misplacedLogin({ name, login }: KnownSecret): EgressDenial {
  return { code: 'secret-misplaced', message: `the secret ${name} is for logins of ${login}, and this is a request` }
}

function elsewhere(secret: KnownSecret, target: Target): EgressDenial {
  const message = `the placeholder of the secret ${secret.name} was on its way to ${quote(authorityOf(target, null))}`
  return { code: 'secret-elsewhere', message }
}

function holdsIn(text: string, placeholder: string): boolean {
  return text.includes(placeholder) || (text.includes('%') && percentDecoded(text).includes(placeholder))
}

function headerHolds(text: string, placeholder: string): boolean {
  return holdsIn(text, placeholder) || (basicCredentials(text)?.includes(placeholder) ?? false)
}

/** `user:password` of a Basic authorization, in which git sends tokens. */
function basicCredentials(value: string): string | null {
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)\s*$/i.exec(value)?.[1]
  return encoded === undefined ? null : Buffer.from(encoded, 'base64').toString('latin1')
}

function putInHeader(value: string, secret: KnownSecret): string {
  const credentials = value.includes(secret.placeholder) ? null : basicCredentials(value)
  if (credentials === null) return value.replaceAll(secret.placeholder, secret.value)
  return `Basic ${Buffer.from(credentials.replaceAll(secret.placeholder, secret.value), 'latin1').toString('base64')}`
}

function isOnlyInQuery(path: string, secret: KnownSecret): boolean {
  const mark = path.indexOf('?')
  if (secret.query === undefined || mark < 0 || holdsIn(path.slice(0, mark), secret.placeholder)) return false
  const parts = path.slice(mark + 1).split('&')
  return parts.every((part) => !holdsIn(part, secret.placeholder) || part === `${secret.query}=${secret.placeholder}`)
}

function putInQuery(path: string, secret: KnownSecret): string {
  return path.replaceAll(secret.placeholder, encodeURIComponent(secret.value))
}

function percentDecoded(text: string): string {
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}
