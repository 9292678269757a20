/** `glob`: files whose path matches. */

import { matchSegments } from '../../files/glob.ts'
import { visibleName, walkTree } from '../files/tree.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'

interface GlobPattern {
  matches(relative: string): boolean
  /** False if nothing below this directory can match. */
  leadsInto(relative: string): boolean
}

const MAX_ALTERNATIVES = 64
const MAX_LENGTH = 1024

/** Parses a relative glob; `floating` matches a pattern without a slash at any depth. */
export function parseGlob(pattern: string, options: { readonly floating?: boolean } = {}): GlobPattern {
  if (pattern === '' || pattern.length > MAX_LENGTH) {
    throw new InputError(`a glob has between 1 and ${MAX_LENGTH} characters, such as "src/**/*.ts"`)
  }
  if (pattern.startsWith('/')) {
    throw new InputError(
      `the glob ${JSON.stringify(pattern)} is absolute; give the directory as "path" and the rest as the glob`,
    )
  }
  const alternatives = expandBraces(pattern).map((one) => segmentsOf(one, options.floating ?? false))
  return {
    matches(relative) {
      const path = relative.split('/')
      return alternatives.some((segments) => matchSegments(segments, path))
    },
    leadsInto(relative) {
      const path = relative.split('/')
      return alternatives.some((segments) => {
        const deep = segments.indexOf('**')
        if (deep >= 0 && deep < path.length) return matchSegments(segments.slice(0, deep), path.slice(0, deep))
        return path.length < segments.length && matchSegments(segments.slice(0, path.length), path)
      })
    },
  }
}

function segmentsOf(pattern: string, floating: boolean): string[] {
  const segments = pattern.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw new InputError('a glob cannot climb with ".."; give the directory as "path"')
  if (segments.length === 0) throw new InputError('the glob names nothing; write "*" or "**"')
  return floating && segments.length === 1 ? ['**', ...segments] : segments
}

function expandBraces(pattern: string): string[] {
  let pending = [pattern]
  const done: string[] = []
  while (pending.length > 0) {
    if (pending.length + done.length > MAX_ALTERNATIVES) {
      throw new InputError(`the braces of the glob expand to more than ${MAX_ALTERNATIVES} patterns`)
    }
    const next: string[] = []
    for (const one of pending) {
      const braces = /\{([^{}]*,[^{}]*)\}/.exec(one)
      if (!braces) done.push(one)
      else {
        for (const choice of braces[1]!.split(',')) {
          next.push(one.slice(0, braces.index) + choice + one.slice(braces.index + braces[0].length))
        }
      }
    }
    pending = next
  }
  return done
}

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
