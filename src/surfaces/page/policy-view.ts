/** The project's policy in force, each rule with its source. */

import { conditionText, type McpRules } from '../../policy/mcp-rules.ts'
import type { HostRule, PathRule, RuleRef } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { openPolicy } from '../../project/open.ts'
import { trackedSecrets } from '../../run/tracked-secrets.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

export interface PolicyEntry {
  readonly text: string
  readonly source: string
}

export interface PolicyGroup {
  readonly title: string
  readonly entries: readonly PolicyEntry[]
  /** Shown for an empty list. */
  readonly empty: string
}

export interface PolicyView {
  readonly root: string
  readonly mode: PolicyEntry | null
  /** Why there is no policy, or what to do. */
  readonly problem: string | null
  readonly groups: readonly PolicyGroup[]
  /** Visible secrets that git tracks. */
  readonly shownSecrets: readonly string[]
}

export type OpenedPolicy =
  | { readonly loaded: LoadedPolicy; readonly note: string | null }
  | { readonly problem: string }

/** The policy as written, with a note if unsigned and so not in force. */
export async function writtenPolicy(machine: Machine, root: string): Promise<OpenedPolicy> {
  try {
    const place = { machine, files: machineFiles, root, choice: { kind: 'project' } as const }
    const signed = await openPolicy({ ...place, unsigned: 'refused' })
    if ('loaded' in signed) return { ...signed, note: signed.loaded.ownManifest ? null : NO_MANIFEST }
    const opened = 'unsigned' in signed ? await openPolicy({ ...place, unsigned: 'as-written' }) : signed
    if ('loaded' in opened)
      return { ...opened, note: 'cordon.toml is not signed, so it has no effect yet: read it, then run cordon sign.' }
    return { problem: 'cordon.toml does not load: cordon policy show in a terminal says why.' }
  } catch (error) {
    if (error instanceof Fault) return { problem: [error.message, error.remedy].filter(Boolean).join('. ') }
    throw error
  }
}

const NO_MANIFEST = 'There is no cordon.toml here, so the built-in rules apply: cordon init writes one.'

export async function policyView(machine: Machine, root: string): Promise<PolicyView> {
  const opened = await writtenPolicy(machine, root)
  if ('problem' in opened) return { root, mode: null, problem: opened.problem, groups: [], shownSecrets: [] }
  const { loaded } = opened
  const { policy, sandbox } = loaded
  const { commands, http } = policy
  const entry = (text: string, { source }: RuleRef): PolicyEntry => ({ text, source })
  const paths = (rules: readonly PathRule[]) => rules.map((rule) => entry(rule.pattern.text, rule))
  const hosts = (rules: readonly HostRule[], prefix = '') =>
    rules.map((rule) => entry(`${prefix}${rule.pattern.text}${rule.ssh ? ` (git over ssh, ${rule.ssh})` : ''}`, rule))
  const inside = 'everything in the project, but secrets'
  return {
    root: loaded.root,
    mode: entry(policy.mode.value, policy.mode),
    problem: opened.note,
    groups: [
      { title: 'May read', entries: paths(policy.reads.allow), empty: policy.reads.declared ? 'nothing' : inside },
      { title: 'May write', entries: paths(policy.writes.allow), empty: policy.writes.declared ? 'nothing' : inside },
      {
        title: 'Further folders',
        entries: policy.additionalDirectories.map((folder) => entry(folder.value, folder)),
        empty: 'none: paths outside the project are closed',
      },
      {
        title: 'Commands that run without asking',
        entries: commands.allow.map((rule) => entry(rule.pattern.text, rule)),
        empty: 'none by name: the mode decides',
      },
      {
        title: 'Hosts of commands',
        entries: [
          ...hosts(commands.defaultDomains),
          ...[...commands.toolDomains].flatMap(([tool, rules]) => hosts(rules, `${tool}: `)),
        ],
        empty: 'none: commands have no network',
      },
      {
        title: 'Hosts of web tools',
        entries: hosts(http.allowed ?? []),
        empty: http.allowed === null ? 'every public host' : 'none',
      },
      {
        title: 'Tools of MCP servers',
        entries: [...loaded.session.mcpRules].flatMap(([server, rules]) => toolEntries(server, rules)),
        empty: 'every one asks, unless [permission.tools] names it',
      },
      {
        title: 'Bundles',
        entries: sandbox.bundles.map((bundle) => entry(bundle.value.tool, bundle)),
        empty: 'none: [sandbox.os] command_tools adds some',
      },
      {
        title: 'Secrets that stay outside',
        entries: sandbox.secrets.map((secret) => entry(secret.value.name, secret)),
        empty: 'none is brokered; files that look like secrets are hidden from commands',
      },
      {
        title: 'Never',
        entries: [
          ...commands.deny.map((rule) => entry(`command ${rule.pattern.text}`, rule)),
          ...policy.reads.deny.map((rule) => entry(`read ${rule.pattern.text}`, rule)),
          ...policy.writes.deny.map((rule) => entry(`write ${rule.pattern.text}`, rule)),
          ...hosts([...commands.deniedDomains, ...http.denied], 'host '),
        ],
        empty: 'only what is always protected',
      },
    ],
    shownSecrets: trackedSecrets(loaded, machine.home),
  }
}

function toolEntries(server: string, { tools, trustHints, readOnly, destructive }: McpRules): PolicyEntry[] {
  const hinted = [
    { what: 'tools that only read', level: readOnly },
    { what: 'tools that may destroy', level: destructive },
  ].filter(({ level }) => trustHints && level.value !== null)
  return [
    ...tools.map(({ tool, level, args, source }) => ({
      text: `${level} ${server}: ${[tool, ...args.map(conditionText)].join(' ')}`,
      source,
    })),
    ...hinted.map(({ what, level }) => ({
      text: `${level.value} ${server}: ${what}, by the server’s own word`,
      source: level.source,
    })),
  ]
}
