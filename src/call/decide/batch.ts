/** Decides a stream of calls: one JSON object per line in, one per line out, in order. */

import { posix, resolve } from 'node:path'
import type { Suggestion } from '../../approval/suggestion.ts'
import { parsePathPattern } from '../../files/path-pattern.ts'
import { renderProblem } from '../../manifest/toml/problem.ts'
import type { Labels } from '../../policy/labels.ts'
import type { PathRule } from '../../policy/policy.ts'
import { reviewedWorstCase } from '../../policy/review.ts'
import type { ManifestChoice } from '../../project/load/load.ts'
import { repositoryAt } from '../../project/load/nearby.ts'
import { openPolicy } from '../../project/open.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { type CallChecker, type CheckedCall, openChecker } from './check-call.ts'

/** Suffixes of the folders beside a project that hold its worktrees. */
const BESIDE: readonly string[] = ['.worktrees', '__worktrees', '-worktrees', '_worktrees']

export function namedWorktrees(root: string): readonly string[] {
  return BESIDE.map((suffix) => root + suffix)
}

/** The repository of a path in a log: the first folder outside the project's own path. */
export function namedRepository(path: string, root: string): string | null {
  const [parts, own] = [path.split('/'), root.split('/')]
  const shared = parts.findIndex((part, index) => part !== own[index])
  const name = shared < 0 ? undefined : parts[shared]
  const isFile = shared === parts.length - 1 && posix.extname(path) !== ''
  return name === undefined || name.startsWith('.') || isFile ? null : parts.slice(0, shared + 1).join('/')
}

/** Saved outputs of Claude Code sessions in a project. The agent may read them. */
export function namedResults(root: string, home: string): readonly PathRule[] {
  const folder = root.replace(/[^A-Za-z0-9]/g, '-')
  const parsed = parsePathPattern(`~/.claude/projects/${folder}*/*/tool-results/**`, { root, home, files: null })
  return 'problem' in parsed
    ? []
    : [{ pattern: parsed.pattern, prompt: false, rule: 'the host’s own files of the session', source: 'session' }]
}

interface BatchLine {
  readonly id: unknown
  readonly tool: string
  readonly input: unknown
  readonly manifest?: unknown
  readonly root?: string
  readonly cwd?: string
  /** Whether undo covers the roots; by default, as on this machine. */
  readonly undo?: boolean
  /** What the session has read before: labels with their first source. */
  readonly labels?: Labels
}

const MAX_POLICIES = 64

/** Answers batch lines. Reuses the policy of earlier lines with the same manifest and root. */
export class BatchChecker {
  readonly #machine: Machine
  readonly #files: Files
  readonly #fallback: ManifestChoice
  readonly #policies = new Map<string, Promise<CallChecker | { readonly error: string }>>()

  constructor(machine: Machine, files: Files, fallback: ManifestChoice) {
    this.#machine = machine
    this.#files = files
    this.#fallback = fallback
  }

