/** `glob`: files whose path matches. */

import { walkTree } from '../files/tree.ts'
import { visibleName } from '../files/visible-name.ts'
import type { ToolContext, ToolOutput } from '../tool.ts'
import { parseGlob } from './glob-pattern.ts'

const MAX_MATCHES = 1000

export interface GlobInput {
  readonly pattern: string
  readonly path?: string | undefined
  readonly ignored?: boolean | undefined
}

export async function glob(input: GlobInput, context: ToolContext): Promise<ToolOutput> {
  const root = context.checked(input.path ?? '.')
  const pattern = parseGlob(input.pattern)
  const found: string[] = []
  let more = false
  const enter = (entry: { readonly relative: string }) => pattern.leadsInto(entry.relative)
  for await (const entry of walkTree(root, context, { ignore: input.ignored !== true, enter })) {
    if (entry.type === 'directory' || !pattern.matches(entry.relative)) continue
    if (found.length === MAX_MATCHES) {
      more = true
      break
    }
    found.push(entry.relative)
  }
  const remedy = 'give a narrower pattern or "path"'
  const lines = found.map(visibleName)
  if (more) lines.push(`[more than ${MAX_MATCHES} matches; ${remedy}]`)
  return {
    text: lines.length === 0 ? `Nothing matches ${input.pattern} below ${root}.` : lines.join('\n'),
    data: { root, matches: found },
    ...(more && { truncated: { shown: found.length, total: null, unit: 'entries', remedy } }),
  }
}
