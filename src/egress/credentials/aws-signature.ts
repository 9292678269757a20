/**
 * AWS Signature Version 4: verifies a request that was signed with a placeholder, and signs it
 * again with the key. A signature must be for the service and region of its host.
 */

import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { attempt } from '../../system/fault.ts'

/** A request before or after the rewrite. */
export interface SignableRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly rawHeaders: readonly string[]
  /** The hash of the body in hex, if no header contains it; null if unknown. */
  readonly payloadHash: string | null
}

const SCHEME = 'AWS4-HMAC-SHA256'
const AUTHORIZATION =
  /^AWS4-HMAC-SHA256\s+Credential=([\w-]{4,128})\/(\d{8})\/([\w-]{1,64})\/([\w.-]{1,64})\/aws4_request\s*,\s*SignedHeaders=([\w;.-]+)\s*,\s*Signature=([0-9a-f]{64})$/
const DATE = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)/
/**
 * The clock skew that AWS accepts. Otherwise a host that echoes requests would reveal signatures
 * for later.
 */
const LATEST_MS = 15 * 60_000
/** Headers that the proxy adds, drops or changes: they need not be signed. */
const CHANGED: ReadonlySet<string> = new Set(
  'accept-encoding connection content-length expect keep-alive proxy-connection te trailer transfer-encoding user-agent'.split(
    ' ',
  ),
)

/** Whether a request has such a signature, by any key. */
export function isAwsSigned(rawHeaders: readonly string[]): boolean {
  return valuesOf(rawHeaders, 'authorization').some((value) => value.trimStart().startsWith(SCHEME))
}

/** Whether only the body gives its hash. */
export function needsPayload(rawHeaders: readonly string[]): boolean {
  return isAwsSigned(rawHeaders) && valuesOf(rawHeaders, 'x-amz-content-sha256').length === 0
}

/**
 * The Authorization of `leaving`, signed with `key`, if that of `signed` was created with
 * `placeholder`. The check also shows how the client encoded its path. Otherwise the problem with
 * it.
 */
export function signAgain(
  signed: SignableRequest,
  leaving: SignableRequest & { readonly host: string },
  placeholder: string,
  key: string,
  now: number,
): { readonly authorization: string } | { readonly problem: string } {
  const written = valuesOf(signed.rawHeaders, 'authorization')
  const [, id, day, region, service, names, signature] = AUTHORIZATION.exec(written[0]?.trim() ?? '') ?? []
  if (written.length !== 1 || names === undefined) return { problem: 'is not signed with AWS Signature Version 4' }
  const elsewhere = scopeProblem(leaving.host, region!, service!)
  if (elsewhere !== null) return { problem: elsewhere }
  const hash = valuesOf(signed.rawHeaders, 'x-amz-content-sha256')[0]?.trim() ?? signed.payloadHash
  if (hash === null) return { problem: 'does not say the hash of its body (x-amz-content-sha256)' }
  if (hash.startsWith('STREAMING-AWS4'))
    return { problem: 'has a body in which every piece is signed, and only whole requests can be signed again' }
  const time = valuesOf(signed.rawHeaders, 'x-amz-date')[0]?.trim() ?? ''
  if (!/^\d{8}T\d{6}Z$/.test(time) || !time.startsWith(day!))
    return { problem: 'has no X-Amz-Date of the day it is signed for' }
  if (!(Date.parse(time.replace(DATE, '$1-$2-$3T$4:$5:')) <= now + LATEST_MS))
    return { problem: 'is dated into the future, when nobody would see it used (or the clock of this machine is slow)' }
  const all = names.split(';')
  if (!all.includes('host')) return { problem: 'is signed without its host' }
  const scope = `${day}/${region}/${service}/aws4_request`
  const sign = (request: SignableRequest, route: string, headers: readonly string[], secret: string) => {
    const text = [SCHEME, time, scope, sha256(canonicalRequest(request, route, headers, hash))].join('\n')
    const derived = ['aws4_request', service!, region!, day!].reduceRight(
      (from: Buffer | string, step) => hmac(from, step),
      `AWS4${secret}`,
    )
    return hmac(derived, text).toString('hex')
  }
  for (const spell of ROUTES) {
    if (!same(sign(signed, spell(routeOf(signed.path)), all, placeholder), signature!)) continue
    const kept = all.filter((name) => !CHANGED.has(name))
    const again = sign(leaving, spell(routeOf(leaving.path)), kept, key)
    const credential = `Credential=${id}/${scope}, SignedHeaders=${kept.join(';')}, Signature=${again}`
    return { authorization: `${SCHEME} ${credential}` }
  }
  return { problem: 'is signed with another key than the brokered one, or was changed after it was signed' }
}

