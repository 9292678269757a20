/** One-off grants: what the person types with one run, as the topmost layer of the policy (M2). Denials, secrets and protected paths stand. */

import { reachesPath, wholeTree } from '../../../files/path-pattern.ts'
import { protectedPath } from '../../../files/protected-paths.ts'
import { rootProblem } from '../../../files/root-place.ts'
import { secretOf } from '../../../files/secret-shapes.ts'
import { parseHostPattern } from '../../../hosts/pattern.ts'
import type { HostRule, PathRule, PathRules, RuleRef, Sourced } from '../../../policy/policy.ts'
import { builtInBundle } from '../../../sandbox/bundles/built-in.ts'
import { Fault } from '../../../system/fault.ts'
import type { Files } from '../../../system/files.ts'
import type { Machine } from '../../../system/machine.ts'
import { freeHosts } from '../../policy/keyed-hosts.ts'
import type { LoadedPolicy } from '../../policy/load.ts'
import { withTilde } from '../hints/outside-words.ts'
import type { RunOutcome } from '../runner.ts'
import { typedText } from './words.ts'

export interface OneOffGrants {
  readonly hosts: readonly HostRule[]
  /** Canonical paths that exist: shown, and with `writes` also changed. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly ports: readonly number[]
  readonly env: readonly string[]
  /** Names of bundles, for this command whatever it is called. */
  readonly tools: readonly string[]
}

export const NO_GRANTS: OneOffGrants = { hosts: [], reads: [], writes: [], ports: [], env: [], tools: [] }

/** Where all of them come from, for the record and for refusals. */
const SOURCE = 'command line'

const byFlag = (rule: string): RuleRef => ({ rule, source: SOURCE })

/** The rules of what was granted with a run, without their values: those are the call's arguments. */
export function oneOffRules(grants: OneOffGrants): readonly RuleRef[] {
  const flags: readonly (readonly [keyof OneOffGrants, string])[] = [
    ['hosts', '--allow-host'],
    ['reads', '--read'],
    ['writes', '--write'],
    ['ports', '--port'],
    ['env', '--env'],
    ['tools', '--tool'],
  ]
  return flags.filter(([kind]) => grants[kind].length > 0).map(([, flag]) => byFlag(flag))
}

/** Throws unless a place may be granted for one run: no secret, nothing protected, and not everything at once. */
export function requireGrantable(path: string, how: 'read' | 'write', loaded: LoadedPolicy, machine: Machine): void {
  const refuse = (why: string, remedy: string): never => {
    throw new Fault('not-grantable', `--${how} does not open ${path}: ${why}`, { remedy })
  }
  const { home, configDir, stateDir } = machine
  const secret = secretOf(path, { home })
  if (secret)
    refuse(`it is ${secret.what}`, 'Only the manifest opens a secret, by its name: [capabilities.allow.read] paths.')
  const facts = { root: loaded.root, home, configDir, stateDir, manifestPath: loaded.manifestPath }
  const held = protectedPath(path, facts)
  if (held && (how === 'write' || held.unreadable))
    refuse(
      `it is ${held.reason}`,
      held.unreadable
        ? 'Nothing opens it.'
        : 'Only the manifest opens it, by its name: [capabilities.allow.write] paths.',
    )
  const { reads, writes } = loaded.policy
  const denials = how === 'read' ? reads.deny : [...reads.deny, ...writes.deny]
  const denied = denials.find(({ pattern }) => reachesPath(pattern, path))
  if (denied)
    refuse(`${denied.rule} (${denied.source}) denies it`, 'A denial of the manifest stands; take it out there.')
  const wide = rootProblem(path, home)
  if (wide && !(how === 'read' && wide === 'it is a folder of the system'))
    refuse(wide, 'Name the folder in it that the command needs.')
}

