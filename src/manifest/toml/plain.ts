/** Manifest values without their places: what remains is data that can be compared, printed and hashed. */

export type Plain = boolean | number | string | null | readonly Plain[] | { readonly [key: string]: Plain }

/** Strips the places from a value, its items and its fields; fields that are not set are left out. */
export function plainValue(value: unknown): Plain {
  if (Array.isArray(value)) return value.map((item) => plainValue(isItem(item) ? item.value : item))
  if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).filter(([, field]) => field !== undefined && field !== null)
    return Object.fromEntries(fields.map(([name, field]) => [name, plainValue(field)]))
  }
  return value as Plain
}

function isItem(value: unknown): value is { readonly value: unknown } {
  return typeof value === 'object' && value !== null && 'rule' in value && 'source' in value && 'value' in value
}

/** The short form of an entry: `{ path = "x" }` says no more than `"x"`. */
export function shorten(value: Plain): Plain {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const names = Object.keys(value)
  const only = names.length === 1 ? names[0]! : ''
  return ['path', 'command', 'host', 'tool'].includes(only) ? (value as { [key: string]: Plain })[only]! : value
}
