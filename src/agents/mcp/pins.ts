/** Hashes of MCP servers' tool definitions: a changed tool is not the accepted one. */

import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { canonicalJson } from '../../system/json.ts'
import { withLock } from '../../system/lock.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../../system/state.ts'

/** A tool's accepted definition. */
export interface DescriptionPin {
  readonly hash: string
  readonly text: string
}

type Pins = Readonly<Record<string, DescriptionPin>>

interface PinFile {
  readonly version: 1
  readonly servers: Readonly<Record<string, Pins>>
}

/** One server's pins in one project. */
export class ServerPins {
  readonly #file: string
  readonly #lock: string
  readonly #server: string

  constructor(machine: Machine, project: string, name: string, command: readonly string[]) {
    const directory = openOwnDirectory(machine.stateDir)
    this.#file = join(directory, 'mcp-pins.json')
    this.#lock = join(directory, 'mcp-pins.lock')
    this.#server = createHash('sha256')
      .update(JSON.stringify([project, name, command]))
      .digest('hex')
  }

  known(): Pins | null {
    const { servers } = this.#read()
    return Object.hasOwn(servers, this.#server) ? servers[this.#server]! : null
  }

  accept(pins: Pins): void {
    withLock(this.#lock, () => {
      const { servers } = this.#read()
      const own = { ...(Object.hasOwn(servers, this.#server) ? servers[this.#server] : {}), ...pins }
      writeOwnJson(this.#file, { version: 1, servers: { ...servers, [this.#server]: own } } satisfies PinFile)
    })
  }

  #read(): PinFile {
    return readOwnJson(this.#file, isPinFile) ?? { version: 1, servers: {} }
  }
}

/** The pin of a definition: every field counts, their order does not. */
export function pinOf(definition: unknown): DescriptionPin {
  const text = canonicalJson(definition)
  return { text, hash: createHash('sha256').update(text).digest('hex') }
}

function isPinFile(value: unknown): value is PinFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, servers } = value as Partial<PinFile>
  return version === 1 && typeof servers === 'object' && servers !== null && !Array.isArray(servers)
}
