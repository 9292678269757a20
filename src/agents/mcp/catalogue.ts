/** Servers added to clients' configurations, so that each can be removed without a trace. */

import { existsSync, mkdirSync, readFileSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault, messageOf } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { OwnList } from '../../system/own-list.ts'
import { openOwnDirectory } from '../../system/state.ts'
import { textAt } from '../settings/jsonc-text.ts'
import {
  type ClientScope,
  type ClientServer,
  clientFile,
  entryText,
  MCP_CLIENTS,
  type McpClient,
  withEntry,
  withoutEntry,
} from './clients.ts'

/** A server in one configuration. */
export interface Placed {
  readonly server: string
  readonly client: string
  readonly scope: ClientScope
  /** The project's root; for a user's configuration, the one it was added from. */
  readonly root: string
  readonly file: string
  readonly written: string
  readonly before: string | null
  readonly original: string | null
  /** The folders that were created for the file, outermost first. */
  readonly made?: readonly string[]
}

/** Adds a server to a client's configuration. Throws a Fault if it cannot be parsed. */
export function placeServer(
  machine: Machine,
  client: McpClient,
  { scope, root, name }: { readonly scope: ClientScope; readonly root: string; readonly name: string },
  server: Pick<ClientServer, 'command' | 'env'>,
): Placed {
  const file = clientFile(client, scope, { root, home: machine.home, env: machine.env })
  if (file === null) throw new Fault('agent-settings', `${client.name} has no servers of a project`)
  const text = readText(file)
  return understood(file, () => {
    const after = withEntry(client, text, name, server)
    const ours = placedIn(machine, file)
    const known = ours.find((one) => one.server === name)
    const placed: Placed = {
      server: name,
      client: client.name,
      scope,
      root,
      file,
      written: entryText(client, after, name)!,
      before: known ? known.before : entryText(client, text, name),
      original: ours[0] ? ours[0].original : text,
      made: ours[0]?.made ?? missingFolders(dirname(file)),
    }
    change(machine, (all) => [...all.filter((one) => one.file !== file || one.server !== name), placed])
    write(file, after)
    return placed
  })
}

/** Removes a server. Throws a Fault if somebody changed the entry since. */
export function takeOut(machine: Machine, placed: Placed): void {
  const { file, server, written, before, original } = placed
  const client = MCP_CLIENTS.find(({ name }) => name === placed.client)!
  const text = readText(file)
  const found = understood(file, () => entryText(client, text, server))
  if (text !== null && found !== null) {
    if (found !== written)
      throw new Fault('agent-settings', `${file}: the entry of ${server} was changed since it was written`, {
        remedy: 'Take it out by hand, then run cordon mcp remove again.',
      })
    const without = withoutEntry(client, text, server, before)
    const isLast = placedIn(machine, file).every((one) => one.server === server)
    // Ignore a difference in white space.
    const isOriginal = isLast && plain(without) === plain(original ?? (client.form === 'toml' ? '' : '{}'))
    if (isOriginal && original === null) {
      rmSync(file)
      for (const folder of (placed.made ?? []).toReversed()) removeEmpty(folder)
    } else write(file, isOriginal ? original! : without)
  }
  change(machine, (all) => all.filter((one) => one.file !== file || one.server !== server))
}

/** Every server that was added and not removed. */
export function placedServers(machine: Machine): readonly Placed[] {
  return PLACED.read(machine.stateDir)
}

/** Whether a client's calls to a server pass the gateway: Cordon wrote every entry of that name. */
export function isBehindGateway(machine: Machine, client: string, root: string, server: string): boolean {
  const known = MCP_CLIENTS.find(({ name }) => name === client)
  if (!known) return false
  const ours = placedServers(machine).filter((one) => one.client === client && one.server === server)
  const place = { root, home: machine.home, env: machine.env }
  try {
    const found = (['project', 'user'] as const).flatMap((scope) => {
      const file = clientFile(known, scope, place)
      const text = file === null ? null : readText(file)
      const entry = entryText(known, text, server)
      // Claude Code also keeps project servers in the person's file, and prefers those.
      const isShadowed = text !== null && known.form !== 'toml' && textAt(text, ['projects', root, known.table, server])
      if (isShadowed) return [false]
      return entry === null ? [] : [ours.some((one) => one.file === file && one.written === entry)]
    })
    return found.length > 0 && found.every(Boolean)
  } catch {
    return false
  }
}

function placedIn(machine: Machine, file: string): readonly Placed[] {
  return placedServers(machine).filter((one) => one.file === file)
}

function change({ stateDir }: Machine, how: (all: readonly Placed[]) => readonly Placed[]): void {
  PLACED.change(openOwnDirectory(stateDir), how)
}

export function readText(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null
}

function missingFolders(folder: string): readonly string[] {
  return existsSync(folder) ? [] : [...missingFolders(dirname(folder)), folder]
}

function removeEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // Somebody put something there.
  }
}

function write(file: string, text: string): void {
  const target = existsSync(file) ? machineFiles.canonical(file) : file
  const mode = existsSync(target) ? statSync(target).mode & 0o777 : 0o600
  mkdirSync(dirname(target), { recursive: true })
  machineFiles.writeText(target, text, { mode })
}

function understood<T>(file: string, read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new Fault('agent-settings', `${file} cannot take a server: ${messageOf(error)}`, {
      remedy: 'Put that right, then run it again.',
    })
  }
}

function plain(text: string): string {
  return text.replace(/\s+/g, '')
}

function isPlaced(one: unknown): boolean {
  return (
    isRecord(one) &&
    ['server', 'client', 'scope', 'root', 'file', 'written'].every((name) => typeof one[name] === 'string') &&
    [one.before, one.original].every((text) => text === null || typeof text === 'string') &&
    [one.made ?? []].flat().every((folder) => typeof folder === 'string')
  )
}

const PLACED = new OwnList<Placed>({ file: 'mcp-clients.json', lock: 'locks/mcp-clients', field: 'placed' }, isPlaced)
