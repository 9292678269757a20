/** The rules for undo in a project: those of its commands, for the current tree. */

import { lstatSync, readdirSync, readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { isBelowGit, isDownwardLink } from '../files/git-links.ts'
import { matchSegment } from '../files/glob.ts'
import { decodePath, encodePath, foldForBroker } from '../files/path-bytes.ts'
import { splitPath } from '../files/path-pattern.ts'
import { homeLinks } from '../project/place/own-places.ts'
import type { ChangeRule } from '../sandbox/changes.ts'
import { gitWays, linkTargetJudge, ruleList } from '../sandbox/protect/change-rules.ts'
import type { ProtectFacts } from '../sandbox/protect/protect.ts'
import { SecretTree } from '../sandbox/protect/tree.ts'
import {
  judgeSequence,
  pointedAt,
  readConfig,
  realPath,
  sequenceFiles,
  takeBaseline,
} from '../sandbox/quarantine/baseline.ts'
import type { Machine } from '../system/machine.ts'
import type { CallStore, KeptCall } from '../undo/call-store.ts'
import type { PutKind, PutRules } from '../undo/conflicts.ts'

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
class RuleJudge {
  readonly #rules: readonly Rule[]
  readonly #byFirst = new Map<string, Rule[]>()
  readonly #wild: Rule[] = []
  readonly #roots: readonly (readonly string[])[]

  readonly #isTarget: (path: string) => boolean

  constructor(rules: readonly ChangeRule[], roots: readonly string[], isTarget: (path: string) => boolean) {
    this.#isTarget = isTarget
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
      if (entry.isSymbolicLink() && this.#refusesLinkText(path, there)) return path
      const below = entry.isDirectory() ? this.#protectedBelow(old, now, there, path, depth + 1) : null
      if (below !== null) return below
    }
    return null
  }

  /** Whether a link that moves from `at` would point to where no link may, or be one that git writes through. */
  #refusesLinkText(path: string, at: string): boolean {
    const text = decodePath(readlinkSync(Buffer.from(encodePath(at)), 'buffer'))
    const isGitLink = isBelowGit(path) && !isBelowGit(at) && !isDownwardLink(text)
    return isGitLink || this.#isTarget(posix.resolve(posix.dirname(path), text))
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

/** The rules for undoing one call, read from the tree on first use: most calls are only listed. */
export function undoRules(machine: Machine, store: CallStore, call: KeptCall): PutRules {
  let created: PutRules | null = null
  const rules = (): PutRules => (created ??= readRules(machine, store, call))
  return {
    refusedPut: (path, kind, text) => rules().refusedPut(path, kind, text),
    refusedMove: (from, to, at) => rules().refusedMove(from, to, at),
    isJudged: (path) => rules().isJudged(path),
  }
}

function readRules(machine: Machine, store: CallStore, { id, about }: KeptCall): PutRules {
  const { home, configDir, stateDir } = machine
  const roots = about.roots
  const own = { configDir, stateDir, manifestPath: posix.join(roots[0] ?? '/', 'cordon.toml') }
  const facts: ProtectFacts = {
    home,
    write: roots,
    named: about.opened ?? [],
    own,
    homeLinks: homeLinks(home, configDir),
  }
  const tree = new SecretTree(roots)
  try {
    tree.refresh()
    const { configs, pointers } = takeBaseline(tree, facts)
    const judge = new RuleJudge(ruleList(facts, configs), roots, linkTargetJudge(facts))
    const targets = Object.entries(pointers).flatMap(([path, text]) => pointedAt(path, text) ?? [])
    const ways = gitWays(facts, configs, targets.map(posix.normalize)).map(posix.normalize)
    const isOnWay = (path: string) => ways.some((way) => way === path || way.startsWith(`${path}/`))
    const others = store.list().filter((one) => one.id !== id && sharesRoot(one.about.roots, roots))
    const isAlone = !others.some((one) => store.isUnderWay(one))
    return {
      refusedPut: (path, kind, text) => {
        if (kind !== 'link') return isRefused(judge, path, kind, text) ? path : null
        return isOnWay(path) ? path : refusedLink(judge, path, text(), isAlone)
      },
      refusedMove: (from, to, at) => {
        // A running command may write into the folder meanwhile.
        if (!isAlone && !judge.isPlainMove(from, to)) return to
        const found = judge.protectedByMove(from, to, at) ?? ways.find((way) => isBent(way, to, at))
        return found ?? movedSequence(to, at)
      },
      isJudged: (path) => judge.judge(path).action === 'judge',
    }
  } finally {
    tree.close()
  }
}

function isRefused(judge: RuleJudge, path: string, kind: PutKind, text: () => string | null): boolean {
  const { action, folder, isExact } = judge.judge(path)
  if (kind === 'folder' && folder && isExact) return false
  if (action === 'refuse' || (action === 'judge' && kind === 'folder')) return true
  return (
    kind === 'file' && sequenceFiles(posix.dirname(posix.dirname(path))).includes(path) && runsProgram(path, text())
  )
}

/**
 * A link names everything at its target. One that a command could not create is restored only if it
 * is harmless by now.
 */
function refusedLink(judge: RuleJudge, path: string, text: string | null, isAlone: boolean): string | null {
  if (!judge.refusesLink(path)) return null
  const target =
    text === null ? null : realPath(posix.resolve(posix.dirname(path), Buffer.from(text, 'latin1').toString()))
  const { action } = judge.judge(path)
  if (target === null || !isAlone || action === 'refuse' || action === 'judge') return path
  return lstatSync(target).isDirectory() ? judge.protectedByMove(target, path) : path
}

/** Steps that git would continue in a folder that moves to this path. */
function movedSequence(to: string, at: string): string | null {
  const files = [to, posix.dirname(to)].flatMap(sequenceFiles).filter((path) => path.startsWith(`${to}/`))
  return files.find((path) => runsProgram(path, readConfig(at + path.slice(to.length)) ?? null)) ?? null
}

function runsProgram(path: string, text: string | null): boolean {
  return text !== null && judgeSequence(path, null, text) !== null
}

/** Whether a folder that moves into the path of a git setting has a link there. */
function isBent(way: string, to: string, at: string): boolean {
  if (!way.startsWith(`${to}/`)) return false
  const names = way.slice(to.length + 1).split('/')
  return names.some((_, count) =>
    lstatSync(posix.join(at, ...names.slice(0, count + 1)), { throwIfNoEntry: false })?.isSymbolicLink(),
  )
}

function sharesRoot(one: readonly string[], other: readonly string[]): boolean {
  const isIn = (path: string, root: string) => path === root || path.startsWith(`${root}/`)
  return one.some((a) => other.some((b) => isIn(a, b) || isIn(b, a)))
}
