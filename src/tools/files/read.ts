/** `read`: lines of a text file, one page at a time. */

import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { decodeText, lineEndOf } from './text-encoding.ts'

export interface ReadInput {
  readonly path: string
  readonly offset?: number | undefined
  readonly limit?: number | undefined
  readonly column?: number | undefined
}

export async function read(input: ReadInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const { offset = 1, column = 1, limit = Number.POSITIVE_INFINITY } = input
  if (offset < 1 || column < 1 || limit < 1) throw new InputError('"offset", "column" and "limit" of read begin at 1')
  const { bytes, facts } = context.files.read(target)
  const files = { read: [target], written: [] }
  const decoded = decodeText(bytes)
  if ('media' in decoded) {
    const kind = decoded.media.startsWith('image/') ? 'an image' : 'a binary file'
    return {
      text: `[${given} is ${kind} (${decoded.media}, ${facts.size} bytes), which read cannot show as text]`,
      data: { path: target, media: decoded.media, size: facts.size },
      files,
    }
  }
  const { text, encoding } = decoded
  const page = pageOf(text, { offset, column, limit, characters: context.limits.readSizeLimit })
  if (!page) {
    const total = countLines(text)
    if (text === '' && offset === 1) {
      return { text: `[${given} is empty]`, data: { path: target, text: '', lines: 0, encoding }, files }
    }
    throw new InputError(`${given} has ${total} lines; "offset" ${offset} lies beyond the end`)
  }
  const notes = [
    ...(page.next ? [moreNotice(page, page.next)] : []),
    ...(encoding === 'utf-8' ? [] : [`encoding: ${encoding}`]),
  ]
  const body = page.text
  return {
    text: notes.length === 0 ? body : `${body}${body.endsWith('\n') ? '' : '\n'}[${notes.join('; ')}]`,
    data: {
      path: target,
      text: body,
      from: offset,
      to: page.to,
      lines: page.total,
      encoding,
      lineEnd: lineEndOf(text),
      stamp: facts.stamp,
    },
    files,
    ...(page.next && {
      truncated: { shown: body.length, total: text.length, unit: 'characters', remedy: nextCall(page.next) },
    }),
  }
}

interface Page {
  readonly text: string
  /** Last line shown, whole or in part. */
  readonly to: number
  readonly total: number
  readonly next: { readonly offset: number; readonly column: number } | null
}

interface PageRequest {
  readonly offset: number
  readonly column: number
  readonly limit: number
  readonly characters: number
}

function pageOf(text: string, wanted: PageRequest): Page | null {
  let start = 0
  for (let line = 1; line < wanted.offset; line++) {
    const end = text.indexOf('\n', start)
    if (end < 0) return null
    start = end + 1
  }
  start += wanted.column - 1
  if (start >= text.length) return null
  const total = countLines(text)
  let end = start
  let line = wanted.offset
  for (; line < wanted.offset + wanted.limit && end < text.length; line++) {
    const newline = text.indexOf('\n', end)
    const next = newline < 0 ? text.length : newline + 1
    if (next - start > wanted.characters) {
      // Whole lines if possible; a line longer than a page is cut.
      if (end > start) break
      const cut = cutBefore(text, start + wanted.characters)
      const column = (line === wanted.offset ? wanted.column : 1) + cut - start
      return { text: text.slice(start, cut), to: line, total, next: { offset: line, column } }
    }
    end = next
  }
  const next = end < text.length ? { offset: line, column: 1 } : null
  return { text: text.slice(start, end), to: line - 1, total, next }
}

// Never cuts inside a surrogate pair.
function cutBefore(text: string, at: number): number {
  const code = text.charCodeAt(at - 1)
  return code >= 0xd800 && code <= 0xdbff ? at - 1 : at
}

function countLines(text: string): number {
  if (text === '') return 0
  let lines = 1
  for (let at = text.indexOf('\n'); at >= 0 && at < text.length - 1; at = text.indexOf('\n', at + 1)) lines++
  return lines
}

function moreNotice(page: Page, next: { readonly offset: number; readonly column: number }): string {
  const upTo = next.column > 1 ? `up to character ${next.column - 1} of line ${page.to}` : `up to line ${page.to}`
  return `shown ${upTo} of ${page.total} lines; read on with ${nextCall(next)}`
}

function nextCall(next: { readonly offset: number; readonly column: number }): string {
  return next.column > 1 ? `"offset": ${next.offset}, "column": ${next.column}` : `"offset": ${next.offset}`
}
