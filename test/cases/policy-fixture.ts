/** Policies and sessions for tests: built-in defaults with a few values changed, without a manifest in between. */

import { parsePathPattern } from '../../src/files/path-pattern.ts'
import type { PathFact, SessionFacts, ToolCall } from '../../src/policy/call.ts'
import { parseCommandPattern } from '../../src/policy/command-pattern.ts'
import type { CommandRule, PathRule, Policy, Sourced } from '../../src/policy/policy.ts'
import { analyze } from '../../src/shell/walk/analyze.ts'

export const ROOT = '/home/dev/project'
export const HOME = '/home/dev'

/** A value with a invented origin. */
export function sourced<T>(value: T, rule = 'test'): Sourced<T> {
  return { value, rule, source: 'test.toml:1:1' }
}

/** A policy with the built-in defaults, changed by `changes`. */
export function policyOf(changes: Partial<Policy> = {}): Policy {
  return {
    root: ROOT,
    home: HOME,
    additionalDirectories: [],
    mode: sourced('custom', 'permission.mode'),
    agent: sourced('build', 'permission.agent'),
    agents: new Map(),
    interactive: sourced(true, 'permission.interactive'),
    autoAccept: sourced(false, 'permission.auto_accept'),
    tools: new Map(),
    flags: {
      background: sourced(true),
      case_terminator: sourced(true),
      compound: sourced(true),
      parameter_expansion: sourced(true),
      pipes: sourced(true),
      command_substitution: sourced(false),
      redirects: sourced('streams'),
      implicit_coordinators: sourced(true),
      privilege_wrappers: sourced(false),
      system_python: sourced(false),
    },
    runtimeGrants: sourced(true, 'security.runtime_grants'),
    outsideRoots: sourced('deny', 'security.outside_roots'),
    promptReads: sourced(true, 'security.prompt_reads'),
    filterListings: sourced(false),
    everyProgram: sourced(false),
    reads: { allow: [], deny: [], declared: false },
    nearby: [],
    writes: { allow: [], deny: [], declared: false },
    envelope: null,
    readSizeLimit: 20_000,
    commands: { allow: [], deny: [], declared: false, defaultDomains: [], deniedDomains: [], toolDomains: new Map() },
    flows: [],
    shellPolicy: { allow: [], deny: [] },
    http: { allowed: null, denied: [], allowPrivate: false },
    maskSecrets: true,
    ...changes,
  }
}

/** A session that has just begun. */
export function sessionOf(changes: Partial<SessionFacts> = {}): SessionFacts {
  return {
    agent: null,
    mode: null,
    levels: new Map(),
    grants: { reads: [], writes: [], commands: [], hosts: [] },
    roots: [],
    envelope: [],
    breakerOpenFor: null,
    own: {
      configDir: `${HOME}/.config/cordon`,
      stateDir: `${HOME}/.local/state/cordon`,
      manifestPath: `${ROOT}/cordon.toml`,
    },
    ...changes,
  }
}

/** A path rule, as the manifest would write it. */
export function pathRule(text: string, prompt = false, files: readonly string[] | null = null): PathRule {
  const parsed = parsePathPattern(text, { root: ROOT, home: HOME, files })
  if ('problem' in parsed) throw new Error(parsed.problem)
  return { pattern: parsed.pattern, prompt, rule: `path ${text}`, source: 'test.toml:2:1' }
}

/** A command rule, as the manifest would write it. */
export function commandRule(text: string, prompt = false): CommandRule {
  const parsed = parseCommandPattern(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return {
    pattern: parsed.pattern,
    prompt,
    paths: [],
    envVars: [],
    domains: [],
    inheritDefaultDomains: true,
    rule: `command ${text}`,
    source: 'test.toml:3:1',
  }
}

/** A call that touches nothing, changed by `changes`. */
export function callOf(tool: string, changes: Partial<ToolCall> = {}): ToolCall {
  return { tool, reads: [], writes: [], lists: [], hosts: [], shell: null, requireConfirmation: false, ...changes }
}

/** A path of the project, already canonical. */
export function fileFact(given: string): PathFact {
  return { given, path: given.startsWith('/') ? given : `${ROOT}/${given}` }
}

/** A bash call with its analysis; nothing on the machine is read. */
export function bashCall(command: string, cwd: string = ROOT): ToolCall {
  const analysis = analyze(command, { cwd, home: HOME, variables: { HOME, PWD: cwd } })
  return callOf('bash', { shell: { command, analysis, syntaxError: null, canonical: (path) => path } })
}
