/** Calls that a host runs itself: one hook process starts them, another ends them (A1). */

import { readdirSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openRecord, plainProject } from '../../call/record/open.ts'
import type { CallRecord } from '../../call/record/recorder.ts'
import type { Decision } from '../../policy/decision.ts'
import { noteLabels } from '../../project/label-notes.ts'
import { isLabelList, type LabelPlace } from '../../project/session-labels.ts'
import { sha256 } from '../../system/addon.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson, removeIfThere } from '../../system/state.ts'
import type { HookJudge } from './judge.ts'

/** A session of a host. */
export interface OpenOwner {
  readonly machine: Machine
  readonly host: string
  readonly session: string | null
}

/** A call of the session: the host's id, if any. */
export interface HostCall {
  readonly tool: string
  readonly use: string | null
}

interface OpenCall extends CallRecord, HostCall {
  readonly root: string
  readonly maxBytes: number
  /** What it reads if the person says yes. */
  readonly read?: Omit<LabelPlace, 'machine'> & { readonly labels: NonNullable<Decision['labels']> }
}

const MOST_OPEN = 50

/** Notes a call that the host is about to run. */
export function noteOpen(
  owner: OpenOwner,
  call: HostCall,
  record: CallRecord,
  { loaded, labels: { roots, scope } }: Pick<HookJudge, 'loaded' | 'labels'>,
  { decision, labels }: Decision,
): void {
  const { root, session } = loaded
  const directory = folderOf(owner)
  openOwnDirectory(directory)
  const open: OpenCall = {
    ...record,
    ...call,
    root,
    maxBytes: session.audit.maxBytes,
    ...(decision === 'ask' && labels && { read: { labels, scope, roots } }),
  }
  // The call's own id avoids loading node:crypto for a random name in every hook.
  const path = join(directory, record.call)
  writeFileSync(`${path}.new`, JSON.stringify(open), { mode: 0o600 })
  renameSync(`${path}.new`, path)
  // Counted first: reading them all takes longer than the rest of a hook.
  if (namesIn(directory).length > MOST_OPEN)
    for (const { name } of opened(directory).slice(0, -MOST_OPEN)) removeIfThere(join(directory, name))
}

/** Records the end of a call that the host ran. Among indistinguishable calls, the oldest ends first. */
export function endOpen(
  owner: OpenOwner,
  call: HostCall,
  result: { readonly text: string; readonly failed: boolean },
): void {
  const directory = folderOf(owner)
  const fitting = opened(directory).filter(({ open: { tool, use } }) => tool === call.tool && use === call.use)
  const [found] = fitting
  if (!found) return
  removeIfThere(join(directory, found.name))
  const { root, maxBytes, read, ...record } = found.open
  const { machine, host, session } = owner
  if (read) noteLabels({ ...read, machine }, read.labels)
  const recorder = openRecord(plainProject(root, maxBytes), machine, { by: 'host', host, session })
  try {
    const output = { text: result.text, ...(result.failed && { isError: true }) }
    recorder.end(record, { status: 'done', output }, [])
  } finally {
    recorder.close()
  }
}

function opened(directory: string): readonly { readonly name: string; readonly open: OpenCall }[] {
  return namesIn(directory)
    .flatMap((name) => {
      const open = readOwnJson(join(directory, name), isOpenCall, false)
      return open ? [{ name, open }] : []
    })
    .toSorted((one, other) => one.open.started - other.open.started)
}

function namesIn(directory: string): readonly string[] {
  return statSync(directory, { throwIfNoEntry: false })?.isDirectory() ? readdirSync(directory) : []
}

function isOpenCall(value: unknown): value is OpenCall {
  const { call, started, parsed, tool, use, root, maxBytes, read } = (value ?? {}) as Partial<OpenCall>
  return (
    [call, parsed, tool, root].every((text) => typeof text === 'string') &&
    (use === null || typeof use === 'string') &&
    [started, maxBytes].every((number) => typeof number === 'number') &&
    (read === undefined || isLabelList(read))
  )
}

function folderOf({ machine, host, session }: OpenOwner): string {
  return join(machine.stateDir, 'hook-calls', sha256(`${host}\0${session ?? ''}`).slice(0, 32))
}
