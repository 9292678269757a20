/** The egress rules of one command: hosts, methods, paths, and what is undecided. PURE. */

import { matchSegments } from '../../files/glob.ts'
import { classifyAddress } from '../../hosts/address.ts'
import { quote } from '../../hosts/host.ts'
import { type HostJudgement, judgeHost } from '../../hosts/judge.ts'
import type { HostPattern } from '../../hosts/pattern.ts'
import type { SuffixLookup } from '../../hosts/suffix.ts'
import type { HostRule, HostRules } from '../../policy/policy.ts'
import { attempt } from '../../system/fault.ts'
import type { PackageRules } from '../packages/rules.ts'
import { isMethod } from '../wire/form-fields.ts'
import { isMethodField, isMethodOverride, isPlaceOverride } from '../wire/override-headers.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { authorityOf, type Target, urlOf } from '../wire/target.ts'

/**
 * `allowed` is the union of the command's grants, the inherited default domains and its bundles'
 * hosts; `[]` means no network.
 */
export interface EgressRules extends HostRules {
  /** The command as a person recognises it, for events and refusals. */
  readonly command: string
  /** The connecting program, if known. */
  readonly program?: string
  /** The whole command, for questions; absent if `command` is whole. */
  readonly whole?: string
  readonly ownAddresses?: readonly string[]
  readonly opensNamedLoopback?: boolean
  /** Hosts that stay closed because none of these keys is brokered, unless a rule names them. */
  readonly keyless?: readonly { readonly host: string; readonly names: readonly string[] }[]
  /** Hosts of an agent's updates, catalogues and telemetry, with its name: never asked about. */
  readonly declined?: ReadonlyMap<string, string>
  readonly suffixes?: SuffixLookup
  /** The rules of `[packages]`; absent if packages are not judged. */
  readonly packages?: PackageRules
}

/** The facts that narrowed rules check. */
export interface RequestFacts {
  readonly method: string
  /** The path as it will be sent, with its query. */
  readonly path: string
  readonly rawHeaders: readonly string[]
}

/** Judges a host, before (`resolved` absent) or after its addresses are known. */
export function judgeTarget(rules: EgressRules, target: Target, resolved?: readonly string[]): HostJudgement<HostRule> {
  const url = urlOf(target, target.port !== 80)
  return judgeHost(resolved === undefined ? { url } : { url, resolved }, rules)
}

/** Whether no rule decided about the host, so that a person may. */
export function isUndecided(judgement: HostJudgement<HostRule>): boolean {
  return (
    judgement.verdict === 'deny' && ['host-unlisted', 'port-unlisted', 'host-below-suffix'].includes(judgement.code)
  )
}

/** The rules with one more host and port, which a person just granted. */
export function withAnswer(rules: EgressRules, target: Target): EgressRules {
  const { host, port, kind } = target
  const pattern: HostPattern = { text: authorityOf(target, null), host, wildcard: false, port, kind }
  const answer: HostRule = { rule: 'answer', source: 'prompt', pattern }
  return { ...rules, allowed: [...(rules.allowed ?? []), answer] }
}

/** Judges a request to an admitted host: one rule must admit its method and its path together. */
export function judgeRequest(rules: EgressRules, target: Target, request: RequestFacts): EgressDenial | null {
  // Most rules are not narrowed, and every request passes here.
  if (rules.allowed === null || !rules.allowed.some(isNarrowed)) return null
  const admitting = (admittingRules(rules, target) ?? []).filter((rule) => rule.ssh === undefined)
  if (admitting.length === 0) {
    const message = `${quote(authorityOf(target, 443))} is granted for git over ssh alone`
    return { code: 'method-unlisted', message }
  }
  if (admitting.some((rule) => !isNarrowed(rule))) return null
  const subject = quote(authorityOf(target, 443))
  const methods = admitting.filter((rule) => rule.methods === undefined || rule.methods.includes(request.method))
  if (methods.length === 0) {
    const listed = [...new Set(admitting.flatMap((rule) => rule.methods ?? []))].join(', ')
    return { code: 'method-unlisted', message: `${subject} is granted for ${listed}, not for ${request.method}` }
  }
  const [path, query] = splitQuery(request.path)
  if (holdsHeader(request.rawHeaders, isMethodOverride) || overridesMethod(query)) {
    return { code: 'method-unlisted', message: `a request to ${subject} overrides its method in a header or parameter` }
  }
  if (methods.some((rule) => rule.paths === undefined)) return null
  const problem = pathProblem(path)
  if (problem !== null) return { code: 'path-unlisted', message: `${quote(path)} ${problem}` }
  if (holdsHeader(request.rawHeaders, isPlaceOverride)) {
    return { code: 'path-unlisted', message: `a request to ${subject} overrides its path in a header` }
  }
  if (methods.some((rule) => rule.paths!.some((glob) => matchesPath(glob, path)))) return null
  return { code: 'path-unlisted', message: `${quote(path)} on ${subject} is not among the granted paths` }
}

/** Whether rules give the host for some methods only: a form could override the method. */
export function isHeldToMethods(rules: EgressRules, target: Target): boolean {
  const admitting = rules.allowed?.some((rule) => rule.methods !== undefined) ? admittingRules(rules, target) : null
  return admitting !== null && admitting.length > 0 && admitting.every((rule) => rule.methods !== undefined)
}

