/** `summary`: what a file is, how long, and what it defines. */

import { posix } from 'node:path'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { languageOf, outlineOf } from './outline.ts'
import { decodeText, lineEndOf } from './text-encoding.ts'

export interface SummaryInput {
  readonly path: string
}

export async function summary(input: SummaryInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const target = context.checked(given)
  const { bytes, facts } = context.files.read(target)
  const files = { read: [target], written: [] }
  const decoded = decodeText(bytes)
  if ('media' in decoded) {
    return {
      text: `${given}: ${decoded.media}, ${facts.size} bytes`,
      data: { path: target, size: facts.size, media: decoded.media },
      files,
    }
  }
  const { text, encoding } = decoded
  const name = posix.basename(target)
  const lines = text === '' ? 0 : text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  const lineEnd = lineEndOf(text)
  const language = languageOf(name)
  const outline = outlineOf(name, text)
  const head = [
    `${facts.size} bytes`,
    `${lines} lines`,
    language ?? 'text',
    ...(encoding === 'utf-8' ? [] : [encoding]),
    ...(lineEnd === 'crlf' || lineEnd === 'mixed' ? [`${lineEnd} line ends`] : []),
  ]
  return {
    text: [`${given}: ${head.join(', ')}`, ...outline.map((one) => `${one.line}: ${one.text}`)].join('\n'),
    data: { path: target, size: facts.size, lines, language, encoding, lineEnd, outline },
    files,
  }
}
