/** What `[packages]` says, and what a release is judged by. PURE. */

import { matchSegment } from '../../files/glob.ts'
import type { Verdict } from '../../policy/order.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { lookAlike } from './look-alike.ts'
import type { Ecosystem, Registry, Release } from './release.ts'

export interface PackageRules {
  /** In seconds; null: of any age. */
  readonly minimumAge: number | null
  /** Names that no committed lock file has. */
  readonly newDependencies: Verdict
  readonly installScripts: Verdict
  readonly lookAlikes: Verdict
  /** Names, globs of them, and beginnings of addresses that nothing here applies to. */
  readonly trusted: readonly string[]
  readonly registries: readonly Registry[]
  /** The command is a package manager of these: a file from elsewhere is a package too, whatever its name ends in. */
  readonly managers: readonly Ecosystem[]
  /** Where the project's lock files are. */
  readonly root: string
}

/** What to do about a registry that is one's own. */
export const NO_TIMES =
  'If the registry is your own, list package names or its address under trusted in [packages], such as "@acme/*" or "https://HOST/PATH/"'

/** Something that a person may agree to, once for what `key` names. */
export interface PackageConcern {
  readonly key: string
  readonly verdict: Exclude<Verdict, 'allow'>
  readonly message: string
}

export function isTrusted(rules: PackageRules, name: string): boolean {
  return rules.trusted.some((pattern) => {
    const [globs, parts] = [pattern.split('/'), name.split('/')]
    return globs.length === parts.length && globs.every((glob, at) => matchSegment(glob, parts[at]!))
  })
}

/** True for a file below an address that is trusted; the end of a segment must be the end of the entry. */
export function isTrustedPlace({ trusted }: PackageRules, host: string, path: string): boolean {
  return trusted.some((entry) => {
    // Plain HTTP only where no one else can answer: a registry of this machine.
    if (!/^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(entry)) return false
    const place = entry.replace(/^https?:\/\//, '').replace(/\/?\**$/, '/')
    return `${host}${path}`.startsWith(place)
  })
}

/** Why a release is too young to be offered; null where it is old enough. */
export function ageProblem(
  { minimumAge }: PackageRules,
  name: string,
  { version, published }: Pick<Release, 'version' | 'published'>,
  now: number,
): EgressDenial | null {
  if (minimumAge === null) return null
  const subject = `${name} ${version}`
  if (published === null)
    return {
      code: 'package-undated',
      message: `${subject}: the registry does not say when it was published. ${NO_TIMES}`,
    }
  const age = (now - published) / 1000
  if (age >= minimumAge) return null
  const message = `${subject} was published ${duration(age)} ago, and minimum_age is ${duration(minimumAge)}`
  return { code: 'package-young', message }
}

/** What else there is to say about a release that is fetched. `known`: names in committed lock files; null where no one looked. */
export function concernsOf(
  rules: PackageRules,
  ecosystem: Ecosystem,
  name: string,
  release: Release,
  known: ReadonlySet<string> | null,
): readonly PackageConcern[] {
  const { newDependencies, lookAlikes, installScripts } = rules
  const concerns: PackageConcern[] = []
  const add = (verdict: Verdict, key: string, message: string): void => {
    if (verdict !== 'allow') concerns.push({ key, verdict, message })
  }
  const isKnown = known?.has(name) === true
  const like = isKnown ? null : lookAlike(ecosystem, name)
  const proof = release.provenance ? ' The registry has its provenance.' : ''
  if (like !== null)
    add(lookAlikes, `like ${name}`, `The package ${name} is one edit away from ${like}, which is popular.`)
  if (!isKnown)
    add(
      newDependencies,
      'new',
      `${name} ${release.version} is in no committed lock file.${proof} A yes covers the new packages of this run.`,
    )
  if (release.scripts)
    add(
      installScripts,
      `scripts ${name} ${release.version}`,
      `${name} ${release.version} runs its own code when it is installed.${proof}`,
    )
  return concerns
}

const UNITS: readonly (readonly [seconds: number, name: string])[] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
]

export function duration(seconds: number): string {
  if (seconds <= 0) return '0 seconds'
  const [size, name] = UNITS.find(([unit]) => seconds >= unit) ?? UNITS.at(-1)!
  const count = Math.floor(seconds / size)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}
