/** What a person reads before signing: changes, and what the manifest opens. */

import { dirname } from 'node:path'
import { coversName, type HostPattern, parseHostPattern } from '../../hosts/pattern.ts'
import { AGENT_READS } from '../../manifest/init/init.ts'
import {
  type CommandEntry,
  itemsOf,
  type Manifest,
  type SecretEntry,
  type Setting,
} from '../../manifest/schema/manifest.ts'
import { canonicalManifest } from '../../manifest/sign/canonical.ts'
import type { ReachChange } from '../../manifest/sign/reach-diff.ts'
import { isOutside, type ReachSummary, reachSummary, widestFirst } from '../../manifest/sign/reach-summary.ts'
import { plainValue } from '../../manifest/toml/tree.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedManifest } from '../load/load.ts'
import { registryChanges } from '../registries/drift.ts'
import { registriesOf } from './seal.ts'
import { readRegistries, type TrustReport } from './trust.ts'

export type { ReachSummary, SummaryLine } from '../../manifest/sign/reach-summary.ts'

export interface SignatureView {
  /** True if an earlier text was signed; otherwise changes are relative to the defaults. */
  readonly again: boolean
  readonly summary: ReachSummary
  /** What opens or changes, widest first, then what closes. */
  readonly changes: readonly ViewedChange[]
  /** Readable folders that do not exist, except those of agents that are not installed. */
  readonly absent: readonly string[]
}

export interface ViewedChange {
  readonly direction: ReachChange['direction']
  readonly text: string
}

/** The view of a manifest to sign. */
export function signatureView(
  loaded: LoadedManifest,
  report: TrustReport,
  machine: Machine,
  files: Files,
  found: RegistryFacts = readRegistries(loaded, machine),
): SignatureView {
  const isThere = (path: string): boolean => files.exists(folderOf(path, machine.home))
  const { trust } = report
  const signed = trust.status === 'changed' ? registriesOf(trust.signed.canonical) : report.registries
  const registries = registryChanges(signed, found)
  const isShown = ({ kind, direction, subject }: ReachChange): boolean =>
    kind !== 'read' || direction !== 'opens' || !isOutside(subject) || isThere(subject)
  const { diff } = report
  const hidden = [...diff.opens, ...diff.changes].filter((change) => !isShown(change)).map(({ subject }) => subject)
  const of = (direction: ReachChange['direction'], texts: readonly string[]): ViewedChange[] =>
    texts.map((text) => ({ direction, text }))
  const urls = Object.values(found).flatMap((facts) => facts.map(({ url }) => hostOf(url)))
  const effective = effectiveManifest(loaded)
  const summary = reachSummary(
    effective ? canonicalManifest(effective.manifest) : '{"declared":[],"settings":{}}',
    urls,
  )
  const noted = (change: ReachChange): ViewedChange => ({
    direction: change.direction,
    text: change.text + (effective?.note(change) ?? ''),
  })
  const isOpen = (item: string): boolean => (effective?.denied(item.split(' ')[0]!) ?? null) === null
  const reached = summary.lines.find(({ label }) => label === 'reaches')?.items ?? []
  const closed = { label: 'stays denied', items: reached.filter((item) => !isOpen(item)) }
  return {
    again: trust.status === 'changed',
    summary: {
      ...summary,
      lines: [...summary.lines, closed]
        .map((line) => {
          const isListed = { 'reads outside': isThere, reaches: isOpen }[line.label]
          return isListed ? { ...line, items: line.items.filter(isListed) } : line
        })
        .filter(({ items }) => items.length > 0),
    },
    changes: [
      ...widestFirst([...diff.opens, ...diff.changes].filter(isShown)).map(noted),
      ...of('opens', registries.opens),
      ...diff.closes.map(noted),
      ...of('closes', registries.closes),
    ],
    absent: hidden.filter((path) => !AGENT_READS.includes(path)),
  }
}

/** The path before the first wildcard of a pattern. */
function folderOf(path: string, home: string): string {
  const plain = path.replace(/^~(?=\/|$)/, () => home)
  const wild = plain.search(/[*?[{]/)
  return wild < 0 ? plain : dirname(`${plain.slice(0, wild)}x`)
}

function hostOf(url: string): string {
  return /^[a-z+]+:\/\/(?:[^/@]*@)?([^/]+)/.exec(url)?.[1] ?? url
}

export interface EffectiveManifest {
  /** The project's manifest with the values that take effect. */
  readonly manifest: Manifest
  /** Where a host is denied, or null. */
  denied(host: string): string | null
  /** What to know about a change that does not take effect as written; empty for others. */
  note(change: ReachChange): string
}

export function effectiveManifest({
  manifest,
  policy,
  project,
}: Pick<LoadedManifest, 'manifest' | 'policy' | 'project'>): EffectiveManifest | null {
  if (project === null) return null
  const denied = (host: string): string | null => {
    const parsed = parseHostPattern(host, null)
    if (!('pattern' in parsed)) return null
    return policy.commands.deniedDomains.find(({ pattern }) => covers(pattern, parsed.pattern))?.source ?? null
  }
  const settings = new Map(
    [...project.settings].map(([path, own]) => [path, inForce(own, manifest.settings.get(path))]),
  )
  const hostsOf = ({ kind, subject, direction }: ReachChange): readonly string[] => {
    if (direction === 'closes') return []
    if (kind === 'host') return [subject]
    if (kind === 'command') {
      const entries = itemsOf<CommandEntry>(project, 'capabilities.allow.commands.patterns')
      const entry = entries.find(({ value }) => value.command === subject)
      return entry?.value.domains?.map(({ value }) => value.host) ?? []
    }
    if (kind !== 'secret') return []
    const secret = itemsOf<SecretEntry>(project, 'secrets').find(({ value }) => value.name === subject)
    return secret?.value.hosts.map(({ value }) => value) ?? []
  }
  return {
    manifest: { ...project, settings },
    denied,
    note: (change) => {
      const [own, effective] = [project.settings.get(change.subject), settings.get(change.subject)]
      if (own && effective && own !== effective)
        return ` In force: ${JSON.stringify(plainValue(effective.value))} (${effective.source}).`
      const closed = hostsOf(change).flatMap((host) => {
        const source = denied(host)
        return source === null ? [] : [`${host} stays denied (${source})`]
      })
      return closed.length === 0 ? '' : ` ${closed.join('; ')}.`
    },
  }
}

/** Lists add up over the layers; of a single value the merged one takes effect. */
function inForce(own: Setting, merged: Setting | undefined): Setting {
  if (merged === undefined || own.key.merge === 'concat') return own
  return JSON.stringify(plainValue(own.value)) === JSON.stringify(plainValue(merged.value)) ? own : merged
}

function covers(denied: HostPattern, granted: HostPattern): boolean {
  return (denied.port === null || denied.port === granted.port) && coversName(denied, granted.host)
}
