/** What a person may grant for one run (M2). Denials, secrets and protected paths still apply. */

import { typedText } from '../confine/entitlement.ts'
import type { RunGrants } from '../confine/run-grants.ts'
import { rootProblem } from '../files/baseline.ts'
import { reachesPath } from '../files/path-pattern.ts'
import { protectedPath } from '../files/protected-paths.ts'
import { secretOf } from '../files/secret-shapes.ts'
import type { LoadedPolicy } from '../project/load/load.ts'
import { nearbyFact, openRepositoryAt } from '../project/load/nearby.ts'
import type { RunOutcome } from '../run/runner.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { outsideWords, ownLink, withTilde } from './outside-words.ts'

/** Throws unless a path may be granted: no secret, nothing protected, not everything at once. */
export function requireGrantable(path: string, how: 'read' | 'write', loaded: LoadedPolicy, machine: Machine): void {
  const refuse = (why: string, remedy: string): never => {
    throw new Fault('not-grantable', `--${how} does not open ${path}: ${why}`, { remedy })
  }
  const { home, configDir, stateDir } = machine
  const secret = secretOf(path, { home })
  if (secret)
    refuse(`it is ${secret.what}`, 'Only the manifest opens a secret, by its name: [capabilities.allow.read] paths.')
  const facts = { root: loaded.root, home, configDir, stateDir, manifestPath: loaded.manifestPath }
  const protection = protectedPath(path, facts)
  if (protection && (how === 'write' || protection.unreadable))
    refuse(
      `it is ${protection.reason}`,
      protection.unreadable
        ? 'Nothing opens it.'
        : 'Only the manifest opens it, by its name: [capabilities.allow.write] paths.',
    )
  const { reads, writes } = loaded.policy
  const denials = how === 'read' ? reads.deny : [...reads.deny, ...writes.deny]
  const denied = denials.find(({ pattern }) => reachesPath(pattern, path))
  if (denied) refuse(`${denied.rule} (${denied.source}) denies it`, 'The manifest denies it; remove that rule there.')
  const wide = rootProblem(path, home)
  if (wide && !(how === 'read' && wide === 'it is a system folder'))
    refuse(wide, 'Name the folder in it that the command needs.')
}

/** Checks all places of a run. */
export function requireAllGrantable({ reads, writes }: RunGrants, loaded: LoadedPolicy, machine: Machine): void {
  for (const path of reads) requireGrantable(path, 'read', loaded, machine)
  for (const path of writes) requireGrantable(path, 'write', loaded, machine)
}

/** Nearby source that a typed command names and the manifest shows to such commands. */
export function nearbyWords(
  loaded: LoadedPolicy,
  command: readonly string[],
  machine: Machine,
  files: Files,
): readonly string[] {
  const { home, cwd } = machine
  const { nearby } = nearbyFact(loaded, home, (path) => openRepositoryAt(path, files))
  if (nearby === undefined) return []
  const isShown = (path: string): boolean => nearby(path) === null || secretOf(path, { home }) !== null
  const words = outsideWords(command, { cwd: files.canonical(cwd), home, files, isShown })
  const paths = words.map(({ path }) => path)
  for (const path of paths) requireGrantable(path, 'read', loaded, machine)
  return paths
}

/** The paths behind a typed word: the link itself, if it is one, and its target. */
export function typedPlaces(typed: string, machine: Machine, files: Files): readonly string[] {
  const { home, cwd } = machine
  const path =
    typed === '~' || typed.startsWith('~/') ? home + typed.slice(1) : typed.startsWith('/') ? typed : `${cwd}/${typed}`
  const canonical = files.canonical(path)
  if (files.exists(canonical)) return [...ownLink(path, files), canonical]
  throw new Fault('not-found', `${typed} does not exist: there is no ${canonical}`, {
    remedy: 'Name what exists, from here or by its whole path.',
  })
}

/**
 * Used grants as arguments for `cordon add`. Reads are not observed, so every visible path counts.
 */
export function keptGrants(grants: RunGrants, { egress, served }: RunOutcome, home: string): readonly string[] {
  const reached = new Set(egress.filter(({ verdict }) => verdict === 'allow').map(({ host }) => host))
  const opened = new Set(served.filter(({ problem }) => problem === null).map(({ port }) => port))
  const place = (path: string): string => {
    const typed = withTilde(path, home)
    return typed.startsWith('~/') ? `~/${typedText([typed.slice(2)])}` : typedText([typed])
  }
  return [
    ...grants.hosts.filter(({ pattern }) => reached.has(pattern.host)).map(({ pattern }) => `host ${pattern.text}`),
    ...grants.reads.map((path) => `read ${place(path)}`),
    ...grants.writes.map((path) => `write ${place(path)}`),
    ...grants.ports.filter((port) => opened.has(port)).map((port) => `port ${port}`),
  ]
}
