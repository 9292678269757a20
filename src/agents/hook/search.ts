/** Finds files that a host's search would read or list, but may not. */

import { type Dirent, readdirSync } from 'node:fs'
import { join, relative } from 'node:path'
import { secretOf } from '../../files/secret-shapes.ts'
import type { SessionFacts } from '../../policy/call.ts'
import { type Decision, denial } from '../../policy/decision.ts'
import { evaluate } from '../../policy/evaluate/evaluate.ts'
import type { Policy } from '../../policy/policy.ts'
import { attempt } from '../../system/fault.ts'
import type { HostSearch } from './judge.ts'

/** A larger tree would exceed a hook's time. */
const MAX_ENTRIES = 40_000
/** No person's search needs more globs. */
const MAX_EXCLUDED = 60

const REMEDY =
  'Search a narrower directory or a single file, or search with a shell command: that runs in the sandbox, where such files are masked.'

/** Files that a search must exclude, or its denial if the host cannot exclude any. */
export type NotToRead = { readonly excluded: readonly string[] } | { readonly denied: Decision }

/** Unreadable files in a search's reach, or null. A call without a search lists names (F6). */
export function filesNotToRead(
  directory: string,
  search: Pick<HostSearch, 'only' | 'narrows'> | null,
  policy: Policy,
  session: SessionFacts,
): NotToRead | null {
  const { only, narrows } = search ?? {}
  const pending = [directory]
  const found: { readonly path: string; readonly reason: Decision['reason'] }[] = []
  // Directories with a readable file; others can be excluded as a whole.
  const readable = new Set<string>()
  let seen = 0
  for (const place of pending) {
    for (const entry of entries(place)) {
      if (++seen > MAX_ENTRIES) {
        const message = `${directory} contains more than ${MAX_ENTRIES} files, too many to know whether secrets are among them.`
        return { denied: denial(directory, { code: 'secret', message, remedy: REMEDY }, 'read') }
      }
      const path = join(place, entry.name)
      // Hosts' searches skip links and the repository itself.
      if (entry.isDirectory()) {
        if (entry.name !== '.git') pending.push(path)
        continue
      }
      const reason = mayNotRead(path, policy, session)
      if (reason === null) readable.add(place)
      else if (canReach(entry.name, only)) found.push({ path, reason })
    }
  }
  const [first] = found
  if (first === undefined) return null
  const globs = narrows ? globsOf(directory, found, readable) : []
  if (globs.length > 0 && globs.length <= MAX_EXCLUDED) return { excluded: globs }
  const what = search ? 'The search would read' : 'The listing would name'
  const message = `${what} ${first.path}: ${first.reason.message}`
  const remedy = search
    ? `${narrowerForm(only)}${REMEDY}`
    : 'Under filter_listings, name a directory of which every file may be read.'
  return { denied: denial(first.path, { code: first.reason.code, message, remedy }, 'read') }
}

function mayNotRead(path: string, policy: Policy, session: SessionFacts): Decision['reason'] | null {
  if (!policy.filterListings.value && policy.reads.deny.length === 0 && secretOf(path, policy) === null) return null
  const { decision, reason } = evaluate(policy, session, readOf(path))
  return decision === 'allow' ? null : reason
}

const BY_ENDING = /^(?:\*\*\/)?\*\.(?:(\w+)|\{(\w+(?:,\w+)*)\})$/

/** Whether a search of these globs may read a file of that name; false only if they clearly ask for other endings. */
function canReach(name: string, only: readonly string[] | undefined): boolean {
  if (only === undefined || only.length === 0) return true
  return only.some((glob) => {
    const [, one, several] = BY_ENDING.exec(glob) ?? []
    const endings = one === undefined ? several?.split(',') : [one]
    return !endings || endings.some((ending) => name.toLowerCase().endsWith(`.${ending.toLowerCase()}`))
  })
}

function narrowerForm(only: readonly string[] | undefined): string {
  return only === undefined ? '' : 'Name the endings of the files in the search’s filter, such as *.ts or *.{ts,md}. '
}

/**
 * Globs below any directory, since hosts resolve them differently; they may exclude more than was found, never less.
 */
function globsOf(
  directory: string,
  found: readonly { readonly path: string }[],
  readable: ReadonlySet<string>,
): readonly string[] {
  const closed = (place: string): boolean =>
    place !== directory && ![...readable].some((one) => one === place || one.startsWith(`${place}/`))
  return [
    ...new Set(
      found.map(({ path }) => {
        const names = relative(directory, path).split('/')
        const depth = names.findIndex((_, index) => closed(join(directory, ...names.slice(0, index + 1))))
        const inside = depth >= 0 && depth < names.length - 1
        const kept = (inside ? names.slice(0, depth + 1) : names).map((name) => name.replace(/[^\w.-]+/g, '*'))
        return `**/${kept.join('/')}${inside ? '/**' : ''}`
      }),
    ),
  ]
}

function entries(directory: string): Dirent[] {
  // The host runs as the same user, so it cannot list this either.
  return attempt(() => readdirSync(directory, { withFileTypes: true }), [])
}

function readOf(path: string): Parameters<typeof evaluate>[2] {
  const fact = { given: path, path }
  return { tool: 'grep', reads: [fact], writes: [], lists: [], hosts: [], shell: null, requireConfirmation: false }
}
