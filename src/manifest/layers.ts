/**
 * The layers of manifests and how they merge: denials remain, the user's limits apply, every value
 * keeps its origin (M2).
 */

import { containsPattern, parsePathPattern } from '../files/path-pattern.ts'
import { containsHost, parseHostPattern } from '../hosts/pattern.ts'
import type { SuffixLookup } from '../hosts/suffix.ts'
import type { RuleRef } from '../policy/policy.ts'
import { OBSERVE } from './schema/key.ts'
import type { BundleEntry, HostEntry, Item, Manifest, SecretEntry, Setting } from './schema/manifest.ts'
import { type Finding, type Problem, problemAt } from './toml/problem.ts'
import { plainValue } from './toml/tree.ts'

/** The author of a manifest; later layers are listed later. */
export type LayerName = 'organisation' | 'user' | 'project' | 'command-line'

/** Where a person's own `permission.mode = "observe"` is kept in the merged manifest. */
export const OBSERVE_PATH = 'permission.observe'

const PERSONAL_ORDER = ['user', 'project', 'command-line'] as const

export interface Layers extends Readonly<Partial<Record<(typeof PERSONAL_ORDER)[number], Manifest | null>>> {
  /** A signed bundle's layers for this machine: no layer can loosen them (X8). */
  readonly organisation?: readonly Manifest[]
}

interface MergedManifest {
  readonly manifest: Manifest
  readonly warnings: readonly Problem[]
}

interface LayeredSetting {
  readonly setting: Setting
  readonly layer: LayerName
  /** The organisation's value: nothing can go below it, not even a layer that may loosen others. */
  readonly floor: Setting | null
}

/** Merges the layers over the built-in defaults; an unset key has the schema's default. */
export function mergeLayers(layers: Layers, suffixes: SuffixLookup | null = null): MergedManifest {
  const settings = new Map<string, LayeredSetting>()
  const declared = new Set<string>()
  const warnings: Problem[] = []
  const written = writtenLayers(layers)
  for (const { layer, manifest } of written) {
    for (const section of manifest.declared) declared.add(section)
    const warn: Warn = (at, finding) => warnings.push(problemAt('warning', at, finding))
    for (const [path, setting] of manifest.settings) {
      // Observe mode is the person's own choice, and leaves the mode of the other layers as it is.
      const observes = path === 'permission.mode' && setting.value === OBSERVE
      if ((setting.key.personal || observes) && (layer === 'project' || (observes && layer === 'organisation'))) {
        warn(setting, PERSONAL)
        continue
      }
      if (observes) {
        settings.set(OBSERVE_PATH, { setting, layer, floor: null })
        continue
      }
      const before = settings.get(path) ?? startOf(setting, layer)
      const merged = before === undefined ? setting : mergeSetting(before, setting, layer, suffixes, warn)
      settings.set(path, { setting: merged, layer, floor: layer === 'organisation' ? merged : (before?.floor ?? null) })
    }
  }
  const files = written.map(({ manifest }) => manifest.file)
  const merged = new Map([...settings].map(([path, { setting }]) => [path, setting]))
  return { manifest: { file: files.join(' + ') || 'built-in', settings: merged, declared }, warnings }
}

function writtenLayers(layers: Layers): { readonly layer: LayerName; readonly manifest: Manifest }[] {
  return [
    ...(layers.organisation ?? []).map((manifest) => ({ layer: 'organisation' as const, manifest })),
    ...PERSONAL_ORDER.flatMap((layer) => (layers[layer] ? [{ layer, manifest: layers[layer] }] : [])),
  ]
}

type Warn = (at: RuleRef, finding: Finding) => void

function mergeSetting(
  before: LayeredSetting,
  setting: Setting,
  layer: LayerName,
  suffixes: SuffixLookup | null,
  warn: Warn,
): Setting {
  const { key } = setting
  const { floor } = before
  // The person at the keyboard may loosen their own limits; a project may not, and neither may
  // loosen the organisation's.
  const bound = floor !== null || (before.layer === 'user' && layer === 'project')
  if (key.merge === 'deny-wins') return before.setting.value === 'deny' ? before.setting : setting
  if (key.merge === 'concat') return concat(before.setting, setting, warn)
  if (key.merge === 'meet' || (bound && key.strictness === 'meet')) {
    // A command-line value replaces the person's setting, but must still meet the organisation's.
    const typed = layer === 'command-line' && key.merge !== 'meet'
    return meet(typed && floor !== null ? floor : before.setting, setting, suffixes, warn)
  }
  if (key.strictness === undefined && key.organisation === undefined) return setting
  if (floor !== null && isLooser(floor, setting)) {
    warn(setting, ignored(floor, 'a value set by the organisation cannot be loosened, so the stricter one applies'))
    return before.setting
  }
  const byUser = before.layer === 'user' && layer === 'project' && key.strictness !== undefined
  if (byUser && isLooser(before.setting, setting)) {
    warn(setting, ignored(before.setting))
    return before.setting
  }
  return setting
}

const PERSONAL: Finding = {
  code: 'layer-ignored',
  message: 'this concerns the machine and not the project, so only your own ~/.config/cordon/cordon.toml may set it',
}

function ignored(
  stronger: Setting,
  message = 'a project cannot loosen a value set by the user, so the stricter one applies',
): Finding {
  return {
    code: 'layer-ignored',
    message,
    found: `${JSON.stringify(plainValue(stronger.value))} at ${stronger.source}`,
  }
}

