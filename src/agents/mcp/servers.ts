/** Other MCP servers in the sandbox: their definitions and grants, and how one is run. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import type { SessionRecorder } from '../../call/record/recorder.ts'
import type { Narrowing } from '../../confine/confinement.ts'
import { NO_GRANTS } from '../../confine/run-grants.ts'
import { isInside } from '../../files/baseline.ts'
import { literalPrefix } from '../../files/path-pattern.ts'
import type { McpServerSetting, ServerRequest } from '../../manifest/schema/settings.ts'
import { runConfined } from '../../one-off/run-typed.ts'
import { SERVER_NAME } from '../../policy/mcp-names.ts'
import type { AnsweredPolicy } from '../../project/answers.ts'
import type { LoadedPolicy } from '../../project/load/load.ts'
import { readSecret } from '../../run/network/brokered-secret.ts'
import type { RunIo } from '../../run/runner.ts'
import { gradeKey } from '../../scan/redact/sensitive-keys.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { isRecord } from '../../system/json.ts'
import type { Machine } from '../../system/machine.ts'
import { type DescriptionPin, pinOf } from './pins.ts'
import type { RemoteServer } from './remote.ts'

export { splitWords } from '../../manifest/compile-servers.ts'
export type { ServerRequest } from '../../manifest/schema/settings.ts'
export { SERVER_NAME } from '../../policy/mcp-names.ts'

/** A server to run. */
export interface ServerSpec {
  readonly name: string
  readonly argv: readonly string[]
  /** A remote server with configured headers; null for a local one. */
  readonly remote: Omit<RemoteServer, 'name'> | null
  /** Its own grants; null: those of a command that the person typed. */
  readonly grants: McpServerSetting | null
  readonly env: Readonly<Record<string, string>>
  readonly requests: readonly ServerRequest[]
  readonly definition: DescriptionPin | null
}

const MAX_SERVERS = 50
const MAX_CONFIG_BYTES = 1024 * 1024

/** The servers of the signed manifest. */
export function manifestServers({ session }: LoadedPolicy): readonly ServerSpec[] {
  return session.mcpServers.map((grants) => ({
    name: grants.name,
    argv: grants.argv,
    remote: grants.url === null ? null : { url: grants.url, domains: grants.domains, headers: {} },
    grants,
    env: {},
    requests: grants.requests,
    definition: null,
  }))
}

/** A server of the manifest with the values of its headers. Throws a Fault if a source has none. */
export function withHeaders(spec: ServerSpec, machine: Machine): ServerSpec {
  const { name, remote, grants } = spec
  if (remote === null || grants === null) return spec
  const headers = grants.headers.map(({ name: header, prefix, from }) => {
    const secret = { name: `${header} of ${name}`, source: from, hosts: [], header }
    return [header, prefix + readSecret(secret, machine).value]
  })
  return { ...spec, remote: { ...remote, headers: Object.fromEntries(headers) } }
}

/** Shorter values are ordinary words in results. */
export const MIN_SECRET = 8

/** Values that a server is given and that must not come back: a header also without the words before its key. */
export function givenValues(spec: ServerSpec): readonly string[] {
  return [...new Set([...Object.values(spec.env), ...givenKeys(spec)])].filter((value) => value.length >= MIN_SECRET)
}

/** Those of them that are keys: other variables may be ordinary words. */
export function givenKeys({ env, remote }: ServerSpec): readonly string[] {
  const headers = Object.values(remote?.headers ?? {}).flatMap((value) => [value, ...value.split(' ').slice(-1)])
  const named = Object.entries(env).flatMap(([name, value]) => (gradeKey(name, '') === null ? [] : [value]))
  return [...named, ...headers].filter((value) => value.length >= MIN_SECRET)
}

/** The server typed after `--`, by default named like its program. */
export function typedServer(argv: readonly string[], name: string | null): ServerSpec {
  const plain = (name ?? basename(argv.at(-1)!)).toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const label = plain.replace(/^-+/, '').slice(0, 40) || 'server'
  return { name: label, argv, remote: null, grants: null, env: {}, requests: ['elicitation'], definition: null }
}

