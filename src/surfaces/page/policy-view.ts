/** The project's policy in force, each rule with its source. */

import { projectLines, proposeFromRecord, type RecordedUse, recordedUse } from '../../learn/from-record.ts'
import { lineChanges } from '../../learn/manifest-text.ts'
import { conditionText, type McpRules } from '../../policy/mcp-rules.ts'
import type { HostRule, PathRule, RuleRef } from '../../policy/policy.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { openPolicy } from '../../project/open.ts'
import { openAuditTrail } from '../../report/audit-trail.ts'
import { trackedSecrets } from '../../run/tracked-secrets.ts'
import { Fault } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'

export interface PolicyEntry {
  readonly text: string
  readonly source: string
  readonly layer: Layer
}

/** Where a rule was written. */
export type Layer = 'project' | 'you' | 'organisation' | 'answer' | 'built in'

/** One row of the map: who may do what. */
export interface PolicyRow {
  readonly who: string
  readonly read: readonly PolicyEntry[]
  readonly write: readonly PolicyEntry[]
  readonly run: readonly PolicyEntry[]
  readonly reach: readonly PolicyEntry[]
}

/** What else is in force, as a list with a title. */
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
  readonly rows: readonly PolicyRow[]
  /** What an empty cell of the first row means. */
  readonly otherwise: Readonly<Record<'read' | 'write' | 'run' | 'reach', string>>
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
  if ('problem' in opened)
    return { root, mode: null, problem: opened.problem, rows: [], otherwise: NOTHING, groups: [], shownSecrets: [] }
  const { loaded } = opened
  const { policy, sandbox } = loaded
  const { commands, http } = policy
  const entry = (text: string, { source }: RuleRef): PolicyEntry => ({ text, source, layer: layerOf(source, machine) })
  const paths = (rules: readonly PathRule[]) => rules.map((rule) => entry(rule.pattern.text, rule))
  const hosts = (rules: readonly HostRule[], prefix = '') =>
    rules.map((rule) => entry(`${prefix}${rule.pattern.text}${rule.ssh ? ` (git over ssh, ${rule.ssh})` : ''}`, rule))
  const row = (who: string, cells: Partial<PolicyRow>): PolicyRow => ({
    ...{ who, read: [], write: [], run: [], reach: [] },
    ...cells,
  })
  const narrowed = commands.allow.filter(({ paths: own, domains }) => own.length + domains.length > 0)
  return {
    root: loaded.root,
    mode: entry(policy.mode.value, policy.mode),
    problem: opened.note,
    rows: [
      row('Every call', {
        read: paths(policy.reads.allow),
        write: paths(policy.writes.allow),
        run: commands.allow.filter((rule) => !narrowed.includes(rule)).map((rule) => entry(rule.pattern.text, rule)),
        reach: hosts(commands.defaultDomains),
      }),
      ...policy.additionalDirectories.map((folder) => {
        const own = [entry(folder.value, folder)]
        return row(`Work in ${folder.value}`, { read: own, write: own })
      }),
      ...narrowed.map((rule) =>
        row(rule.pattern.text, {
          write: rule.paths.map((path) => entry(path.text, rule)),
          run: [entry(rule.pattern.text, rule)],
          reach: hosts(rule.domains),
        }),
      ),
      ...Array.from(Map.groupBy(commands.toolDomains, ([, rules]) => JSON.stringify(hosts(rules))).values(), (tools) =>
        row(tools.map(([tool]) => tool).join(', '), { reach: hosts(tools[0]![1]) }),
      ),
      row('Web tools', { reach: http.allowed === null ? [PUBLIC] : hosts(http.allowed) }),
      ...[...loaded.session.mcpRules].map(([server, rules]) =>
        row(`MCP server ${server}`, { run: toolEntries(server, rules, entry) }),
      ),
      row('Nobody', {
        read: paths(policy.reads.deny),
        write: paths(policy.writes.deny),
        run: commands.deny.map((rule) => entry(rule.pattern.text, rule)),
        reach: hosts([...commands.deniedDomains, ...http.denied]),
      }),
    ],
    otherwise: {
      read: policy.reads.declared ? 'nothing' : 'the project, but secrets',
      write: policy.writes.declared ? 'nothing' : 'the project, but secrets',
      run: 'by the mode',
      reach: 'nothing',
    },
    groups: [
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
    ],
    shownSecrets: trackedSecrets(loaded, machine.home),
  }
}

const NOTHING = { read: '', write: '', run: '', reach: '' }
const PUBLIC: PolicyEntry = { text: 'every public host', source: 'built-in', layer: 'built in' }

/** Sources are `cordon.toml:3:1`, a path of another manifest, or a word. */
function layerOf(source: string, { home, configDir }: Machine): Layer {
  if (source.startsWith('cordon.toml')) return 'project'
  if (source === 'session' || source === 'cordon grants') return 'answer'
  if (source.startsWith('~') || source.startsWith(configDir) || source.startsWith(home)) return 'you'
  return source.includes(':') ? 'organisation' : 'built in'
}

function toolEntries(
  server: string,
  { tools, trustHints, readOnly, destructive }: McpRules,
  entry: (text: string, ref: RuleRef) => PolicyEntry,
): PolicyEntry[] {
  const hinted = [
    { what: 'tools that only read', level: readOnly },
    { what: 'tools that may destroy', level: destructive },
  ].filter(({ level }) => trustHints && level.value !== null)
  return [
    ...tools.map(({ tool, level, args, ...rule }) =>
      entry(`${level} ${[tool, ...args.map(conditionText)].join(' ')}`, rule),
    ),
    ...hinted.map(({ what, level }) => entry(`${level.value} ${what}, by the word of ${server}`, level)),
  ]
}

/** Use of a rule by recorded calls of this project. */
export interface PolicyUse extends RecordedUse {
  readonly days: number
}

const USE_DAYS = 30
/** Recorded calls that are decided again, the newest. */
const MAX_REPLAYED = 5000

export async function policyUse(machine: Machine, root: string): Promise<PolicyUse | { readonly problem: string }> {
  const opened = await writtenPolicy(machine, root)
  if ('problem' in opened) return opened
  const since = new Date(Date.now() - USE_DAYS * 86_400_000).toISOString()
  const lines = projectLines(openAuditTrail(machine).query({ since }), opened.loaded.root)
  const places = { loaded: opened.loaded, machine, files: machineFiles }
  return { days: USE_DAYS, ...(await recordedUse(lines.slice(-2 * MAX_REPLAYED), places)) }
}

/** The manifest without grants that no recorded call used. */
export interface Tightening {
  readonly calls: number
  /** Calls whose commands are unknown: no command is called unused then. */
  readonly unknown: number
  readonly unused: readonly { readonly kind: string; readonly value: string; readonly source: string }[]
  readonly diff: readonly string[]
}

export async function tightening(machine: Machine, root: string): Promise<Tightening | { readonly problem: string }> {
  const opened = await writtenPolicy(machine, root)
  if ('problem' in opened) return opened
  const { loaded } = opened
  if (!loaded.ownManifest) return { problem: NO_MANIFEST }
  const manifestText = machineFiles.readText(loaded.manifestPath)
  const parts = { loaded, machine, files: machineFiles, manifestText, onlyUnused: true }
  const { calls, unknown, unused, text } = await proposeFromRecord([], true, parts)
  return { calls, unknown, unused, diff: text === null ? [] : lineChanges(manifestText, text) }
}
