/** Turns a tool's input into the facts that a decision needs: canonical paths, parsed URLs, shell facts. */

import { posix } from 'node:path'
import { comingTogether } from '../../files/protected-paths.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { HostFact, PathFact, ShellFact, ToolCall } from '../../policy/call.ts'
import type { McpCall } from '../../policy/mcp-rules.ts'
import { gitInternalAt } from '../../run/git-internals.ts'
import type { ShellAnalysis, ShellContext } from '../../shell/facts.ts'
import { Fault } from '../../system/fault.ts'
import { type CheckedPath, checkedPath } from '../../system/guarded/checked-path.ts'
import type { Actions } from '../../tools/tool.ts'

/** Facts about the machine that resolving needs. */
export interface Surroundings {
  /** Canonical directory that relative paths are resolved against. */
  readonly cwd: string
  readonly home: string
  /** Directories whose files undo keeps (`keptPlaces`). */
  readonly roots: readonly string[]
  /** TMPDIR of a command; null if Cordon does not set it. */
  readonly temporary: string | null
  /** True if a command may run in a charset other than UTF-8 or C. */
  readonly foreignCharset: boolean
  readonly canonical: (path: string) => string
  readonly isLink: (path: string) => boolean
  /** The shell analysis; null if not loaded, in which case commands cannot be judged. */
  readonly analyze: ((command: string, context: ShellContext) => ShellAnalysis) | null
  readonly syntaxError: (command: string) => string | null
  readonly ownAddresses: () => readonly string[]
  readonly scriptProblem?: (path: string) => string | null
  readonly scriptBelow?: (path: string) => string | null
}

/** Resolves what a call touches. Throws a Fault for a path such as a loop of links. */
export function resolveCall(tool: string, actions: Actions, around: Surroundings): ToolCall {
  const paths = (given: readonly string[] | undefined): PathFact[] =>
    (given ?? []).map((path) => pathFact(path, around))
  const writes = paths(actions.writes)
  return {
    tool,
    reads: paths(actions.reads),
    writes: writes.length > 1 ? madeTogether(writes) : writes,
    // A command's working directory must lie in the roots like any other path (F1).
    lists: [...paths(actions.lists), ...(actions.cwd === undefined ? [] : [pathFact(actions.cwd, around)])],
    hosts: actions.url === undefined ? [] : [hostFact(actions, around)],
    shell: actions.command === undefined ? null : shellFact(actions.command, actions, around),
    requireConfirmation: false,
    ...(actions.ownOnly && { ownOnly: true }),
  }
}

/** A file of a patch can make a repository of the folder that another one is in. */
function madeTogether(writes: readonly PathFact[]): PathFact[] {
  const coming = comingTogether(writes.map(({ path }) => path))
  return writes.map((fact) => {
    const gitInternal = fact.gitInternal ?? gitInternalAt(fact.path, coming)
    return gitInternal === null ? fact : { ...fact, gitInternal }
  })
}

/** A call of which nothing but the tool's name is known: only levels decide, and rules for an MCP server's tools. */
export function bareCall(tool: string, mcp?: McpCall): ToolCall {
  const nothing = { reads: [], writes: [], lists: [], hosts: [], shell: null }
  return { tool, ...nothing, requireConfirmation: false, ...(mcp && { mcp }) }
}

/** Judged paths by the words that named them: what the tool may open once allowed. */
export function checkedPaths({ reads, writes, lists }: ToolCall): ReadonlyMap<string, CheckedPath> {
  return new Map([...reads, ...writes, ...lists].map(({ given, path }) => [given, checkedPath(path)]))
}

function pathFact(given: string, around: Surroundings): PathFact {
  const home = given === '~' || given.startsWith('~/') ? around.home + given.slice(1) : given
  const absolute = posix.isAbsolute(home) ? home : `${around.cwd}/${home}`
  const path = around.canonical(absolute)
  const written = posix.resolve(absolute)
  const gitInternal = gitInternalAt(path)
  return { given, path, ...(written !== path && { written }), ...(gitInternal !== null && { gitInternal }) }
}

function hostFact(actions: Actions, around: Surroundings): HostFact {
  return {
    given: actions.url!,
    url: parseUrl(actions.url!),
    method: (actions.method ?? 'GET').toUpperCase(),
    ownAddresses: around.ownAddresses(),
    ...(actions.resolved && { resolved: actions.resolved }),
    ...(actions.hops && { hops: actions.hops }),
  }
}

function shellFact(command: string, { cwd, background }: Actions, around: Surroundings): ShellFact {
  if (!around.analyze) throw new Fault('no-shell', 'the shell analysis is not loaded')
  const start = cwd === undefined ? around.cwd : pathFact(cwd, around).path
  const analysis = around.analyze(command, {
    cwd: start,
    home: around.home,
    roots: around.roots,
    foreignCharset: around.foreignCharset,
    variables:
      around.temporary === null
        ? { HOME: around.home, PWD: start }
        : { HOME: around.home, PWD: start, TMPDIR: around.temporary },
  })
  const asks = 'facts' in analysis && analysis.facts.needsSyntaxCheck
  return {
    command,
    ...(background && { background }),
    analysis,
    syntaxError: asks ? around.syntaxError(command) : null,
    canonical: remembering(around, start),
    scriptProblem: around.scriptProblem,
    scriptBelow: around.scriptBelow,
  }
}

/** An empty segment, `.`, `..`, or a trailing slash. */
const UNTIDY = /\/\.{0,2}(?:\/|$)/

/** Caches canonical paths during one decision, which repeats the same directories. */
function remembering(around: Surroundings, start: string): (path: string) => string {
  const known = new Map<string, string>([
    ['/', '/'],
    [start, start],
  ])
  const resolve = (path: string): string => {
    const found = known.get(path)
    if (found !== undefined) return found
    const plain = path.startsWith('/') && !UNTIDY.test(path) && !around.isLink(path)
    const slash = path.lastIndexOf('/')
    const folder = plain ? resolve(path.slice(0, slash) || '/') : null
    const canonical = folder === null ? around.canonical(path) : `${folder === '/' ? '' : folder}${path.slice(slash)}`
    known.set(path, canonical)
    return canonical
  }
  return resolve
}