/** The bound for a project's key that may only be tightened, if no other layer sets it. */
function startOf(setting: Setting, layer: LayerName): LayeredSetting | undefined {
  const { key } = setting
  if (layer !== 'project' || !key.tightens) return undefined
  return {
    setting: { ...setting, value: (key.default ?? null) as Setting['value'], source: 'built-in' },
    layer: 'user',
    floor: null,
  }
}

function isLooser(user: Setting, project: Setting): boolean {
  switch (user.key.strictness ?? user.key.organisation) {
    case 'true':
      return user.value === true && project.value === false
    case 'false':
      return user.value === false && project.value === true
    case 'lower':
      return (project.value as number) > (user.value as number)
    case 'higher':
      return (project.value as number) < (user.value as number)
    case 'choice-order': {
      const values = user.key.type.kind === 'choice' ? user.key.type.values : []
      return values.indexOf(project.value as string) > values.indexOf(user.value as string)
    }
    default:
      return false
  }
}

function itemsIn(setting: Setting): readonly Item[] {
  return setting.value as readonly Item[]
}

/** Both lists without repetitions of the later one; names that must be unique are resolved. */
function concat(before: Setting, after: Setting, warn: Warn): Setting {
  const kept = [...itemsIn(before)]
  const seen = new Set(kept.map(identity))
  for (const item of itemsIn(after)) {
    if (seen.has(identity(item))) continue
    if (after.rule === 'secrets') {
      const name = (item.value as SecretEntry).name
      const first = kept.find((other) => (other.value as SecretEntry).name === name)
      if (first !== undefined) {
        // The first one wins: a project must not send the user's secret to its own hosts.
        warn(item, {
          code: 'layer-ignored',
          message: `the secret ${name} is already defined, and the first definition is used`,
          found: `${first.rule} at ${first.source}`,
        })
        continue
      }
    }
    if (after.rule === 'sandbox.os.command_tools') {
      const index = kept.findIndex((other) => (other.value as BundleEntry).tool === (item.value as BundleEntry).tool)
      if (index >= 0) kept.splice(index, 1)
    }
    kept.push(item)
  }
  return { ...after, value: kept }
}

function identity(item: Item): string {
  return JSON.stringify(plainValue(item.value))
}

/** A filter that both layers have set: what passes must pass both. An empty list is not a filter. */
function meet(before: Setting, after: Setting, suffixes: SuffixLookup | null, warn: Warn): Setting {
  const first = itemsIn(before)
  const second = itemsIn(after)
  if (before.closed) return before
  if (first.length === 0) return after
  if (second.length === 0) {
    if (!after.closed) warn(after, ignored(before))
    return after.closed ? after : before
  }
  const covers = coverage(after, suffixes)
  const kept = second.filter((item) => first.some((outer) => covers(outer, item)))
  const seen = new Set(kept.map(identity))
  for (const item of first) {
    if (!seen.has(identity(item)) && second.some((outer) => covers(outer, item))) kept.push(item)
  }
  if (kept.length < second.length) {
    warn(after, {
      code: 'layer-ignored',
      message: 'entries that an earlier layer does not cover have no effect',
      found: `${JSON.stringify(plainValue(before.value))} at ${before.source}`,
    })
  }
  return { ...after, value: kept, closed: kept.length === 0 }
}

function coverage(setting: Setting, suffixes: SuffixLookup | null): (outer: Item, inner: Item) => boolean {
  const covers = listCoverage(setting.rule, suffixes)
  return (outer, inner) => identity(outer) === identity(inner) || covers(outer.value, inner.value)
}

function listCoverage(path: string, suffixes: SuffixLookup | null): (outer: unknown, inner: unknown) => boolean {
  if (path === 'http.allowed_hosts')
    return (outer, inner) => coversHostEntry(outer as HostEntry, inner as HostEntry, suffixes)
  if (path === 'files.change_envelope') return (outer, inner) => coversGlob(outer as string, inner as string)
  if (path === 'sandbox.run.engines') return () => false
  if (path === 'capabilities.python.allowed_modules') {
    return (outer, inner) => (inner as string).startsWith(`${outer}.`)
  }
  return (outer, inner) => (inner as string).toLowerCase().includes((outer as string).toLowerCase())
}

function coversHostEntry(outer: HostEntry, inner: HostEntry, suffixes: SuffixLookup | null): boolean {
  const narrowed = (entry: HostEntry): string =>
    JSON.stringify(
      plainValue([
        entry.methods ?? null,
        entry.paths ?? null,
        entry.max_requests ?? null,
        entry.max_upload ?? null,
        entry.signs ?? null,
      ]),
    )
  const { methods, paths, max_requests, max_upload, signs } = outer
  if ((methods || paths || max_requests || max_upload || signs) && narrowed(outer) !== narrowed(inner)) return false
  if (outer.host === inner.host) return true
  const a = parseHostPattern(outer.host, suffixes)
  const b = parseHostPattern(inner.host, suffixes)
  return 'pattern' in a && 'pattern' in b && containsHost(a.pattern, b.pattern)
}

function coversGlob(outer: string, inner: string): boolean {
  const context = { root: '/project', home: '/home/user', files: null }
  const a = parsePathPattern(outer, context)
  const b = parsePathPattern(inner, context)
  return 'pattern' in a && 'pattern' in b && containsPattern(a.pattern, b.pattern)
}
