/** `summary`: what a file is, how long, and what it defines. */

import { posix } from 'node:path'
import type { ToolContext, ToolInput, ToolOutput } from '../tool.ts'
import { languageOf, outlineOf } from './outline.ts'
import { decodeText, lineEndOf } from './text-encoding.ts'

export async function summary(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path as string
  const path = context.checked(given)
  const { bytes, facts } = context.files.read(path)
  const files = { read: [path], written: [] }
  const decoded = decodeText(bytes)
  if ('media' in decoded) {
    return {
      text: `${given}: ${decoded.media}, ${facts.size} bytes`,
      data: { path, size: facts.size, media: decoded.media },
      files,
    }
  }
  const { text, encoding } = decoded
  const name = posix.basename(path)
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
    data: { path, size: facts.size, lines, language, encoding, lineEnd, outline },
    files,
  }
}
