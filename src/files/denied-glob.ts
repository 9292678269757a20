/** Globs that would name what a deny rule of the manifest closes: `cat priv*`, `rm gen[e]rated/x`. */

import { isGlob, segmentsMeet } from './glob.ts'
import { type PathPattern, reachesPath, splitPath } from './path-pattern.ts'

/**
 * A path of one of these rules that this glob of a command would match, as an example; null when it is aimed at none. A glob
 * that only happens to match (`*`, `*.txt`) is left to the sandbox, which holds the rule as well.
 */
export function deniedOfGlob(path: string, rules: readonly PathPattern[]): string | null {
  if (rules.length === 0) return null
  const glob = splitPath(path.replace(/\[[^\]/]*\]/g, '?').replace(/\\(.)/g, '$1'))
  for (const rule of rules) {
    const end = rule.segments.findIndex(isGlob)
    const closed = end < 0 ? rule.segments : rule.segments.slice(0, end)
    const aimed = closed.length <= glob.length && closed.every((name, at) => aimsAt(glob[at] ?? '', name))
    const example = `/${[...closed, ...glob.slice(closed.length)].join('/')}`
    if (aimed && closed.some((name, at) => glob[at] !== name) && reachesPath(rule, example)) return example
    const last = rule.segments.at(-1) ?? ''
    const basename = glob.at(-1) ?? ''
    // `cat *.secre?` for a rule `**/*.secret`.
    if (end >= 0 && last !== '**' && isGlob(last) && isGlob(basename) && sharesTail(basename, last)) {
      const named = `/${[...glob.slice(0, -1), last.replace(/[*?]/g, 'x')].join('/')}`
      if (reachesPath(rule, named)) return named
    }
  }
  return null
}

/** The name itself, or a glob that begins like it, or spells at least half of it. */
function aimsAt(segment: string, name: string): boolean {
  if (segment === name) return true
  if (!isGlob(segment) || !segmentsMeet(segment, name) || (name.startsWith('.') && !segment.startsWith('.')))
    return false
  return !/^[*?]/.test(segment) || segment.replace(/[*?]/g, '').replace(/\.\w*$/, '').length * 2 >= name.length
}

function sharesTail(glob: string, rule: string): boolean {
  const tail = /[^*?]+$/.exec(rule)?.[0] ?? ''
  const own = /\.[^.]*$/.exec(glob)?.[0] ?? ''
  return tail.startsWith('.') && own.replace(/[*?.]/g, '') !== '' && segmentsMeet(own, tail)
}
