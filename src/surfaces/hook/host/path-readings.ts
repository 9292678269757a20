/**
 * Paths as the hosts read them. Most tidy a path up before they open it, each in its own way, and what they open is what counts:
 * a call is judged in every form that its paths may take, and the strictest form decides.
 */

import { posix } from 'node:path'
import type { HookCall } from '../../../agents/hook/judge.ts'

/** What a host may make of a path before it uses it. */
export type PathHabit = (path: string) => string

/** Around a name, by the rules of JavaScript and by those of Rust. */
const BLANK = /^[\s\u0085]+|[\s\u0085]+$/g

export const trims: PathHabit = (path) => path.replace(BLANK, '')
export const composes: PathHabit = (path) => path.normalize('NFC')
export const dropsNul: PathHabit = (path) => path.replaceAll('\0', '')
/** `@file`, as a person writes it in a prompt. */
export const dropsAt: PathHabit = (path) => path.replace(/^@[\\/]*(?=.)/s, '')
/** `file://` addresses and percent signs; a path is decoded once for each time that it is checked. */
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

/** Where every process sees something else, so that what the host will find there cannot be looked up here. */
const SEEN_BY_EACH = /^\/(?:proc|dev\/(?:fd|std(?:in|out|err)))(?:\/|$)/
const ANOTHER_PROCESS = '/proc/1'

export interface ReadingPlace {
  /** As the host said it, since hosts take `..` away by the letters and not by where links lead. */
  readonly cwd: string
  readonly home: string
  readonly habits: readonly PathHabit[]
}

/** The calls in every form; most have one. */
export function everyReading(calls: readonly HookCall[], place: ReadingPlace): readonly HookCall[] {
  return calls.flatMap((call) => readingsOf(call, place))
}

/** The forms that a path may take, the one that was given first. */
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

/** A patch for each form of a name in it that is not the name as the patch itself is read. */
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
