/** Searches lines with any regular expression without hanging. */

import { Worker } from 'node:worker_threads'
import { Fault } from '../../system/fault.ts'
import { InputError } from '../tool.ts'

export interface LineMatch {
  /** Counted from 1. */
  readonly line: number
  /** Of the first match, counted from 0. */
  readonly column: number
}

export interface LineSearch {
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