/**
 * Path encodings: S3's, and that of all other services, which encodes once more and removes `.`,
 * `..` and `//`.
 */
const ROUTES: readonly ((route: string) => string)[] = [
  (route) => route,
  (route) => encodedRoute(normalized(route)),
  (route) => encodedRoute(route),
]

function routeOf(path: string): string {
  return path.split('?', 1)[0] || '/'
}

function encodedRoute(route: string): string {
  return route.split('/').map(encoded).join('/')
}

function normalized(route: string): string {
  const steps: string[] = []
  for (const step of route.split('/')) {
    if (step === '..') steps.pop()
    else if (step !== '' && step !== '.') steps.push(step)
  }
  const end = steps.length > 0 && route.endsWith('/') ? '/' : ''
  return `/${steps.join('/')}${end}`
}

function canonicalRequest(
  { method, path, rawHeaders }: SignableRequest,
  route: string,
  names: readonly string[],
  hash: string,
): string {
  const headers = names.map((name) => `${name}:${valuesOf(rawHeaders, name).map(trimmed).join(',')}\n`)
  return [method, route, canonicalQuery(path), headers.join(''), names.join(';'), hash].join('\n')
}

function canonicalQuery(path: string): string {
  const mark = path.indexOf('?')
  const pieces =
    mark < 0
      ? []
      : path
          .slice(mark + 1)
          .split('&')
          .filter((piece) => piece !== '')
  return pieces
    .map((piece): [string, string] => {
      const sign = piece.indexOf('=')
      const [name, value] = sign < 0 ? [piece, ''] : [piece.slice(0, sign), piece.slice(sign + 1)]
      return [encoded(decoded(name)), encoded(decoded(value))]
    })
    .sort(([a, x], [b, y]) => (a < b ? -1 : a > b ? 1 : x < y ? -1 : x > y ? 1 : 0))
    .map(([name, value]) => `${name}=${value}`)
    .join('&')
}

function decoded(text: string): string {
  return attempt(() => decodeURIComponent(text), text)
}

/** Encodes all but letters, digits and `-_.~`. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(/[!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`)
}

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return rawHeaders.flatMap((text, at) => (at % 2 === 0 && text.toLowerCase() === name ? [rawHeaders[at + 1]!] : []))
}

function trimmed(value: string): string {
  return value.trim().replace(/ +/g, ' ')
}

function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function hmac(key: Buffer | string, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest()
}

function same(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b))
}

/** The endings of AWS hosts. */
const SUFFIX = /\.(?:amazonaws\.com(?:\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn|on\.aws)$/
const REGION = /^(?:[a-z]{2}|us-gov|us-iso[a-z]?|eu-isoe|eusc-[a-z]{2})(?:-[a-z]+)+-\d{1,2}$/
/** Labels of access routes, not services. */
const WAYS: ReadonlySet<string> = new Set(['dualstack', 'vpce', 'fips'])
/** Services with other host labels, as in botocore. */
const OTHER_LABELS: Readonly<Record<string, readonly string[]>> = {
  'aws-marketplace': ['marketplace'],
  awsssoportal: ['sso'],
  connect: ['contact-lens'],
  dynamodb: ['ddb'],
  'execute-api': ['connect'],
  'iot-jobs-data': ['iot'],
  iotdata: ['iot'],
  iotdevicegateway: ['iot'],
  iotsecuredtunneling: ['iot'],
  mgh: ['migrationhub-config'],
  mobiletargeting: ['pinpoint'],
  ses: ['email', 'mail-manager'],
  'sso-oauth': ['oidc'],
}

/**
 * Why a signature for this service and region must not go to this host; null for hosts outside AWS.
 */
export function scopeProblem(host: string, region: string, service: string): string | null {
  if (!SUFFIX.test(host)) return null
  const labels = host.replace(SUFFIX, '').split('.')
  // The last label of a kind belongs to the service; earlier ones may be chosen by anyone, as in a
  // bucket name.
  const placed = labels.findLast((label) => REGION.test(label))
  if (placed !== undefined && placed !== region) return `is signed for the region ${region}, and its host is not`
  const named = labels.filter((label) => !REGION.test(label) && !WAYS.has(label)).at(-1) ?? ''
  return isLabelOf(named, service.toLowerCase()) ? null : `is signed for the service ${service}, and its host is not`
}

function isLabelOf(label: string, service: string): boolean {
  if (OTHER_LABELS[service]?.some((other) => label === other || label.split('-').includes(other))) return true
  if (label.split('-').includes(service) || label.replaceAll('-', '') === service) return true
  return label.startsWith(service) && /^(?:-.*|v?\d+|data|query|realtime|domain)?$/.test(label.slice(service.length))
}