/** The servers of a file that MCP clients share: `{"mcpServers": {NAME: {command, args, env}}}`. */
export function configServers(file: string): readonly ServerSpec[] {
  const bad = (what: string): Fault =>
    new Fault('bad-config', `${file}: ${what}`, {
      remedy: 'It contains {"mcpServers": {"NAME": {"command": "…", "args": ["…"], "env": {"NAME": "…"}}}}.',
    })
  let value: unknown
  try {
    const bytes = readFileSync(file)
    if (bytes.byteLength > MAX_CONFIG_BYTES) throw new RangeError(`more than ${MAX_CONFIG_BYTES} bytes`)
    value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes))
  } catch (error) {
    throw bad(messageOf(error))
  }
  const servers = isRecord(value) ? value.mcpServers : undefined
  if (!isRecord(servers)) throw bad('there is no table "mcpServers"')
  const entries = Object.entries(servers)
  if (entries.length === 0 || entries.length > MAX_SERVERS) throw bad(`expected 1 to ${MAX_SERVERS} servers`)
  return entries.map(([name, entry]) => {
    if (!SERVER_NAME.test(name)) throw bad(`${JSON.stringify(name)} must be small letters, digits and "-"`)
    if (!isRecord(entry)) throw bad(`${name} is not a table`)
    const { command, args = [], env = {}, url } = entry
    if (url !== undefined || entry.type === 'http' || entry.type === 'sse') return configRemote(name, entry, bad)
    if (typeof command !== 'string' || command === '') throw bad(`${name} has no command`)
    if (!Array.isArray(args) || !args.every(isText)) throw bad(`the args of ${name} are not a list of texts`)
    if (!isRecord(env) || !Object.values(env).every(isText)) throw bad(`the env of ${name} is not a table of texts`)
    const argv = [command, ...args]
    const variables = env as Readonly<Record<string, string>>
    return {
      name,
      argv,
      remote: null,
      grants: null,
      env: variables,
      requests: ['elicitation'],
      definition: defined(argv, variables),
    }
  })
}

/** `{type: "http", url, headers}`. */
function configRemote(
  name: string,
  { url, headers = {}, type = 'http' }: Readonly<Record<string, unknown>>,
  bad: (what: string) => Fault,
): ServerSpec {
  if (type !== 'http' && type !== 'streamable-http' && type !== 'sse')
    throw bad(`${name} is of the type ${JSON.stringify(type)}, and only "http" and "sse" can be reached`)
  if (typeof url !== 'string' || !isRemoteUrl(url)) throw bad(`the url of ${name} is not https://HOST/PATH`)
  const isHeader = ([key, value]: [string, unknown]): boolean =>
    /^[\w!#$%&'*+.^`|~-]+$/.test(key) && typeof value === 'string' && /^[\x20-\x7e]*$/.test(value)
  if (!isRecord(headers) || !Object.entries(headers).every(isHeader))
    throw bad(`the headers of ${name} are not a table of printable texts`)
  const own = headers as Readonly<Record<string, string>>
  const spec = remoteServer(name, url, own, defined([url], own))
  return type === 'sse' ? { ...spec, remote: { ...spec.remote!, isSse: true } } : spec
}

/** A remote server from the command line or a file. */
export function remoteServer(
  name: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  definition: DescriptionPin | null = null,
): ServerSpec {
  const remote = { url, domains: [], headers }
  return { name, argv: [], remote, grants: null, env: {}, requests: ['elicitation'], definition }
}

/** Plain HTTP is only accepted for this machine. */
export function isRemoteUrl(url: string): boolean {
  return (
    /^(?:https:\/\/[^\s/?#@]+|http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?)(?:\/[^\s#]*)?$/.test(url) &&
    URL.canParse(url)
  )
}

/** Values of variables are often secrets, so only hashes are kept. */
function defined(argv: readonly string[], env: Readonly<Record<string, string>>): DescriptionPin {
  const hashed = Object.entries(env).map(([name, value]) => [name, createHash('sha256').update(value).digest('hex')])
  return pinOf({ command: argv, env: Object.fromEntries(hashed) })
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && !value.includes('\0')
}

/** Runs a server until it ends; returns what was blocked. Deny rules apply as for every command. */
export async function runServer(
  spec: ServerSpec,
  answered: AnsweredPolicy,
  machine: Machine,
  record: Pick<SessionRecorder, 'begin' | 'end'>,
  io: RunIo,
): Promise<readonly string[]> {
  const own = { ...machine, env: { ...machine.env, ...spec.env } }
  const result = await runConfined({
    answered,
    machine: own,
    files: machineFiles,
    argv: spec.argv,
    cwd: startOf(spec.grants, answered.loaded),
    narrowing: serverNarrowing(spec, own),
    io,
    tool: `mcp_server__${spec.name}`,
    record,
  })
  if ('denied' in result) throw new Fault('no-servers', result.denied.reason.message)
  const { exitCode, cancelled } = result.outcome.result
  return [...result.notes, ...(cancelled ? [] : [`it ended with ${exitCode}`])]
}

/** Its section of the manifest, or the grants of a typed command. */
export function serverNarrowing({ grants, env }: ServerSpec, machine: Machine): readonly Narrowing[] {
  const own: readonly Narrowing[] = grants
    ? [{ kind: 'server', server: grants }]
    : [
        { kind: 'grants', grants: { ...NO_GRANTS, env: Object.keys(env) } },
        { kind: 'keys', env: machine.env },
      ]
  return [...own, { kind: 'long-lived' }]
}

/** The start directory: the project, unless the server sees nothing of it that exists. */
function startOf(grants: McpServerSetting | null, { root }: LoadedPolicy): string {
  if (!grants?.files) return root
  const shown = [...grants.files.read, ...grants.files.write].map(({ pattern }) => literalPrefix(pattern))
  const isSeen = (path: string): boolean => machineFiles.exists(path) && (isInside(path, root) || isInside(root, path))
  return shown.some(isSeen) ? root : '/tmp'
}
