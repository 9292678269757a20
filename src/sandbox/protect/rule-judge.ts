/** The broker's rules (native/broker/rules.c) for changes that Cordon makes itself: what may not come into place, by its name. */

import { readdirSync } from 'node:fs'
import { posix } from 'node:path'
import { matchSegment } from '../../files/glob.ts'
import { decodePath, encodePath, foldForBroker } from '../../files/path-bytes.ts'
import { splitPath } from '../../files/path-pattern.ts'
import type { ChangeRule } from '../changes.ts'

interface Rule extends ChangeRule {
  readonly segments: readonly string[]
  readonly number: number
}

/** The result of a rule for a path; `isExact`: about the path itself and not one above it. */
interface Judgement {
  readonly action: ChangeRule['action']
  readonly folder: boolean
  readonly isExact: boolean
  /** False: no rule is about it. */
  readonly isRuled: boolean
}

const FREE: Judgement = { action: 'free', folder: false, isExact: false, isRuled: false }
const MAX_DEPTH = 128

/** Rules, prepared for comparing. The last one that fits a path decides. */
export class RuleJudge {
  readonly #rules: readonly Rule[]
  readonly #byFirst = new Map<string, Rule[]>()
  readonly #wild: Rule[] = []
  readonly #roots: readonly (readonly string[])[]

  constructor(rules: readonly ChangeRule[], roots: readonly string[]) {
    this.#roots = roots.map((root) => splitPath(foldForBroker(root)))
    this.#rules = rules.map((rule, number) => ({ ...rule, number, segments: splitPath(rule.pattern) }))
    for (const rule of this.#rules.toReversed()) {
      const first = rule.segments[0]!
      const known = this.#byFirst.get(first)
      if (rule.pattern.startsWith('/') || first.includes('*')) this.#wild.push(rule)
      else if (known) known.push(rule)
      else this.#byFirst.set(first, [rule])
    }
  }

  judge(path: string): Judgement {
    return this.#judge(foldedNames(path))
  }

  /** Whether a link at a path would give a protected name to something behind it: `.vscode`. */
  refusesLink(path: string): boolean {
    const names = foldedNames(path)
    return isProtecting(this.#judge(names)) || this.#beginnings(names).length > 0
  }

  /** Whether protection below a folder depends on its place: not for a move among plain names. */
  isPlainMove(from: string, to: string): boolean {
    const [before, after] = [foldedNames(from), foldedNames(to)]
    const isFreed = (names: readonly string[]) => {
      const { action, isRuled } = this.#judge([...names, 'x'])
      return isRuled && action === 'free'
    }
    if (isProtecting(this.#judge(after)) || this.#beginnings(after).length > 0) return false
    return !isFreed(before) || isFreed(after)
  }

  /** What becomes protected below a folder at its new place, or null. `at`: its current place. */
  protectedByMove(from: string, to: string, at: string = from): string | null {
    const [before, after] = [foldedNames(from), foldedNames(to)]
    const judged = this.#judge(after)
    const mayStand = judged.folder && judged.isExact
    if (isProtecting(judged) && !mayStand && !isProtecting(this.#judge(before))) return to
    return this.#protectedBelow(before, after, at, to, 0)
  }

  #protectedBelow(
    before: readonly string[],
    after: readonly string[],
    at: string,
    to: string,
    depth: number,
  ): string | null {
    // Anything below the depth limit counts as the worst.
    if (depth > MAX_DEPTH) return to
    for (const entry of readdirSync(Buffer.from(encodePath(at)), { withFileTypes: true, encoding: 'buffer' })) {
      const ownName = decodePath(entry.name)
      const name = foldForBroker(ownName)
      const [old, now] = [
        [...before, name],
        [...after, name],
      ]
      const [path, there] = [posix.join(to, ownName), posix.join(at, ownName)]
      const judged = this.#judge(now)
      const isFolder = entry.isDirectory() && judged.folder && judged.isExact
      if (isProtecting(judged) && !isFolder && !isProtecting(this.#judge(old))) return path
      if (entry.isSymbolicLink() && this.#beginnings(now).length > 0 && this.#beginnings(old).length === 0) return path
      const below = entry.isDirectory() ? this.#protectedBelow(old, now, there, path, depth + 1) : null
      if (below !== null) return below
    }
    return null
  }

  #judge(names: readonly string[]): Judgement {
    let best: Rule | null = null
    let isExact = false
    const root = this.#rootLength(names)
    for (let at = 0; at < names.length; at++)
      for (const list of [this.#byFirst.get(names[at]!) ?? [], this.#wild])
        for (const rule of list) {
          if (best !== null && rule.number <= best.number) break
          if ((rule.pattern.startsWith('/') && at > 0) || (rule.below && at < root)) continue
          const taken = takes(rule.segments, names.slice(at))
          if (taken === 0) continue
          best = rule
          isExact = at + taken === names.length
          break
        }
    return best === null ? FREE : { action: best.action, folder: best.folder === true, isExact, isRuled: true }
  }

  /** Rules that begin where a path ends, and protect something below it. */
  #beginnings(names: readonly string[]): readonly Rule[] {
    return this.#rules.filter((rule) => {
      if (rule.action !== 'refuse' && rule.action !== 'judge') return false
      const starts = rule.pattern.startsWith('/') ? [0] : names.map((_, at) => at)
      return rule.segments.some((segment, at) => {
        if (at === 0 || rule.segments[at - 1] === '**') return false
        const head = rule.segments.slice(0, at)
        const rest = [segment, ...rule.segments.slice(at + 1)].filter((one) => one !== '**')
        return (
          starts.some((start) => fitsAll(head, names.slice(start))) && isProtecting(this.#judge([...names, ...rest]))
        )
      })
    })
  }

  #rootLength(names: readonly string[]): number {
    return Math.max(
      0,
      ...this.#roots.filter((root) => root.every((name, at) => names[at] === name)).map((root) => root.length),
    )
  }
}

function isProtecting({ action }: Judgement): boolean {
  return action === 'refuse' || action === 'judge'
}

function foldedNames(path: string): readonly string[] {
  return splitPath(foldForBroker(path))
}

/** How many of the names the segments take, at least one; 0 when they do not fit. A segment `**` takes any number. */
function takes(segments: readonly string[], names: readonly string[]): number {
  let taken = 0
  for (const [at, segment] of segments.entries()) {
    if (segment === '**') {
      for (let skip = 0; taken + skip <= names.length; skip++) {
        const rest = at + 1 === segments.length ? 0 : takes(segments.slice(at + 1), names.slice(taken + skip))
        if (rest > 0) return taken + skip + rest
      }
      return 0
    }
    const name = names[taken]
    if (name === undefined || !matchSegment(segment, name)) return 0
    taken++
  }
  return taken
}

function fitsAll(segments: readonly string[], names: readonly string[]): boolean {
  const [first, ...others] = segments
  if (first === undefined) return names.length === 0
  if (first !== '**') return names.length > 0 && matchSegment(first, names[0]!) && fitsAll(others, names.slice(1))
  return names.some((_, skip) => fitsAll(others, names.slice(skip))) || fitsAll(others, [])
}
