/** What other layers hold back of a manifest that a person is about to sign: hosts they deny, values they keep stricter. */

import { coversName, type HostPattern, parseHostPattern } from '../../hosts/pattern.ts'
import {
  type CommandEntry,
  itemsOf,
  type Manifest,
  type SecretEntry,
  type Setting,
} from '../../manifest/schema/manifest.ts'
import type { ReachChange } from '../../manifest/sign/reach-diff.ts'
import { plainValue } from '../../manifest/toml/tree.ts'
import type { LoadedManifest } from '../load/load.ts'

export interface HeldBack {
  /** The project's manifest with the values that take effect. */
  readonly manifest: Manifest
  /** Where a host is denied; null for one that is not. */
  denied(host: string): string | null
  /** What a person must know about a change that does not take effect as it is written; empty for the others. */
  note(change: ReachChange): string
}

/** Reads the layers beside the project's own manifest. */
export function heldBack({
  manifest,
  policy,
  project,
}: Pick<LoadedManifest, 'manifest' | 'policy' | 'project'>): HeldBack | null {
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
      const [own, held] = [project.settings.get(change.subject), settings.get(change.subject)]
      if (own && held && own !== held) return ` In force: ${JSON.stringify(plainValue(held.value))} (${held.source}).`
      const closed = hostsOf(change).flatMap((host) => {
        const source = denied(host)
        return source === null ? [] : [`${host} stays denied (${source})`]
      })
      return closed.length === 0 ? '' : ` ${closed.join('; ')}.`
    },
  }
}

/** Lists add up over the layers, and a project can only fill its own part; of a single value the merged one takes effect. */
function inForce(own: Setting, merged: Setting | undefined): Setting {
  if (merged === undefined || own.key.merge === 'concat') return own
  return JSON.stringify(plainValue(own.value)) === JSON.stringify(plainValue(merged.value)) ? own : merged
}

function covers(denied: HostPattern, granted: HostPattern): boolean {
  return (denied.port === null || denied.port === granted.port) && coversName(denied, granted.host)
}
