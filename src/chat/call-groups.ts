/** Which calls of one answer may run at once: those that do not touch the same files. */

import { posix } from 'node:path'
import type { CallPart } from '../providers/conversation.ts'
import type { Actions } from '../tools/tool.ts'

/** What a call touches; null: no one can say, so it runs alone. */
export interface Footprint {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** What the actions of a tool touch. A command may touch anything. */
export function footprintOf(actions: Actions | null, root: string): Footprint | null {
  if (actions === null || actions.command !== undefined) return null
  const absolute = (path: string) => posix.resolve(root, path)
  return {
    reads: [...(actions.reads ?? []), ...(actions.lists ?? [])].map(absolute),
    writes: (actions.writes ?? []).map(absolute),
  }
}

/** The calls in groups, in their order: a group runs at once, and groups one after the other. */
export function groupCalls(
  calls: readonly CallPart[],
  footprint: (call: CallPart) => Footprint | null,
): readonly (readonly CallPart[])[] {
  const groups: { calls: CallPart[]; touched: Footprint[] | null }[] = []
  for (const call of calls) {
    const own = footprint(call)
    const last = groups.at(-1)
    if (own !== null && last?.touched && !last.touched.some((other) => meet(own, other))) {
      last.calls.push(call)
      last.touched.push(own)
    } else groups.push({ calls: [call], touched: own && [own] })
  }
  return groups.map((group) => group.calls)
}

function meet(one: Footprint, other: Footprint): boolean {
  const touch = (some: readonly string[], others: readonly string[]) =>
    some.some((path) => others.some((next) => covers(path, next) || covers(next, path)))
  return touch(one.writes, [...other.reads, ...other.writes]) || touch(other.writes, one.reads)
}

function covers(outer: string, inner: string): boolean {
  return outer === inner || inner.startsWith(outer === '/' ? '/' : `${outer}/`)
}
