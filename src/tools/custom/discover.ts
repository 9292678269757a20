/** Finds custom tools of the project and the user, and reads each once as hashable bytes. */

import { closeSync, constants, fstatSync, openSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { attempt, errorCode, messageOf } from '../../system/fault.ts'
import { type CustomToolManifest, parseToolManifest, type ToolProblem } from './tool-manifest.ts'
import { type StoredTrust, type TrustStatus, type TrustStore, trustHash, trustStatus } from './trust.ts'

export interface ToolPlaces {
  /** The canonical project root; its tools are in `.cordon/tools`. */
  readonly root: string
  /** The user's tools are in `tools` below it. */
  readonly configDir: string
  /** Names that custom tools may not use. */
  readonly reserved: ReadonlySet<string>
  /** Parses TOML to plain values; throws on errors. */
  readonly parseToml: (text: string) => unknown
}

/** A tool with the bytes of its hash. */
export interface CustomTool {
  readonly manifest: CustomToolManifest
  readonly scope: string
  /** The manifest's path. */
  readonly path: string
  readonly script: Uint8Array
  readonly hash: string
}

export interface FailedTool {
  readonly path: string
  readonly scope: string
  readonly problems: readonly ToolProblem[]
}

export interface Discovery {
  readonly tools: readonly CustomTool[]
  readonly failed: readonly FailedTool[]
}

const MAX_BYTES = 4 * 1024 * 1024
const MAX_TOOLS = 200

/** All tools, the user's first. A project's tool of the same name is refused. */
export function discoverTools(places: ToolPlaces): Discovery {
  const tools: CustomTool[] = []
  const failed: FailedTool[] = []
  const taken = new Set(places.reserved)
  const directories = [
    { scope: 'user', directory: join(places.configDir, 'tools') },
    { scope: places.root, directory: join(places.root, '.cordon', 'tools') },
  ]
  for (const { scope, directory } of directories) {
    for (const name of manifestsIn(directory)) {
      const path = join(directory, name)
      const read = readTool(path, directory, scope, places.parseToml)
      if ('problems' in read) failed.push({ path, scope, problems: read.problems })
      else if (taken.has(read.tool.manifest.name)) {
        const message = `"${read.tool.manifest.name}" is the name of another tool, which is used`
        failed.push({ path, scope, problems: [{ key: 'name', message }] })
      } else {
        taken.add(read.tool.manifest.name)
        tools.push(read.tool)
      }
    }
  }
  return { tools, failed }
}

function manifestsIn(directory: string): string[] {
  return attempt(
    () =>
      readdirSync(directory)
        .filter((name) => /\.(?:toml|json)$/.test(name))
        .sort()
        .slice(0, MAX_TOOLS),
    [],
  )
}

function readTool(
  path: string,
  directory: string,
  scope: string,
  parseToml: (text: string) => unknown,
): { readonly tool: CustomTool } | { readonly problems: readonly ToolProblem[] } {
  try {
    const bytes = readRegular(path)
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    const parsed = parseToolManifest(path.endsWith('.json') ? JSON.parse(text) : parseToml(text))
    if ('problems' in parsed) return parsed
    const script = readRegular(join(directory, parsed.manifest.script))
    return { tool: { manifest: parsed.manifest, scope, path, script, hash: trustHash(bytes, script) } }
  } catch (error) {
    return { problems: [{ key: '', message: messageOf(error) }] }
  }
}

/** Reads a file, not a link: a link could switch to other bytes, or to the user's files. */
function readRegular(path: string): Uint8Array {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch (error) {
    throw new Error(`${path} ${errorCode(error) === 'ELOOP' ? 'is a link' : `cannot be read (${errorCode(error)})`}`)
  }
  try {
    const facts = fstatSync(fd)
    if (!facts.isFile()) throw new Error(`${path} is not a regular file`)
    if (facts.size > MAX_BYTES) throw new Error(`${path} has ${facts.size} bytes; at most ${MAX_BYTES} are read`)
    return readFileSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** A tool with its trust. */
export interface ToolTrust {
  readonly tool: CustomTool
  readonly status: TrustStatus
  readonly stored: StoredTrust | null
}

/** The trust in each tool, for `cordon tools trust-status`. */
export function toolTrust(tools: readonly CustomTool[], store: TrustStore): readonly ToolTrust[] {
  return tools.map((tool) => {
    const stored = store.stored({ scope: tool.scope, name: tool.manifest.name })
    return { tool, status: trustStatus(stored, tool.hash), stored }
  })
}

/**
 * At each start, revokes trust in changed tools and saves that, so that the old bytes do not
 * restore it. Returns the newly revoked ones.
 */
export function revokeChanged(tools: readonly CustomTool[], store: TrustStore, now: string): readonly CustomTool[] {
  return toolTrust(tools, store).flatMap(({ tool, status, stored }) => {
    if (status !== 'MISMATCH' || stored?.revoked) return []
    store.revoke({ scope: tool.scope, name: tool.manifest.name }, tool.hash, now)
    return [tool]
  })
}

/** Rereads a tool for one call. Only these bytes may run, and only with status `ok`. */
export function toolForCall(known: CustomTool, places: ToolPlaces, store: TrustStore, now: string): ToolTrust | null {
  const directory = join(known.path, '..')
  const read = readTool(known.path, directory, known.scope, places.parseToml)
  if ('problems' in read || read.tool.manifest.name !== known.manifest.name) return null
  const [trust] = toolTrust([read.tool], store)
  if (trust!.status === 'MISMATCH') revokeChanged([read.tool], store, now)
  return trust!
}
