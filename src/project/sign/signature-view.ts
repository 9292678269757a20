/** What a person reads before signing, as a value: what changed since the last signature, and what the whole manifest opens. */

import { dirname } from 'node:path'
import { AGENT_READS } from '../../manifest/init/init.ts'
import { canonicalManifest } from '../../manifest/sign/canonical.ts'
import type { ReachChange } from '../../manifest/sign/reach-diff.ts'
import { isOutside, type ReachSummary, reachSummary, widestFirst } from '../../manifest/sign/reach-summary.ts'
import type { RegistryFacts } from '../../sandbox/bundles/bundle.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { LoadedManifest } from '../load/load.ts'
import { registryChanges } from '../registries/urls.ts'
import { heldBack } from './held-back.ts'
import { registriesOf } from './signed-text.ts'
import { readRegistries, type TrustReport } from './trust.ts'

export type { ReachSummary, SummaryLine } from '../../manifest/sign/reach-summary.ts'

export interface SignatureView {
  /** True when an earlier text was signed: then the changes are against that one, else against the built-in defaults. */
  readonly again: boolean
  readonly summary: ReachSummary
  /** What opens or changes, the widest first, and then what closes. */
  readonly changes: readonly ViewedChange[]
  /** Folders that could be read and are not there now, but for those of agents that are not installed. */
  readonly absent: readonly string[]
}

export interface ViewedChange {
  readonly direction: ReachChange['direction']
  readonly text: string
}

/** The view of a manifest that is about to be signed, or was. */
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
  const held = heldBack(loaded)
  const summary = reachSummary(held ? canonicalManifest(held.manifest) : '{"declared":[],"settings":{}}', urls)
  const noted = (change: ReachChange): ViewedChange => ({
    direction: change.direction,
    text: change.text + (held?.note(change) ?? ''),
  })
  const isOpen = (item: string): boolean => (held?.denied(item.split(' ')[0]!) ?? null) === null
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

/** The folder or file that a path of a manifest names before its first wildcard. */
function folderOf(path: string, home: string): string {
  const plain = path.replace(/^~(?=\/|$)/, () => home)
  const wild = plain.search(/[*?[{]/)
  return wild < 0 ? plain : dirname(`${plain.slice(0, wild)}x`)
}

function hostOf(url: string): string {
  return /^[a-z+]+:\/\/(?:[^/@]*@)?([^/]+)/.exec(url)?.[1] ?? url
}
