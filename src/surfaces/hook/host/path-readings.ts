/**
 * Paths as hosts read them. Most hosts normalise a path in their own way before opening it, so a call is judged with
 * every form of its paths, and the strictest decides.
 */

import { posix } from 'node:path'
import type { HookCall } from '../../../agents/hook/judge.ts'

/** How a host may change a path before using it. */
export type PathHabit = (path: string) => string

/** Blanks around a name in JavaScript and Rust. */
const BLANK = /^[\s\u0085]+|[\s\u0085]+$/g

export const trims: PathHabit = (path) => path.replace(BLANK, '')
export const composes: PathHabit = (path) => path.normalize('NFC')
export const dropsNul: PathHabit = (path) => path.replaceAll('\0', '')
/** `@file`, as a person writes it in a prompt. */
export const dropsAt: PathHabit = (path) => path.replace(/^@[\\/]*(?=.)/s, '')
/** `file://` addresses and percent signs; a path is decoded once per check. */
export const decodes: PathHabit = (path) => {
  let decoded = path.replace(/^file:\/\/[^/]*/i, '')
  for (let times = 0; times < 3; times++) {
    try {
      decoded = decodeURIComponent(decoded)
    } catch {
      break
    }
  }
  return decoded
}

/** Paths that differ per process, so they cannot be resolved from here. */
const SEEN_BY_EACH = /^\/(?:proc|dev\/(?:fd|std(?:in|out|err)))(?:\/|$)/
const ANOTHER_PROCESS = '/proc/1'

export interface ReadingPlace {
  /** As the host sent it, since hosts remove `..` textually, not by links. */
  readonly cwd: string
  readonly home: string
  readonly habits: readonly PathHabit[]
}

/** The calls in every form; most have one. */
export function everyReading(calls: readonly HookCall[], place: ReadingPlace): readonly HookCall[] {
  return calls.flatMap((call) => readingsOf(call, place))
}

/** The forms of a path, the given one first. */
export function pathForms(path: string, { cwd, home, habits }: ReadingPlace): readonly string[] {
  const forms = new Set([path])
  for (const habit of habits) for (const form of [...forms]) forms.add(habit(form))
  for (const form of [...forms]) {
    const climbs = form.split('/').includes('..')
    if (climbs || form === '' || form === '~' || form.startsWith('~/')) forms.add(posix.resolve(cwd, form))
    if (climbs && form.startsWith('~/')) forms.add(posix.resolve(home, form.slice(2)))
    if (SEEN_BY_EACH.test(posix.resolve(cwd, form))) forms.add(ANOTHER_PROCESS)
  }
  forms.delete('')
  return [...forms]
}

function readingsOf(call: HookCall, place: ReadingPlace): readonly HookCall[] {
  if (call.kind === 'search') return pathForms(call.path, place).map((path) => ({ ...call, path }))
  if (call.kind === 'foreign') {
    const { reads, writes } = call.actions ?? {}
    if (!reads) return [call]
    const forms = (paths: readonly string[]): readonly string[] => paths.flatMap((path) => pathForms(path, place))
    return [{ ...call, actions: { reads: forms(reads), ...(writes && { writes: forms(writes) }) } }]
  }
  const { tool, input } = call
  if (tool === 'apply_patch') return [call, ...patchReadings(String(input.patch), place)]
  const name = ['path', 'cwd'].find((field) => typeof input[field] === 'string')
  if (name === undefined) return [call]
  return pathForms(input[name] as string, place).map((path) => ({ ...call, input: { ...input, [name]: path } }))
}

const HEADER = /^\*\*\* (Add File|Update File|Delete File|Move to):(.*)$/s

/** One patch per form of a name that differs from Cordon's own reading. */
function patchReadings(patch: string, place: ReadingPlace): readonly HookCall[] {
  const found = patch.split('\n').flatMap((line) => {
    const [, kind, name] = HEADER.exec(trims(line)) ?? []
    if (kind === undefined || name === undefined) return []
    const own = HEADER.exec(line)?.[2]?.trim()
    return pathForms(trims(name), place).flatMap((form) => (form === own ? [] : patchOf(kind, form)))
  })
  return [...new Set(found)].map((text) => ({ kind: 'tool', tool: 'apply_patch', input: { patch: text } }))
}

function patchOf(kind: string, path: string): string {
  const body = kind === 'Update File' ? '\n@@\n-x\n+y' : ''
  return `*** Begin Patch\n*** ${kind === 'Move to' ? 'Add File' : kind}: ${path}${body}\n*** End Patch`
}