/** The policy with what was granted for this run in it. */
export function withOneOff(loaded: LoadedPolicy, grants: OneOffGrants, machine: Machine): LoadedPolicy {
  if (Object.values(grants).every((list) => list.length === 0)) return loaded
  for (const path of grants.reads) requireGrantable(path, 'read', loaded, machine)
  for (const path of grants.writes) requireGrantable(path, 'write', loaded, machine)
  const { policy, sandbox } = loaded
  const roots = grants.writes.map((value): Sourced<string> => ({ value, ...byFlag('--write') }))
  const directories = [...policy.additionalDirectories, ...roots]
  const rule =
    (flag: string) =>
    (path: string): PathRule => ({
      pattern: wholeTree(path),
      prompt: false,
      ...byFlag(flag),
    })
  const written = grants.writes.map(rule('--write'))
  const shown = [...grants.reads.map(rule('--read')), ...written]
  const project = [policy.root, ...directories.map(({ value }) => value)].map(rule('the project'))
  return {
    ...loaded,
    policy: {
      ...policy,
      additionalDirectories: directories,
      reads:
        grants.reads.length === 0 && !policy.reads.declared ? policy.reads : withReads(policy.reads, shown, project),
      writes: policy.writes.declared
        ? { ...policy.writes, allow: [...policy.writes.allow, ...written] }
        : policy.writes,
      commands: { ...policy.commands, toolDomains: toolHosts(policy.commands.toolDomains, grants.tools) },
    },
    sandbox: {
      ...sandbox,
      devServerPorts: [
        ...sandbox.devServerPorts,
        ...grants.ports
          .filter((port) => !sandbox.devServerPorts.some(({ value }) => value === port))
          .map((value) => ({ value, ...byFlag('--port') })),
      ],
      bundles: [
        ...sandbox.bundles,
        ...grants.tools
          .filter((tool) => !sandbox.bundles.some(({ value }) => value.tool === tool))
          .map((tool) => ({
            value: { tool, fetch: null, install: null, domains: [], defaultDomains: true, wrappers: [] },
            ...byFlag('--tool'),
          })),
      ],
    },
  }
}

/** A first grant of a kind closes everything else of it: where none was written, the project stays as open as it was. */
function withReads(reads: PathRules, shown: readonly PathRule[], project: readonly PathRule[]): PathRules {
  return { ...reads, declared: true, allow: [...(reads.declared ? reads.allow : project), ...shown] }
}

function toolHosts(
  known: ReadonlyMap<string, readonly HostRule[]>,
  tools: readonly string[],
): ReadonlyMap<string, readonly HostRule[]> {
  const all = new Map(known)
  for (const bundle of [...new Set(tools)].flatMap((tool) => builtInBundle(tool) ?? [])) {
    const hosts = freeHosts(bundle).flatMap((host): HostRule[] => {
      const parsed = parseHostPattern(host, null)
      return 'pattern' in parsed ? [{ pattern: parsed.pattern, ...byFlag('--tool') }] : []
    })
    for (const program of new Set([bundle.tool, ...bundle.programs])) if (!all.has(program)) all.set(program, hosts)
  }
  return all
}

/** A canonical path that exists, from one as it was typed. */
export function typedPath(typed: string, machine: Machine, files: Files): string {
  const { home, cwd } = machine
  const path =
    typed === '~' || typed.startsWith('~/') ? home + typed.slice(1) : typed.startsWith('/') ? typed : `${cwd}/${typed}`
  const canonical = files.canonical(path)
  if (files.exists(canonical)) return canonical
  throw new Fault('not-found', `${typed} is not there: there is no ${canonical}`, {
    remedy: 'Name what exists, from here or by its whole path.',
  })
}

/** What of it was used and can be kept, as the words after `cordon add`. Reads are not observed: what was shown counts. */
export function keptGrants(grants: OneOffGrants, { egress, served }: RunOutcome, home: string): readonly string[] {
  const reached = new Set(egress.filter(({ verdict }) => verdict === 'allow').map(({ host }) => host))
  const opened = new Set(served.filter(({ problem }) => problem === null).map(({ port }) => port))
  const place = (path: string): string => typedText([withTilde(path, home)]).replace(/^'~\/(.*)'$/, "~/'$1'")
  return [
    ...grants.hosts.filter(({ pattern }) => reached.has(pattern.host)).map(({ pattern }) => `host ${pattern.text}`),
    ...grants.reads.map((path) => `read ${place(path)}`),
    ...grants.writes.map((path) => `write ${place(path)}`),
    ...grants.ports.filter((port) => opened.has(port)).map((port) => `port ${port}`),
  ]
}
