/** `grep`: matching lines in readable files. */

import { Fault } from '../../system/fault.ts'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import { decodeText, looksLikeText } from '../files/text-encoding.ts'
import { readableBelow, visibleName, walkTree } from '../files/tree.ts'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { parseGlob } from './glob.ts'
import { type LineSearch, openLineSearch } from './line-search.ts'

const MAX_MATCHES = 500
const MAX_LINE = 400
const MAX_FILE = 16 * 1024 * 1024
/** Files listed in the record. */
const MAX_NAMED = 200

interface FoundLine {
  readonly path: string
  readonly line: number
  readonly text: string
}

interface SearchOptions {
  readonly search: LineSearch
  readonly context: number
  readonly filesOnly: boolean
}

export interface GrepInput {
  readonly pattern: string
  readonly path?: string | undefined
  readonly glob?: string | undefined
  readonly ignore_case?: boolean | undefined
  readonly context?: number | undefined
  readonly files_only?: boolean | undefined
  readonly ignored?: boolean | undefined
}

/** Not ripgrep: each file is judged, and opened by its judged path. */
export async function grep(input: GrepInput, context: ToolContext): Promise<ToolOutput> {
  const root = context.checked(input.path ?? '.')
  const only = input.glob === undefined ? null : parseGlob(input.glob, { floating: true })
  const { timeoutMs } = context.limits
  const search = openLineSearch(input.pattern, {
    ignoreCase: input.ignore_case === true,
    timeoutMs,
    signal: context.signal,
  })
  const wanted = { search, context: input.context ?? 0, filesOnly: input.files_only === true }
  const mayRead = readableBelow(root, context)
  const result = new Result(context.limits.maxOutputBytes, wanted.filesOnly)
  try {
    if (context.files.stat(root)?.type === 'file') await searchFile(root, visibleName(root), wanted, context, result)
    else {
      for await (const entry of walkTree(root, context, { ignore: input.ignored !== true })) {
        if (entry.type !== 'file' || (only && !only.matches(entry.relative))) continue
        if (!mayRead(entry.path)) result.unreadable++
        else await searchFile(entry.path, visibleName(entry.relative), wanted, context, result)
        if (result.full) break
      }
    }
  } finally {
    await search.close()
  }
  return result.output(root)
}

async function searchFile(
  path: CheckedPath,
  label: string,
  wanted: SearchOptions,
  context: ToolContext,
  result: Result,
): Promise<void> {
  let bytes: Buffer
  try {
    bytes = context.files.read(path, MAX_FILE).bytes
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    result.skipped++
    return
  }
  result.searched.push(path)
  if (!looksLikeText(bytes)) return
  const decoded = decodeText(bytes)
  if ('media' in decoded) return
  const matches = await wanted.search.search(decoded.text, wanted.filesOnly ? 1 : result.left + 1)
  if (matches.length === 0) return
  const lines = decoded.text.split('\n')
  let shown = 0
  for (const match of matches) {
    const from = Math.max(match.line - wanted.context, shown + 1)
    const to = Math.min(match.line + wanted.context, lines.length)
    for (let line = from; line <= to; line++) {
      const column = line === match.line ? match.column : 0
      const isMatch = line === match.line
      if (!result.add({ path: label, line, text: clip(lines[line - 1]!, column) }, isMatch)) return
    }
    shown = to
  }
}

class Result {
  readonly #found: FoundLine[] = []
  readonly #lines: string[] = []
  readonly #maxBytes: number
  readonly #filesOnly: boolean
  readonly searched: string[] = []
  unreadable = 0
  skipped = 0
  left: number = MAX_MATCHES
  full = false
  #bytes = 0

  constructor(maxBytes: number, filesOnly: boolean) {
    this.#maxBytes = maxBytes
    this.#filesOnly = filesOnly
  }

  /** False if there is no more space. */
  add(found: FoundLine, isMatch: boolean): boolean {
    const line = this.#filesOnly
      ? found.path
      : `${found.path}${isMatch ? ':' : '-'}${found.line}${isMatch ? ':' : '-'}${found.text}`
    const bytes = Buffer.byteLength(line) + 1
    if ((isMatch && this.left === 0) || this.#bytes + bytes > this.#maxBytes) {
      this.full = true
      return false
    }
    if (isMatch) {
      this.left--
      this.#found.push(found)
    }
    this.#bytes += bytes
    this.#lines.push(line)
    return true
  }

  output(root: string): ToolOutput {
    const remedy = 'give a narrower pattern, "path" or "glob"'
    const notes = [
      ...(this.full ? [`more matches were left out; ${remedy}`] : []),
      ...(this.unreadable > 0 ? [`${this.unreadable} files that may not be read were not searched`] : []),
      ...(this.skipped > 0 ? [`${this.skipped} files were too large or disappeared`] : []),
    ]
    const body = this.#lines.length > 0 ? this.#lines : [`No match in ${this.searched.length} files below ${root}.`]
    return {
      text: [...body, ...notes.map((note) => `[${note}]`)].join('\n'),
      data: { root, matches: this.#found, searched: this.searched.length, unreadable: this.unreadable },
      files: { read: this.searched.length > MAX_NAMED ? [root] : this.searched, written: [] },
      ...(this.full && { truncated: { shown: this.#found.length, total: null, unit: 'lines', remedy } }),
    }
  }
}

/** Cuts a long line around its match. */
function clip(line: string, column: number): string {
  const text = line.endsWith('\r') ? line.slice(0, -1) : line
  if (text.length <= MAX_LINE) return text
  const from = Math.max(0, Math.min(column - 100, text.length - MAX_LINE))
  const end = from + MAX_LINE
  return `${from > 0 ? '…' : ''}${text.slice(from, end).toWellFormed()}${end < text.length ? '…' : ''}`
}