/** Judges a git service of an admitted host: one rule must give it and the repository together. */
export function judgeGit(
  rules: EgressRules,
  target: Target,
  { service, path }: { readonly service: string; readonly path: string },
): EgressDenial | null {
  const subject = quote(authorityOf(target, null))
  const granted = (admittingRules(rules, target) ?? []).filter((rule) => rule.ssh !== undefined)
  if (granted.length === 0) {
    return { code: 'method-unlisted', message: `no rule lets Cordon log in to ${subject} for git (ssh = "fetch")` }
  }
  const enough = granted.filter((rule) => rule.ssh === 'push' || service === 'upload-pack')
  if (enough.length === 0) {
    return { code: 'method-unlisted', message: `${subject} is granted for fetching, not for pushing (ssh = "push")` }
  }
  if (enough.some((rule) => rule.paths === undefined)) return null
  const whole = path.startsWith('/') ? path : `/${path}`
  const problem = pathProblem(whole) ?? (whole.startsWith('/~') ? 'starts in a home directory' : null)
  if (problem !== null) return { code: 'path-unlisted', message: `${quote(path)} ${problem}` }
  const repositories = [whole, whole.replace(/\.git$/, '')]
  const listed = enough.some((rule) => rule.paths!.some((glob) => repositories.some((one) => matchesPath(glob, one))))
  return listed
    ? null
    : { code: 'path-unlisted', message: `${quote(path)} on ${subject} is not among the granted paths` }
}

/** Whether raw bytes may go there: an explicit port that is not the web's, without narrowing. */
export function mayCarryRawBytes(rules: EgressRules, target: Target): boolean {
  if (target.port === 80 || target.port === 443) return false
  const admitting = admittingRules(rules, target)
  if (limitingRules(rules, target).length > 0) return false
  return admitting?.some((rule) => rule.pattern.port === target.port && !isNarrowed(rule)) ?? false
}

/**
 * Whether TLS to this host is passed through unread (`tls = "pass"`): only its name and address are
 * checked then.
 */
export function isPassedThrough(rules: EgressRules, target: Target): boolean {
  // Narrowing and limits need readable requests.
  if (limitingRules(rules, target).length > 0) return false
  return admittingRules(rules, target)?.some((rule) => rule.tls === 'pass' && !isNarrowed(rule)) ?? false
}

/** True for a host that serves a signed registry whose packages are judged. */
export function isRegistryHost({ packages }: EgressRules, { host }: Target): boolean {
  return (packages?.registries ?? []).some(({ url, subdomains }) => {
    const { hostname } = new URL(url)
    return host === hostname || (subdomains && host.endsWith(`.${hostname}`))
  })
}

/** The rules that admit the host and limit its traffic: each applies, whatever else admits it. */
export function limitingRules(rules: EgressRules, target: Target): readonly HostRule[] {
  const limited = (rules.allowed ?? []).filter((rule) => rule.maxRequests !== undefined || rule.maxUpload !== undefined)
  return limited.length === 0 ? [] : (admittingRules({ ...rules, allowed: limited }, target) ?? [])
}

/** The rules that admit the host; null if public hosts are not limited. */
function admittingRules(rules: EgressRules, target: Target): readonly HostRule[] | null {
  if (rules.allowed === null) return null
  return rules.allowed.filter((rule) => judgeTarget({ ...rules, allowed: [rule] }, target).verdict === 'allow')
}

function isNarrowed(rule: HostRule): boolean {
  return rule.methods !== undefined || rule.paths !== undefined || rule.ssh !== undefined
}

function matchesPath(glob: string, path: string): boolean {
  return matchSegments(glob.split('/'), path.split('/'))
}

function splitQuery(path: string): [path: string, query: string] {
  const mark = path.indexOf('?')
  return mark < 0 ? [path, ''] : [path.slice(0, mark), path.slice(mark + 1)]
}

function holdsHeader(rawHeaders: readonly string[], isMeant: (name: string) => boolean): boolean {
  return rawHeaders.some((name, at) => at % 2 === 0 && isMeant(name))
}

function overridesMethod(query: string): boolean {
  if (query === '') return false
  const parameters = new URLSearchParams(query.replaceAll(';', '&'))
  return [...parameters].some(
    ([name, value]) => isMethodField(name) || (name.toLowerCase() === 'method' && isMethod(value)),
  )
}

/** Why a server may read the path differently from the matched one. */
function pathProblem(path: string): string | null {
  if (/[^!-~]/.test(path)) return 'contains a space or a character outside of ASCII'
  if (/%(?![0-9a-f]{2})/i.test(path)) return 'contains a "%" that encodes nothing'
  if (/%(2e|2f|5c|25|[01][0-9a-f]|7f)/i.test(path))
    return 'contains an encoded dot, slash, backslash, percent sign or control character'
  const read = decodedPath(path)
  if (read === null) return 'contains an encoded character that is not UTF-8'
  // Also dots with spaces around them, and characters that resemble a dot or a slash.
  if (/(^|\/)\s*\.+\s*([/?#]|$)/.test(read)) return 'contains a segment of nothing but dots'
  if (/\/\/|\\|;/.test(read)) return 'contains "//", a backslash or a semicolon'
  return read.split('/').length === path.split('/').length ? null : 'contains a sign that may be read as a slash'
}

function decodedPath(path: string): string | null {
  return attempt(() => decodeURIComponent(path).normalize('NFKC'), null)
}

export function isLoopback(address: string): boolean {
  return classifyAddress(address) === 'loopback'
}
