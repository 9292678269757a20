/** The rules of `[packages]`, and the judgement of a release. PURE. */

import { matchSegment } from '../../files/glob.ts'
import type { Verdict } from '../../policy/order.ts'
import type { EgressDenial } from '../wire/refusal.ts'
import { lookAlike } from './look-alike.ts'
import type { Ecosystem, Registry, Release } from './release.ts'

export interface PackageRules {
  /** In seconds; null: any age. */
  readonly minimumAge: number | null
  /** Names in no committed lock file. */
  readonly newDependencies: Verdict
  readonly installScripts: Verdict
  readonly lookAlikes: Verdict
  /** Names, globs and address prefixes that are exempt. */
  readonly trusted: readonly string[]
  readonly registries: readonly Registry[]
  /**
   * The command is one of these package managers: files from elsewhere are packages too, whatever
   * their ending.
   */
  readonly managers: readonly Ecosystem[]
  /** The folder of the project's lock files. */
  readonly root: string
}

/** The remedy for a private registry without times. */
export const NO_TIMES =
  'If the registry is your own, list package names or its address under trusted in [packages], such as "@acme/*" or "https://HOST/PATH/"'

/** A concern that a person may accept, once per `key`. */
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

/** Whether a file is below a trusted address; an entry must end at a segment's end. */
export function isTrustedPlace({ trusted }: PackageRules, host: string, path: string): boolean {
  return trusted.some((entry) => {
    // Plain HTTP only where no one else can answer: a registry of this machine.
    if (!/^https:\/\/|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])[:/]/.test(entry)) return false
    const place = entry.replace(/^https?:\/\//, '').replace(/\/?\**$/, '/')
    return `${host}${path}`.startsWith(place)
  })
}

/** Why a release is too young to be offered; null if it is old enough. */
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

/**
 * The other concerns about a fetched release. `known`: names in committed lock files; null if not
 * read.
 */
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
