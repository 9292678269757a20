/** Tool calls of a model: ids, subjects and parallel groups. */

import { posix } from 'node:path'
import type { AssistantMessage, CallPart, Message } from '../providers/conversation.ts'
import type { Actions } from '../tools/tool.ts'

/** Accepted by all providers. */
const FORM = /^[A-Za-z0-9_-]{1,64}$/

/** Replaces call ids that are missing, invalid or already used. */
export function withOwnIds(message: AssistantMessage, earlier: readonly Message[]): AssistantMessage {
  const calls = message.parts.filter((part) => part.type === 'call')
  if (calls.length === 0) return message
  const taken = new Set(earlier.flatMap((one) => (one.role === 'results' ? one.results.map(({ id }) => id) : [])))
  let count = taken.size
  const parts = message.parts.map((part) => {
    if (part.type !== 'call') return part
    let { id } = part
    while (!FORM.test(id) || taken.has(id)) id = `call_${++count}`
    taken.add(id)
    return { ...part, id }
  })
  return { ...message, parts }
}

const KEYS = 'command path pattern url query name question description prompt source handle'.split(' ')

/** The exact command, path or address; empty without one. */
export function subjectOf(name: string, input: Readonly<Record<string, unknown>>): string {
  if (name === 'apply_patch') return ''
  for (const key of KEYS) {
    const value = input[key]
    if (typeof value === 'string' && value !== '') return value
  }
  return Object.keys(input).length === 0 ? '' : JSON.stringify(input)
}

/** Paths that a call touches; null if unknown, so that it runs alone. */
export interface Footprint {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** The paths of a tool's actions. A command may touch anything. */
export function footprintOf(actions: Actions | null, root: string): Footprint | null {
  if (actions === null || actions.command !== undefined) return null
  const absolute = (path: string) => posix.resolve(root, path)
  return {
    reads: [...(actions.reads ?? []), ...(actions.lists ?? [])].map(absolute),
    writes: (actions.writes ?? []).map(absolute),
  }
}

/** Groups of calls that may run at once; the groups run in order. */
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
