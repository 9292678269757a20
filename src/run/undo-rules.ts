/** The rules for undo in a project: those of its commands, for the current tree. */

import { lstatSync } from 'node:fs'
import { posix } from 'node:path'
import { homeLinks } from '../project/place/own-places.ts'
import { gitWays, ruleList } from '../sandbox/protect/change-rules.ts'
import type { ProtectFacts } from '../sandbox/protect/protect.ts'
import { RuleJudge } from '../sandbox/protect/rule-judge.ts'
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

/** The rules for undoing one call, read from the tree on first use: most calls are only listed. */
export function undoRules(machine: Machine, store: CallStore, call: KeptCall): PutRules {
  let made: PutRules | null = null
  const rules = (): PutRules => (made ??= readRules(machine, store, call))
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
    const judge = new RuleJudge(ruleList(facts, configs), roots)
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
