/** `list`: the entries of a directory. */

import { posix } from 'node:path'
import type { Entry } from '../../system/guarded/guarded-files.ts'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { holdsReadable, isShown } from './tree.ts'
import { visibleName } from './visible-name.ts'

const MAX_ENTRIES = 2000
const MARKS = { file: '', directory: '/', link: '@', other: '?' } as const

export interface ListInput {
  readonly path: string
}

export async function list(input: ListInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const directory = context.checked(given)
  const all: Entry[] = []
  for (const entry of context.files.list(directory)) {
    const below = context.judge('list', posix.join(directory, entry.name))
    if (!isShown(below, entry.type, context)) continue
    if (entry.type !== 'directory' || (await holdsReadable(below.path, context))) all.push(entry)
  }
  const entries = all.slice(0, MAX_ENTRIES)
  const lines = entries.map((entry) => visibleName(entry.name) + MARKS[entry.type])
  const remedy = 'use glob with a narrower pattern'
  if (all.length > entries.length) lines.push(`[${all.length - entries.length} more entries; ${remedy}]`)
  return {
    text: lines.length === 0 ? `[${given} is empty]` : lines.join('\n'),
    data: { path: directory, entries },
    ...(all.length > entries.length && {
      truncated: { shown: entries.length, total: all.length, unit: 'entries', remedy },
    }),
  }
}
