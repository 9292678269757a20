/** Problems and effective values of a manifest, for surfaces. */

import { type Item, type Manifest, type Setting, schemaKeys } from '../manifest/schema/manifest.ts'
import { MEANT_BY_PRESENCE } from '../manifest/sign/canonical.ts'
import { printValue } from '../manifest/toml/edit.ts'
import { type Plain, plainValue, shorten, splitKey } from '../manifest/toml/tree.ts'

export { lintManifest } from '../manifest/check/lint.ts'
export { type Problem, renderProblem } from '../manifest/toml/problem.ts'

/** An effective value and its source. */
interface EffectiveValue {
  readonly path: string
  /** Null: unset, without effect. */
  readonly value: Plain
  /** `cordon.toml:3:1`, or `built-in`. */
  readonly source: string
  /** Of a list: each entry with its own origin. */
  readonly items: readonly { readonly value: Plain; readonly source: string }[] | null
}

/** Every value of the effective manifest, defaults included, in the order of the schema. */
export function effectiveValues(manifest: Manifest): EffectiveValue[] {
  const written = new Map(manifest.settings)
  const values: EffectiveValue[] = []
  for (const { path, key } of schemaKeys()) {
    if (path.includes('*')) {
      for (const [name, setting] of written) {
        if (!sameShape(path, name)) continue
        values.push(fromSetting(name, setting))
        written.delete(name)
      }
      continue
    }
    const setting = written.get(path)
    if (setting !== undefined) values.push(fromSetting(path, setting))
    else if (path !== 'schema_version') {
      const items = key.type.kind === 'list' ? [] : null
      values.push({ path, value: (key.default ?? null) as Plain, source: 'built-in', items })
    }
  }
  return values
}

function sameShape(pattern: string, path: string): boolean {
  const expected = pattern.split('.')
  const parts = splitKey(path)
  return parts.length === expected.length && expected.every((part, index) => part === '*' || part === parts[index])
}

function fromSetting(path: string, setting: Setting): EffectiveValue {
  const { value, source } = setting
  if (!Array.isArray(value)) return { path, value: plainValue(value), source, items: null }
  const items = (value as readonly Item[]).map((item) => ({
    value: shorten(plainValue(item.value)),
    source: item.source,
  }))
  return { path, value: items.map((item) => item.value), source, items }
}

/** The effective manifest as TOML, each value with its origin in a comment. */
export function renderEffective(values: readonly EffectiveValue[]): string {
  const sections = new Map<string, string[]>()
  for (const value of values) {
    const cut = value.path.lastIndexOf(lastPart(value.path))
    const section = value.path.slice(0, Math.max(0, cut - 1))
    const lines = sections.get(section) ?? []
    lines.push(...renderValue(value.path.slice(cut), value))
    sections.set(section, lines)
  }
  const blocks = [...sections].map(([section, lines]) => {
    const block = section === '' ? lines : [`[${section}]`, ...lines]
    // Such a section takes effect by its presence, so an unwritten one is shown as a comment.
    const unwritten = MEANT_BY_PRESENCE.test(section) && lines.every((line) => line.endsWith('# built-in'))
    return block.map((line) => (unwritten && !line.startsWith('#') ? `# ${line}` : line)).join('\n')
  })
  return `${blocks.join('\n\n')}\n`
}

function lastPart(path: string): string {
  return /"(?:[^"\\]|\\.)*"$/.exec(path)?.[0] ?? path.slice(path.lastIndexOf('.') + 1)
}

function renderValue(name: string, { value, source, items }: EffectiveValue): string[] {
  if (value === null) return [comment(`# ${name} is unset`, source)]
  if (items === null || items.length === 0) return [comment(`${name} = ${printValue(value)}`, source)]
  return [`${name} = [`, ...items.map((item) => comment(`  ${printValue(item.value)},`, item.source)), ']']
}

function comment(line: string, source: string): string {
  return `${line.padEnd(40)} # ${source}`
}