  async answer(line: string): Promise<Record<string, unknown>> {
    const parsed = parseLine(line)
    if ('error' in parsed) return parsed
    const { id } = parsed
    try {
      const checker = await this.#checker(parsed)
      if ('error' in checker) return { id, error: checker.error }
      const cwd = this.#files.canonical(resolve(parsed.root ?? this.#machine.cwd, parsed.cwd ?? ''))
      const { decision, facts } = checker.check({ ...parsed, cwd })
      if (decision.decision !== 'ask') return { id, ...decision }
      return {
        id,
        ...decision,
        worst: reviewedWorstCase({ decision, facts }, checker.policy),
        suggestions: (
          await offerGrants({ decision, facts }, { root: checker.root, cwd }, this.#machine, this.#files)
        ).map(asGrants),
      }
    } catch (error) {
      if (error instanceof Fault) return { id, error: messageOf(error) }
      throw error
    }
  }

  #checker({ manifest, root, undo }: BatchLine): Promise<CallChecker | { readonly error: string }> {
    const key = JSON.stringify([root ?? null, undo ?? null, manifest === undefined, manifest ?? null])
    const known = this.#policies.get(key)
    if (known) return known
    if (this.#policies.size >= MAX_POLICIES) this.#policies.clear()
    const choice: ManifestChoice = manifest === undefined ? this.#fallback : { kind: 'object', object: manifest }
    const loading = this.#load(root ?? null, choice, undo)
    this.#policies.set(key, loading)
    return loading
  }

  async #load(
    root: string | null,
    choice: ManifestChoice,
    undo: boolean | undefined,
  ): Promise<CallChecker | { readonly error: string }> {
    const place = { machine: this.#machine, files: this.#files, root, choice }
    // A manifest given as an object replaces every layer, including the organisation's: nothing
    // runs on it.
    const alone = choice.kind === 'object' ? { organisation: [] } : {}
    const opened = await openPolicy({ ...place, ...alone, unsigned: 'as-written' })
    if ('problems' in opened) return { error: opened.problems.map(renderProblem).join('\n') }
    if ('unsigned' in opened) return { error: `${opened.manifestPath} is ${opened.unsigned}` }
    const { loaded } = opened
    // A log from another machine is judged by names alone: its files do not exist here.
    const isHere = root === null || !this.#files.isMissing(loaded.root)
    const as = { alone: choice.kind === 'object', ...(undo !== undefined && { undo }) }
    if (isHere) return openChecker(loaded, this.#machine, this.#files, undefined, as)
    return openChecker(loaded, this.#machine, this.#files, undefined, {
      alone: true,
      undo: undo ?? false,
      roots: namedWorktrees(loaded.root),
      reads: namedResults(loaded.root, this.#machine.home),
      repositoryOf: (path) => namedRepository(path, loaded.root),
    })
  }
}

/** Grants that would settle an ask. Loaded on the first one; most lines need none. */
export async function offerGrants(
  { decision, facts }: CheckedCall,
  { root, cwd }: { readonly root: string; readonly cwd: string },
  { home }: Machine,
  files: Files,
): Promise<Suggestion[]> {
  const { suggestGrants } = await import('../../approval/suggestion.ts')
  const resolved = (given: string): string => files.canonical(resolve(cwd, given))
  const repository = (path: string): string | null => repositoryAt(path, files)
  return suggestGrants(decision, facts, { root, home, resolve: resolved, repository })
}

/** A suggestion in the manifest's form. */
function asGrants(suggestion: Suggestion): { readonly grants: readonly Pick<Suggestion, 'kind' | 'value'>[] } {
  return { grants: [suggestion, ...(suggestion.also ?? [])].map(({ kind, value }) => ({ kind, value })) }
}

function parseLine(
  line: string,
): BatchLine | { readonly id: null; readonly error: string } | { id: unknown; error: string } {
  let value: unknown
  try {
    value = JSON.parse(line)
  } catch (error) {
    return { id: null, error: `the line is not JSON: ${messageOf(error)}` }
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return { id: null, error: 'a line is an object: {id, tool, input, manifest?, root?, cwd?, undo?, labels?}' }
  }
  const { id = null, tool, input, manifest, root, cwd, undo, labels } = value as Record<string, unknown>
  if (typeof tool !== 'string') return { id, error: '"tool" must be a string' }
  for (const [name, path] of Object.entries({ root, cwd })) {
    if (path === undefined || path === null) continue
    if (typeof path !== 'string' || path === '' || path.includes('\0')) return { id, error: `"${name}" must be a path` }
  }
  if (
    labels !== undefined &&
    !(isRecord(labels) && Object.values(labels).every((source) => typeof source === 'string'))
  )
    return { id, error: '"labels" must be an object of texts' }
  return {
    id,
    tool,
    input,
    ...(labels !== undefined && { labels: new Map(Object.entries(labels as Record<string, string>)) }),
    ...(manifest !== undefined && manifest !== null && { manifest }),
    ...(typeof root === 'string' && { root }),
    ...(typeof cwd === 'string' && { cwd }),
    ...(typeof undo === 'boolean' && { undo }),
  }
}
