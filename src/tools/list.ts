/** `list`: the entries of a directory. */

import { posix } from 'node:path'
import type { ToolContext, ToolInput, ToolOutput } from './tool.ts'
import { isShown } from './tree.ts'
import { visibleName } from './visible-name.ts'

const MAX_ENTRIES = 2000
const MARKS = { file: '', directory: '/', link: '@', other: '?' } as const

export async function list(input: ToolInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path as string
  const path = context.checked(given)
  const all = context.files.list(path).filter((entry) => isShown(posix.join(path, entry.name), entry.type, context))
  const entries = all.slice(0, MAX_ENTRIES)
  const lines = entries.map((entry) => visibleName(entry.name) + MARKS[entry.type])
  const remedy = 'use glob with a narrower pattern'
  if (all.length > entries.length) lines.push(`[${all.length - entries.length} more entries; ${remedy}]`)
  return {
    text: lines.length === 0 ? `[${given} is empty]` : lines.join('\n'),
    data: { path, entries },
    ...(all.length > entries.length && {
      truncated: { shown: entries.length, total: all.length, unit: 'entries', remedy },
    }),
  }
}
