/** Asks of this machine that are with the fleet: a call that is tried again waits on for the answer to the same ask. */

import { join } from 'node:path'
import type { FleetAsk, SignedAsk } from '../fleet/ask.ts'
import { fleetDirectory } from '../fleet/bundle-store.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { readOwnJson, writeOwnJson } from '../system/state.ts'

export interface PendingAsk {
  /** The hash of the very call. */
  readonly call: string
  readonly ask: FleetAsk
  readonly signed: SignedAsk
}

interface PendingFile {
  readonly version: 1
  readonly asks: readonly PendingAsk[]
}

const MAX_PENDING = 100

/** The ask of a call that no one has answered yet, or the one that `make` makes for it. */
export function pendingAsk(machine: Machine, call: string, now: number, make: () => PendingAsk): PendingAsk {
  let found: PendingAsk | undefined
  change(machine, (asks) => {
    const open = asks.filter(({ ask }) => Date.parse(ask.deadline) > now)
    found = open.find((one) => one.call === call)
    if (found) return open
    found = make()
    return [...open, found].slice(-MAX_PENDING)
  })
  return found!
}

/** Takes an ask that is settled; false when somebody else has: an answer is for one call, however many waited for it. */
export function takePending(machine: Machine, { ask }: PendingAsk): boolean {
  let taken = false
  change(machine, (asks) => {
    const left = asks.filter((one) => one.ask.id !== ask.id)
    taken = left.length < asks.length
    return left
  })
  return taken
}

function change(machine: Machine, how: (asks: readonly PendingAsk[]) => readonly PendingAsk[]): void {
  const directory = fleetDirectory(machine.stateDir)
  const path = join(directory, 'asks.json')
  withLock(join(directory, 'asks.lock'), () => {
    const asks = how(readOwnJson(path, isPendingFile)?.asks ?? [])
    writeOwnJson(path, { version: 1, asks } satisfies PendingFile)
  })
}

function isPendingFile(value: unknown): value is PendingFile {
  const file = value as Partial<PendingFile> | null
  return (
    file?.version === 1 &&
    Array.isArray(file.asks) &&
    file.asks.every(
      (one) =>
        typeof one?.call === 'string' &&
        typeof one.ask?.id === 'string' &&
        typeof one.ask.deadline === 'string' &&
        typeof one.signed?.payload === 'string',
    )
  )
}
