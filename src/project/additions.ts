/** The grants that `cordon add` writes for a host, path, command or port. */

import type { Suggestion } from '../approval/suggestion.ts'
import { isInside } from '../files/baseline.ts'
import { coversPath } from '../files/path-pattern.ts'
import { protectedPath } from '../files/protected-paths.ts'
import { secretOf } from '../files/secret-shapes.ts'
import { parseHostPattern } from '../hosts/pattern.ts'
import { readMcpName } from '../policy/mcp-names.ts'
import { readToolGrant } from '../policy/mcp-rules.ts'
import { Fault } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { LoadedPolicy } from './load/load.ts'

/** The grants of one addition; empty if the manifest already has them. */
export interface Addition {
  readonly says: string
  readonly warning: string | null
  readonly grants: readonly Suggestion[]
}

export interface AdditionPlaces {
  readonly loaded: LoadedPolicy
  readonly machine: Machine
  readonly files: Files
}

/** The addition for a host or wildcard; null if it is neither. */
export function hostAddition(host: string, { loaded }: AdditionPlaces): Addition | null {
  const parsed = parseHostPattern(host, null)
  if (!('pattern' in parsed)) return null
  const known = loaded.policy.commands.defaultDomains.some(({ pattern }) => pattern.text === parsed.pattern.text)
  const grant: Suggestion = {
    kind: 'host',
    value: parsed.pattern.text,
    admits: `every request to ${parsed.pattern.text}`,
  }
  return { says: `every command may reach ${parsed.pattern.text}`, warning: null, grants: known ? [] : [grant] }
}

export function portAddition(port: number, { loaded }: AdditionPlaces): Addition {
  const known = loaded.sandbox.devServerPorts.some(({ value }) => value === port)
  const grant: Suggestion = { kind: 'port', value: String(port), admits: `servers on ${port}` }
  return {
    says: `a command that serves on port ${port} is reached at http://127.0.0.1:${port}`,
    warning: null,
    grants: known ? [] : [grant],
  }
}

export function commandAddition(pattern: string, { loaded }: AdditionPlaces): Addition {
  const known = loaded.policy.commands.allow.some((rule) => rule.pattern.text === pattern)
  const grant: Suggestion = { kind: 'command', value: pattern, admits: `${pattern} without asking` }
  return { says: `agents run ${pattern} without asking`, warning: null, grants: known ? [] : [grant] }
}

/** The addition of an MCP server's tool, with conditions behind its name; null where it is not. */
export function toolAddition(value: string, { loaded, machine }: AdditionPlaces): Addition | null {
  const read = readToolGrant(value, { root: loaded.root, home: machine.home })
  if (read === null || read.tool === '') return null
  const { server } = readMcpName(read.called)
  const listed = loaded.session.mcpRules.get(server)?.tools ?? []
  const known = listed.some(({ tool, args, level }) => level === 'allow' && tool === read.tool && args.length === 0)
  return {
    says: `agents call ${value} without asking`,
    warning: null,
    grants: known ? [] : [{ kind: 'tool', value, admits: `every call of ${value}` }],
  }
}

/** The addition of a canonical path that exists. Throws for Cordon's own places. */
export function pathAddition(path: string, how: 'read' | 'write', places: AdditionPlaces): Addition {
  const { loaded, machine, files } = places
  const { policy, root, manifestPath } = loaded
  const { home, configDir, stateDir } = machine
  const protection = protectedPath(path, { root, home, configDir, stateDir, manifestPath })
  if (protection?.unreadable)
    throw new Fault('not-grantable', `${path} is ${protection.reason}`, { remedy: 'Nothing opens it to a command.' })
  const secret = secretOf(path, { home })
  const isFolder = files.isDirectory(path)
  const value = written(path, root, home) + (isFolder ? '/**' : '')
  const roots = [policy.root, ...policy.additionalDirectories.map((directory) => directory.value)]
  const inRoots = roots.some((one) => isInside(path, one))
  const rules = how === 'read' ? policy.reads : policy.writes
  // If no grant of the kind exists, the roots are open except for what only a literal name opens.
  const isNamed = rules.allow.some(({ pattern }) => pattern.text === value)
  // The sandbox shows what read grants name, if there are any; a hidden path cannot be changed
  // either.
  const isSeen =
    how === 'read' || !policy.reads.declared || policy.reads.allow.some(({ pattern }) => coversPath(pattern, path))
  const known = isSeen && (isNamed || (inRoots && !rules.declared && !secret && !(protection && how === 'write')))
  const below = isFolder ? ' and everything below it' : ''
  const admits = `${how === 'read' ? 'reading' : 'changing'} ${value}`
  const directory: Suggestion = { kind: 'directory', value: written(path, root, home), admits: `work in ${path}` }
  const listed: Suggestion = { kind: how, value, admits }
  const shown: Suggestion = { kind: 'read', value, admits: `reading ${value}` }
  const grants = [
    ...(how === 'write' && !inRoots ? [directory] : []),
    ...(isSeen ? [] : [shown]),
    ...(how === 'read' || inRoots || rules.declared ? [listed] : []),
  ]
  return {
    says: `commands and agents may ${how === 'read' ? 'read' : 'change'} ${written(path, root, home)}${below}`,
    warning: secret
      ? `it is ${secret.what}, and is hidden until a grant names it`
      : protection && how === 'write'
        ? `it is ${protection.reason}`
        : null,
    grants: known ? [] : grants,
  }
}

/** The path as a manifest writes it: relative to the root or home, or absolute. */
function written(path: string, root: string, home: string): string {
  if (path === root) return '.'
  if (isInside(path, root)) return path.slice(root.length + 1)
  return isInside(path, home) ? `~${path.slice(home.length)}` : path
}
