/** `grep`: matching lines in readable files. */

import { Worker } from 'node:worker_threads'
import { Fault } from '../../system/fault.ts'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import { decodeText, looksLikeText } from '../files/text-encoding.ts'
import { readableBelow, visibleName, walkTree } from '../files/tree.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { parseGlob } from './glob.ts'

interface LineMatch {
  /** Counted from 1. */
  readonly line: number
  /** Of the first match, counted from 0. */
  readonly column: number
}

interface LineSearch {
  /** Up to `limit` matching lines. */
  search(text: string, limit: number): Promise<readonly LineMatch[]>
  close(): Promise<void>
}

const MAX_PATTERN = 4096
const MAX_INLINE = 64

/**
 * Simple expressions cannot backtrack and run here. Others run in a worker with a time limit, since
 * backtracking cannot be interrupted.
 */
export function openLineSearch(
  pattern: string,
  options: { readonly ignoreCase: boolean; readonly timeoutMs: number; readonly signal: AbortSignal },
): LineSearch {
  const { source, flags } = compile(pattern, options.ignoreCase)
  if (source.length <= MAX_INLINE && !/[*+{?|()]/.test(source)) {
    const search = lineSearcher(source, flags)
    return { search: async (text, limit) => search(text, limit), close: async () => {} }
  }
  return openWorker(source, flags, options)
}

function compile(pattern: string, ignoreCase: boolean): { readonly source: string; readonly flags: string } {
  if (pattern === '') throw new InputError('"pattern" of grep is empty')
  if (pattern.length > MAX_PATTERN) throw new InputError(`"pattern" of grep has more than ${MAX_PATTERN} characters`)
  // JavaScript writes ripgrep's (?i) as a flag.
  const source = pattern.startsWith('(?i)') ? pattern.slice(4) : pattern
  const insensitive = ignoreCase || source !== pattern ? 'i' : ''
  for (const flags of [`u${insensitive}`, insensitive]) {
    try {
      new RegExp(source, flags)
      return { source, flags }
    } catch (error) {
      if (flags === insensitive) {
        throw new InputError(`"pattern" of grep is not a regular expression: ${(error as Error).message}`)
      }
    }
  }
  throw new InputError('"pattern" of grep is not a regular expression')
}

// Also runs in the worker as source text: it must not use anything outside itself.
function lineSearcher(source: string, flags: string): (text: string, limit: number) => LineMatch[] {
  const expression = new RegExp(source, flags)
  // Without look-around, no line matches unless the whole text does.
  const anywhere = source.includes('(?') ? null : new RegExp(source, `${flags}m`)
  return (text, limit) => {
    const matches: LineMatch[] = []
    if (anywhere && !anywhere.test(text)) return matches
    let start = 0
    for (let line = 1; start <= text.length && matches.length < limit; line++) {
      const newline = text.indexOf('\n', start)
      const end = newline < 0 ? text.length : newline
      const last = text.charCodeAt(end - 1) === 13 && end > start ? end - 1 : end
      if (newline >= 0 || start < text.length) {
        const found = expression.exec(text.slice(start, last))
        if (found) matches.push({ line, column: found.index })
      }
      start = end + 1
    }
    return matches
  }
}

function openWorker(
  source: string,
  flags: string,
  options: { readonly timeoutMs: number; readonly signal: AbortSignal },
): LineSearch {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads')
    const search = (${lineSearcher.toString()})(workerData.source, workerData.flags)
    parentPort.on('message', ({ text, limit }) => parentPort.postMessage(search(text, limit)))
  `
  const worker = new Worker(code, {
    eval: true,
    workerData: { source, flags },
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 512 },
  })
  worker.unref()
  let failure: unknown = null
  let waiting: { resolve: (found: readonly LineMatch[]) => void; reject: (error: unknown) => void } | null = null
  const fail = (error: unknown) => {
    failure ??= error
    waiting?.reject(failure)
    waiting = null
    void worker.terminate()
  }
  const late = () =>
    new Fault('search-timeout', `the search did not end within ${options.timeoutMs / 1000} s`, {
      remedy: 'Use a simpler expression (no nested repetition) or a narrower "path".',
    })
  const timer = setTimeout(() => fail(late()), options.timeoutMs)
  const onAbort = () => fail(options.signal.reason)
  options.signal.addEventListener('abort', onAbort, { once: true })
  worker.on('message', (found: readonly LineMatch[]) => {
    waiting?.resolve(found)
    waiting = null
  })
  worker.on('error', (error) =>
    fail(new Fault('search-failed', `the search failed: ${error.message}`, { cause: error })),
  )
  worker.on('exit', () => fail(new Fault('search-failed', 'the search ended early')))
  return {
    search: (text, limit) =>
      new Promise((resolve, reject) => {
        if (failure !== null) return reject(failure)
        waiting = { resolve, reject }
        worker.postMessage({ text, limit })
      }),
    async close() {
      clearTimeout(timer)
      options.signal.removeEventListener('abort', onAbort)
      failure ??= new Fault('search-failed', 'the search was closed')
      await worker.terminate()
    },
  }
}

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
