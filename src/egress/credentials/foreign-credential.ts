/**
 * Finds other credentials in a request to a brokered host: with a foreign key, an attacker could
 * carry data out through the granted host. PURE.
 */

import { isOverride } from '../wire/override-headers.ts'

/** The fields that may accompany the brokered credential. */
export interface Bystanders {
  readonly placeholders: readonly string[]
  /**
   * Strict: only known harmless fields may leave. Otherwise: all but those that look like a
   * credential.
   */
  readonly strict: boolean
  /** Listed names; `anthropic-*` for a prefix, which covers no name of a login. Lower-case. */
  readonly headers: readonly string[]
  readonly parameters: readonly string[]
}

interface Parts {
  readonly path: string
  readonly rawHeaders: readonly string[]
}

/** Request fields that name, describe or route, and that no service accepts as a login. */
const HARMLESS: ReadonlySet<string> = new Set(
  [
    'accept accept-charset accept-encoding accept-language cache-control connection content-disposition content-encoding',
    'content-language content-length content-md5 content-range content-type date dnt early-data expect from git-protocol',
    'grpc-accept-encoding grpc-encoding grpc-timeout host if-match if-modified-since if-none-match if-range',
    'if-unmodified-since keep-alive max-forwards npm-auth-type npm-command npm-scope npm-session origin pragma prefer',
    'priority range referer sec-fetch-dest sec-fetch-mode sec-fetch-site sec-fetch-user sec-websocket-extensions',
    'sec-websocket-key sec-websocket-version te traceparent tracestate trailer transfer-encoding upgrade',
    'upgrade-insecure-requests user-agent idempotency-key x-request-id x-client-request-id x-requested-with',
  ].flatMap((line) => line.split(' ')),
)
/** Parameters that only sound like a credential. */
const PAGING: ReadonlySet<string> = new Set(
  'page_token pagetoken next_token nexttoken next_page_token continuation_token continuationtoken sort_key'.split(' '),
)
const LOGIN_NAME =
  /auth|token|secret|cookie|pass(?:w|code|phrase|key)|pwd|credential|signature|jwt|bearer|dpop|macaroon|assertion|(?:api|app|access|account|client|consumer|license|master|private|service|shared|sign|subscription|user)[-_.]?(?:key|pass)|(?:^|[-_.])(?:key|keys|sig|sid|pat|pin|otp|hmac|pass|pw|login)(?:$|[-_.])/
/** A session may also be only the name of a conversation. */
const CREDENTIAL_NAME = new RegExp(`session|${LOGIN_NAME.source}`)
/** A body of nested requests with heads. */
const NESTED_REQUESTS = /^\s*(?:multipart\/(?:mixed|batch|parallel)|application\/http|message\/http)\b/i
/** The name of a WebSocket subprotocol; a key is longer, or is labelled. */
const PLAIN_PROTOCOL = /^(?!.*[\w~+/=]{20})[\w.+/-]{1,48}$/

/** The header, parameter or path segment that must not go to this host, or null. */
export function foreignCredential(request: Parts, by: Bystanders): string | null {
  return foreignHeader(request, by) ?? foreignParameter(request, by) ?? foreignPath(request, by)
}

function foreignHeader({ rawHeaders }: Parts, by: Bystanders): string | null {
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase()
    const value = rawHeaders[at + 1]!
    if (name === 'content-type' && NESTED_REQUESTS.test(value)) return name
    if (HARMLESS.has(name) || isOurs(value, by) || isListed(name, by.headers)) continue
    if (by.strict || isOverride(name) || CREDENTIAL_NAME.test(name)) return name
    if (name === 'sec-websocket-protocol' && !arePlain(value)) return name
  }
  return null
}

function foreignParameter({ path }: Parts, by: Bystanders): string | null {
  for (const [name, value] of parametersOf(path)) {
    const known = name.toLowerCase()
    if (isOurs(value, by) || isListed(known, by.parameters)) continue
    if (by.strict || soundsForeign(known, by.parameters)) return name
  }
  return null
}

/** The form field that must not go to this host, or null. Other fields are the form's content. */
export function foreignField(names: readonly string[], { parameters }: Pick<Bystanders, 'parameters'>): string | null {
  return names.map((name) => decodedFully(name).toLowerCase()).find((name) => soundsForeign(name, parameters)) ?? null
}

function soundsForeign(name: string, listed: readonly string[]): boolean {
  return CREDENTIAL_NAME.test(name) && !PAGING.has(name) && !isListed(name, listed)
}

/**
 * Services that accept nested requests as JSON. Other hosts use such names too, so only strict ones
 * are checked.
 */
function foreignPath({ path }: Parts, by: Bystanders): string | null {
  if (!by.strict) return null
  const [route = ''] = path.split('?')
  return (
    decodedFully(route)
      .split(/[/\\;]/)
      .find((segment) => /^\$?batch(?:$|[:.?])/i.test(segment)) ?? null
  )
}

/**
 * Name and value of each parameter: after `?`, between `&` or `;`, and after a `;` in a path
 * segment.
 */
function parametersOf(path: string): [name: string, value: string][] {
  const mark = path.indexOf('?')
  const route = mark < 0 ? path : path.slice(0, mark)
  const query = mark < 0 ? '' : path.slice(mark + 1)
  const inPath = decodedFully(route)
    .split('/')
    .flatMap((segment) => segment.split(';').slice(1))
  const pieces = [...query.split(/[&;?]/), ...inPath].filter((piece) => piece !== '')
  return pieces.map((piece) => {
    const sign = piece.indexOf('=')
    const name = sign < 0 ? piece : piece.slice(0, sign)
    return [decodedFully(name), sign < 0 ? '' : decodedFully(piece.slice(sign + 1))]
  })
}

function isListed(name: string, listed: readonly string[]): boolean {
  const isLogin = LOGIN_NAME.test(name)
  return listed.some((entry) =>
    entry.endsWith('*') ? !isLogin && name.startsWith(entry.slice(0, -1)) : name === entry,
  )
}

/** A placeholder alone, after a scheme, or in Basic credentials whose other half is only a name. */
function isOurs(value: string, { placeholders }: Bystanders): boolean {
  const bare = value.trim()
  if (placeholders.includes(bare.replace(/^(?:bearer|token) +/i, ''))) return true
  const encoded = /^basic +([A-Za-z0-9+/=_-]+)$/i.exec(bare)?.[1]
  if (encoded === undefined) return false
  const text = Buffer.from(encoded, 'base64').toString('latin1')
  const colon = text.indexOf(':')
  const halves = colon < 0 ? [text] : [text.slice(0, colon), text.slice(colon + 1)]
  return (
    halves.some((half) => placeholders.includes(half)) &&
    halves.every((half) => placeholders.includes(half) || /^(?!\w{20})[\w.@-]{0,39}$/.test(half))
  )
}

function arePlain(protocols: string): boolean {
  return protocols.split(',').every((name) => PLAIN_PROTOCOL.test(name.trim()) && !CREDENTIAL_NAME.test(name))
}

/** Decodes until nothing changes: a server may decode more than once. */
export function decodedFully(text: string): string {
  let left = text.replaceAll('+', ' ')
  for (let round = 0; round < 4 && left.includes('%'); round++) {
    const next = left.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === left) break
    left = next
  }
  return left
}
