/** One value in the text of a TOML file: read, written and removed without touching other lines. */

/** The text of config.toml in which a table holds one value; a table of that name is replaced line by line, nothing else is touched. */
export function withTomlValue(config: string, table: string, key: string, value: string): string {
  const line = `${key} = ${tomlText(value)}`
  const lines = config.split('\n')
  const { at, end } = tableOf(lines, table)
  if (at < 0) return `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}\n[${table}]\n${line}\n`
  const old = lines.findIndex((text, index) => index > at && index < end && isKey(text, key))
  if (old < 0) lines.splice(at + 1, 0, line)
  else lines[old] = line
  return lines.join('\n')
}

/** The text that a table of config.toml holds under a key, as it was written by `withTomlValue`; null for anything else. */
export function tomlValue(config: string, table: string, key: string): string | null {
  const lines = config.split('\n')
  const { at, end } = tableOf(lines, table)
  const line = lines.slice(at + 1, end).find((text) => isKey(text, key))
  const written = at < 0 || line === undefined ? null : /^[^=]*=\s*("(?:[^"\\]|\\.)*")\s*$/.exec(line)?.[1]
  try {
    return written ? (JSON.parse(written) as string) : null
  } catch {
    return null
  }
}

/** The text without one value of a table, and without the table when it held nothing else. */
export function withoutTomlValue(config: string, table: string, key: string): string {
  const lines = config.split('\n')
  const { at, end } = tableOf(lines, table)
  const line = lines.findIndex((text, index) => index > at && index < end && isKey(text, key))
  if (at < 0 || line < 0) return config
  const others = lines.slice(at + 1, end).filter((text, index) => at + 1 + index !== line && text.trim() !== '')
  if (others.length > 0) return lines.toSpliced(line, 1).join('\n')
  const from = at > 0 && lines[at - 1]!.trim() === '' ? at - 1 : at
  return lines.toSpliced(from, line + 1 - from).join('\n')
}

function tableOf(lines: readonly string[], table: string): { readonly at: number; readonly end: number } {
  const at = lines.findIndex((text) => text.trim() === `[${table}]`)
  const end = lines.findIndex((text, index) => index > at && text.trim().startsWith('['))
  return { at, end: end < 0 ? lines.length : end }
}

function isKey(line: string, key: string): boolean {
  return new RegExp(`^\\s*${key}\\s*=`).test(line)
}

/** A TOML basic string, which a JSON string is for everything a path can hold. */
export function tomlText(text: string): string {
  return JSON.stringify(text)
}
