/** JSON from outside: objects, canonical texts, and settings with comments. */

const STRING = String.raw`"(?:\\.|[^"\\])*"`
const COMMENT = new RegExp(String.raw`(${STRING})|//[^\n]*|/\*[\s\S]*?\*/`, 'g')
const COMMA = new RegExp(String.raw`(${STRING})|,(?=\s*[}\]])`, 'g')

/** Parses settings with comments and trailing commas; throws for anything else. */
export function parseSettings(text: string): unknown {
  const keepStrings = (_: string, quoted?: string): string => quoted ?? ' '
  return JSON.parse(
    text
      .replace(/^\ufeff/, '')
      .replace(COMMENT, keepStrings)
      .replace(COMMA, keepStrings),
  )
}

/** A canonical text: fields are sorted. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${canonicalJson(field)}`).join(',')}}`
}

/** True for objects, not lists. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The object, or an empty one for anything else. */
export function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return isRecord(value) ? value : {}
}
