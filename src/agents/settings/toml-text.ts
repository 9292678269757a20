/** Reads, writes and removes one value of a TOML file without touching other lines. */

import { parseToml as parseTree } from '../../manifest/toml/toml.ts'
import { plainNode } from '../../manifest/toml/tree.ts'
import { attempt, Fault } from '../../system/fault.ts'

/** Sets one value in a table; rewrites the table's lines, and nothing else. */
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

/** The text at a table's key, as `withTomlValue` wrote it; otherwise null. */
export function tomlValue(config: string, table: string, key: string): string | null {
  const lines = config.split('\n')
  const { at, end } = tableOf(lines, table)
  const line = lines.slice(at + 1, end).find((text) => isKey(text, key))
  const written = at < 0 || line === undefined ? null : /^[^=]*=\s*("(?:[^"\\]|\\.)*")\s*$/.exec(line)?.[1]
  return attempt(() => (written ? (JSON.parse(written) as string) : null), null)
}

/** Removes one value, and its table if empty. */
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

/** The exact text of a table with its subtables, from its header to the next one, or null. */
export function tableText(config: string, table: string): string | null {
  const range = tableRange(config, table)
  return range && config.slice(range.start, range.end)
}

/** Replaces a table's text, or appends it; null removes it. */
export function withTableText(config: string, table: string, wanted: string | null): string {
  const range = tableRange(config, table)
  if (range) return config.slice(0, range.start) + (wanted ?? '') + config.slice(range.end)
  return wanted === null ? config : `${config}${config === '' || config.endsWith('\n') ? '' : '\n'}${wanted}`
}

function tableRange(config: string, table: string): { readonly start: number; readonly end: number } | null {
  const lines = config.split('\n')
  const isOwn = (line: string): boolean => new RegExp(`^\\s*\\[\\s*${escaped(table)}\\s*(?:\\]|\\.)`).test(line)
  const first = lines.findIndex(isOwn)
  if (first < 0) return null
  const next = lines.findIndex((line, index) => index > first && /^\s*\[/.test(line) && !isOwn(line))
  const startOf = (line: number): number => lines.slice(0, line).reduce((sum, text) => sum + text.length + 1, 0)
  // The empty line before a table belongs to it.
  const startAt = (line: number): number => startOf(line > 0 && lines[line - 1]!.trim() === '' ? line - 1 : line)
  return { start: startAt(first), end: next < 0 ? config.length : startAt(next) }
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')
}

function tableOf(lines: readonly string[], table: string): { readonly at: number; readonly end: number } {
  const at = lines.findIndex((text) => text.trim() === `[${table}]`)
  const end = lines.findIndex((text, index) => index > at && text.trim().startsWith('['))
  return { at, end: end < 0 ? lines.length : end }
}

function isKey(line: string, key: string): boolean {
  return new RegExp(`^\\s*${key}\\s*=`).test(line)
}

/** A TOML basic string; for any path, JSON strings are the same. */
export function tomlText(text: string): string {
  return JSON.stringify(text)
}

/** Parses TOML; throws a Fault if invalid. */
export function parseToml(text: string, file: string): unknown {
  const { root, problems } = parseTree(text)
  if (problems.length > 0) throw new Fault('not-toml', `${file} is not TOML: ${problems[0]!.message}`)
  return plainNode(root)
}
