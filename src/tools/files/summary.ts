/** `summary`: a file's type, length and definitions. */

import { posix } from 'node:path'
import type { ToolContext, ToolOutput } from '../tool.ts'
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

interface Definition {
  readonly line: number
  readonly text: string
}

const MAX_DEFINITIONS = 200
const MAX_LINE = 160

const script =
  /^\s*(export\s+)?(default\s+)?(declare\s+)?(abstract\s+)?(async\s+)?(function\b|class\b|interface\b|enum\b|namespace\b|type\s+\w+|(const|let|var)\s+\w+[^=]{0,80}=\s*(async\s*)?(\(|function\b|<|\w+\s*=>))/
const shared: readonly (readonly [extensions: string, language: string, definition: RegExp])[] = [
  ['ts tsx mts cts', 'TypeScript', script],
  ['js jsx mjs cjs', 'JavaScript', script],
  ['py pyi', 'Python', /^\s*(async\s+)?(def|class)\s+\w+/],
  [
    'rs',
    'Rust',
    /^\s*(pub(\([^)]{0,40}\))?\s+)?(async\s+|unsafe\s+|const\s+)*(fn|struct|enum|trait|impl|mod|macro_rules!|type)\b/,
  ],
  ['go', 'Go', /^(func|type)\s/],
  [
    'java kt kts scala cs swift',
    'Java or a relative',
    /^\s*([a-z]+\s+){0,5}(class|interface|enum|record|struct|object|protocol|fun|func|def)\s+\w+/,
  ],
  [
    'c h cc cpp hpp cxx',
    'C or C++',
    /^(typedef\s|struct\s|class\s|enum\s|union\s|namespace\s|template\s*<|#define\s|[A-Za-z_][\w\s*&:<>,~]{0,120}\([^;]{0,200}$)/,
  ],
  ['rb', 'Ruby', /^\s*(def|class|module)\s/],
  ['php', 'PHP', /^\s*([a-z]+\s+){0,3}(function|class|interface|trait|enum)\s/],
  ['sh bash zsh', 'Shell', /^\s*(function\s+[\w-]+|[\w-]+\s*\(\))/],
  ['md mdx markdown', 'Markdown', /^#{1,6}\s/],
  ['toml ini cfg', 'TOML or INI', /^\s*\[{1,2}[^\]]{1,100}\]{1,2}\s*$/],
  ['yml yaml', 'YAML', /^[\w"'.-]+:/],
  ['css scss less', 'CSS', /^[^\s@}/][^{]{0,150}\{\s*$/],
  ['sql', 'SQL', /^\s*create\s/i],
]

/** The language by file name, or null. */
function languageOf(name: string): string | null {
  return ruleOf(name)?.[1] ?? null
}

/** Up to 200 definitions. */
function outlineOf(name: string, text: string): Definition[] {
  const definition = ruleOf(name)?.[2]
  if (!definition) return []
  const found: Definition[] = []
  for (const [index, line] of text.split('\n').entries()) {
    if (found.length === MAX_DEFINITIONS) break
    // Longer lines are generated code.
    const start = line.slice(0, 400)
    if (definition.test(start)) found.push({ line: index + 1, text: start.trimEnd().slice(0, MAX_LINE) })
  }
  return found
}

function ruleOf(name: string) {
  const extension = /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase()
  return extension === undefined ? undefined : shared.find(([extensions]) => extensions.split(' ').includes(extension))
}
