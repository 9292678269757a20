/** `cordon mcp add|remove|list|status|logs`: MCP servers in the manifest and in the clients' configurations. */

import { accessSync, constants, mkdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { type Placed, placedServers, placeServer, readText, takeOut } from '../../../../agents/mcp/catalogue.ts'
import {
  type ClientHeader,
  type ClientScope,
  type ClientServer,
  clientFile,
  entryText,
  MCP_CLIENTS,
  type McpClient,
  readEntry,
  serverNames,
} from '../../../../agents/mcp/clients.ts'
import { GatewayClient } from '../../../../agents/mcp/gateway-client.ts'
import { openGatewayJudge } from '../../../../agents/mcp/judge.ts'
import { RemoteLogin } from '../../../../agents/mcp/remote-login.ts'
import {
  isRemoteUrl,
  manifestServers,
  SERVER_NAME,
  type ServerSpec,
  splitWords,
} from '../../../../agents/mcp/servers.ts'
import { editProject } from '../../../../project/amend.ts'
import type { LoadedPolicy } from '../../../../project/load/load.ts'
import { openPolicy } from '../../../../project/open.ts'
import { MANIFEST_NAME, requireProject } from '../../../../project/place/root.ts'
import { withRegistries } from '../../../../project/registries/hosts.ts'
import { openSecrets } from '../../../../project/sign/keys.ts'
import { judgeTrust, signProject } from '../../../../project/sign/trust.ts'
import { openAuditTrail } from '../../../../report/audit-trail.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { recordOf } from '../../../../system/json.ts'
import { ERROR, RpcError } from '../../../../system/json-rpc.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { writeMade } from '../../../../system/made-file.ts'
import { paint, printJson, type Terminal, visible, visibleLines } from '../../../terminal/terminal.ts'
import type { Arguments } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { openWritten } from '../../open-policy.ts'
import { EXIT, UsageError } from '../../usage.ts'
import { printLines } from '../run/log.ts'

export interface CatalogueRequest {
  readonly terminal: Terminal
  readonly args: Arguments
  readonly root: string
  readonly words: readonly string[]
}

interface RequestedServer {
  readonly name: string
  readonly scope: ClientScope
  readonly root: string
  readonly clients: readonly McpClient[]
  readonly server: ClientServer
  readonly isKnown: boolean
}

/** Runs `cordon mcp add NAME`. */
export async function mcpAdd(request: CatalogueRequest): Promise<number> {
  const { terminal, args } = request
  const machine = thisMachine()
  const wanted = await readWanted(request, machine)
  const { name, clients, server, scope } = wanted
  const section = wanted.isKnown ? null : sectionOf(wanted, args)
  const keys = wanted.server.headers.flatMap((header) => ('value' in header ? [header] : []))
  const where = scope === 'user' ? '~/.config/cordon/cordon.toml' : 'cordon.toml'
  terminal.out(
    `${paint(terminal, 'yellow', '+ opens ')} ${visible(`the MCP server ${name}: ${server.url ?? server.command.join(' ')}`)}\n`,
  )
  if (section !== null) terminal.out(`${visibleLines(section.trim())}\n`)
  for (const client of clients) terminal.out(`  ${client.name}: ${visible(fileOf(client, wanted, machine))}\n`)
  if (!args.flags.yes && !(await confirm(terminal, `Write it into ${where} and the clients? [y/N] `))) {
    terminal.err(
      `nothing was added${process.stdin.isTTY ? '' : ': there is no terminal to ask on (--yes does not ask)'}\n`,
    )
    return EXIT.failed
  }
  for (const header of keys) {
    const { warning } = openSecrets(machine).set(keyOf(name, header), header.value, new Date().toISOString())
    if (warning) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(warning)}\n`)
  }
  if (section !== null) await writeSection(request, machine, wanted, section)
  for (const client of clients) {
    const command = [
      ...wrapperWords(machine),
      ...['mcp', 'wrap', '--plain', '--name', name],
      ...(scope === 'project' && client.root ? ['--root', client.root] : []),
    ]
    const placed = placeServer(machine, client, wanted, { command, env: server.env })
    terminal.err(`${paint(terminal, 'green', 'written')} ${visible(placed.file)}\n`)
  }
  if (server.url !== null) terminal.err(`if it wants a login: cordon mcp login ${name}\n`)
  terminal.err('restart the client, or reload its MCP servers\n')
  return EXIT.ok
}

/** Runs `cordon mcp remove NAME`. */
export async function mcpRemove(request: CatalogueRequest): Promise<number> {
  const { terminal, args } = request
  const machine = thisMachine()
  const name = nameIn(request)
  const scope = scopeOf(args)
  const root = machineFiles.canonical(request.root)
  const named = args.lists.client ?? []
  const isMeant = (one: Placed): boolean =>
    one.server === name && one.scope === scope && (scope === 'user' || one.root === root)
  const all = placedServers(machine).filter(isMeant)
  const found = all.filter(({ client }) => named.length === 0 || named.includes(client))
  for (const placed of found) {
    takeOut(machine, placed)
    terminal.err(`taken out of ${visible(placed.file)}\n`)
  }
  const isLast = found.length === all.length
  const cut = isLast ? await removeSection(request, machine, name, scope) : false
  if (cut)
    terminal.err(`taken out of ${scope === 'user' ? visible(join(machine.configDir, MANIFEST_NAME)) : MANIFEST_NAME}\n`)
  if (found.length === 0 && !cut)
    throw new Fault('no-servers', `cordon mcp add added no server “${name}” here`, {
      remedy: 'cordon mcp list shows those that there are.',
    })
  return EXIT.ok
}

/** Lists servers of the manifest, the clients that have them, and servers without a gateway. */
export async function mcpList({ terminal, args, root: given }: CatalogueRequest): Promise<number> {
  const machine = thisMachine()
  const { answered } = await openGatewayJudge(given, machine)
  const { root } = answered.loaded
  const placed = placedServers(machine).filter(({ scope, root: of }) => scope === 'user' || of === root)
  const rows = manifestServers(answered.loaded).map((spec) => ({
    ...rowOf(spec, machine),
    clients: placed.filter(({ server }) => server === spec.name).map(({ client }) => client),
    guarded: true,
  }))
  const bare = bareServers(machine, root, placed).map(({ name, client, file }) => ({
    name,
    runs: file,
    login: null,
    clients: [client],
    guarded: false,
  }))
  if (args.flags.json) return printJson(terminal, { servers: [...rows, ...bare] })
  if (rows.length + bare.length === 0) terminal.out('no MCP servers: cordon mcp add NAME -- COMMAND adds one\n')
  for (const { name, runs, login, clients } of rows) {
    const state = login === null ? '' : login ? ' (logged in)' : ' (no login)'
    terminal.out(
      `${visible(name)}  ${visible(runs)}${state}${clients.length > 0 ? `  in ${clients.join(', ')}` : ''}\n`,
    )
  }
  for (const { name, runs, clients } of bare)
    terminal.out(
      `${paint(terminal, 'yellow', 'not guarded')} ${visible(name)}  ${clients[0]}, ${visible(runs)}; cordon mcp add ${visible(name)}\n`,
    )
  return EXIT.ok
}

/** Starts each server as a client would, and reports its tools and their levels. */
export async function mcpStatus({ terminal, args, root, words }: CatalogueRequest): Promise<number> {
  const machine = thisMachine()
  const judge = await openGatewayJudge(root, machine)
  const { loaded } = judge.answered
  const specs = manifestServers(loaded).filter(({ name }) => words.length === 0 || words.includes(name))
  if (specs.length === 0)
    throw new Fault('no-servers', 'there is no such MCP server', { remedy: 'See cordon mcp list.' })
  let failed = false
  const all: object[] = []
  for (const spec of specs) {
    const { tools, notes } = await askGateway(spec.name, loaded.root)
    const levels = (tools ?? []).map(({ name, annotations }) => {
      const call = { input: {}, hints: recordOf(annotations) }
      const { decision } = judge.decide(`mcp__${spec.name}__${name}`, null, call)
      return { tool: String(name), decision }
    })
    failed ||= tools === null
    all.push({ ...rowOf(spec, machine), tools: levels, works: tools !== null, notes })
    if (args.flags.json) continue
    const works = tools === null ? paint(terminal, 'red', 'does not work') : `${tools.length} tools`
    terminal.out(`${visible(spec.name)}  ${works}\n`)
    for (const [level, words] of Object.entries({ allow: 'run', ask: 'ask', deny: 'are denied' })) {
      const names = levels.filter(({ decision }) => decision === level).map(({ tool }) => visible(tool))
      if (names.length > 0) terminal.out(`  ${words}: ${names.join(', ')}\n`)
    }
    for (const note of notes) terminal.out(`  ${visible(note)}\n`)
  }
  judge.close()
  if (args.flags.json) terminal.out(`${JSON.stringify({ servers: all })}\n`)
  return failed ? EXIT.failed : EXIT.ok
}

/** Prints a server's lines of the audit log. */
export async function mcpLogs(request: CatalogueRequest): Promise<number> {
  const { terminal, args, root } = request
  const name = nameIn(request)
  const trail = openAuditTrail(thisMachine())
  const own = new RegExp(`^(?:mcp__${name}__|mcp_[a-z]+__${name}$)`)
  const project = machineFiles.canonical(root)
  const lines = trail.query({ limit: MOST_LINES })
  const calls = new Set(
    lines.filter(({ tool, project: of }) => own.test(String(tool)) && of === project).map(({ call }) => call),
  )
  const shown = lines.filter(({ call }) => call !== undefined && calls.has(call))
  const isKnown = manifestServers((await openGatewayJudge(root, thisMachine())).answered.loaded).some(
    (one) => one.name === name,
  )
  if (shown.length === 0 && !isKnown)
    throw new Fault('no-servers', `there is no MCP server “${name}” here, and none is recorded`, {
      remedy: 'See cordon mcp list.',
    })
  if (shown.length === 0) terminal.err(`nothing was recorded of ${visible(name)} here\n`)
  printLines(terminal, shown, trail, args.flags.json === true)
  return EXIT.ok
}

const MOST_LINES = 5000
const STATUS_MS = 150_000

function nameIn({ words }: CatalogueRequest): string {
  const [name] = words
  if (name === undefined) throw new UsageError('say which server')
  if (!SERVER_NAME.test(name))
    throw new UsageError(`the name of a server is small letters, digits and "-", not “${name}”`)
  return name
}

const scopeOf = ({ flags }: Arguments): ClientScope => (flags.user ? 'user' : 'project')

function fileOf(client: McpClient, { scope, root }: RequestedServer, machine: Machine): string {
  return clientFile(client, scope, { root, home: machine.home, env: machine.env })!
}

async function readWanted(request: CatalogueRequest, machine: Machine): Promise<RequestedServer> {
  const { args, words } = request
  const name = nameIn(request)
  const scope = scopeOf(args)
  const root = machineFiles.canonical(request.root)
  const command = words.slice(1)
  const url = typeof args.flags.url === 'string' ? args.flags.url : null
  if (args.lists.header && url === null) throw new UsageError('--header goes with --url')
  if (url !== null && (command.length > 0 || !isRemoteUrl(url)))
    throw new UsageError('--url takes https://HOST/PATH, without a command')
  const clients = clientsOf(args, scope, name, { root, home: machine.home, env: machine.env })
  const typed = url !== null || command.length > 0 ? { command, env: {}, url, headers: [] } : null
  const own = await knownServer(name, request.root, machine)
  if (own !== null && typed !== null)
    throw new Fault('bad-config', `cordon.toml has an MCP server “${name}” already`, {
      remedy: `Change it there, or leave the command out: cordon mcp add ${name} puts it into clients.`,
    })
  const known = typed ?? own ?? found(clients, { name, scope, root }, machine)
  if (known === null)
    throw new Fault('no-servers', `neither cordon.toml nor a client has an MCP server “${name}”`, {
      remedy: `Say what it is: cordon mcp add ${name} -- COMMAND, or --url https://HOST/PATH.`,
    })
  return { name, scope, root, clients, server: known, isKnown: own !== null }
}

/** The named clients; otherwise the installed ones, preferring those that already have the server. */
function clientsOf(
  { lists }: Arguments,
  scope: ClientScope,
  name: string,
  place: { readonly root: string; readonly home: string; readonly env: Machine['env'] },
): readonly McpClient[] {
  const named = lists.client ?? []
  const able = MCP_CLIENTS.filter((client) => clientFile(client, scope, place) !== null)
  const unknown = named.find((one) => !able.some((client) => client.name === one))
  if (unknown !== undefined)
    throw new UsageError(`--client takes ${able.map((client) => client.name).join(', ')}, not “${unknown}”`)
  if (named.length > 0) return able.filter((client) => named.includes(client.name))
  const there = able.filter((client) => readText(clientFile(client, scope, place)!) !== null)
  const having = there.filter((client) => hasEntry(client, readText(clientFile(client, scope, place)!), name))
  const chosen = having.length > 0 ? having : there
  if (chosen.length > 0) return chosen
  throw new UsageError(
    `no client has a configuration here: say which, --client ${able.map((one) => one.name).join('|')}`,
  )
}

function hasEntry(client: McpClient, text: string | null, name: string): boolean {
  try {
    return entryText(client, text, name) !== null
  } catch {
    return false
  }
}

async function knownServer(name: string, root: string, machine: Machine): Promise<ClientServer | null> {
  const place = { machine: { ...machine, cwd: root }, files: machineFiles, root: null }
  const opened = await openPolicy({ ...place, choice: { kind: 'project' }, unsigned: 'as-written' })
  const spec = 'loaded' in opened ? manifestServers(opened.loaded).find((one) => one.name === name) : undefined
  return spec ? { command: spec.argv, env: {}, url: spec.remote?.url ?? null, headers: [] } : null
}

function found(
  clients: readonly McpClient[],
  { name, scope, root }: { readonly name: string; readonly scope: ClientScope; readonly root: string },
  machine: Machine,
): ClientServer | null {
  const servers = clients.flatMap((client) => {
    const text = readText(clientFile(client, scope, { root, home: machine.home, env: machine.env })!)
    if (!hasEntry(client, text, name)) return []
    const read = readEntry(client, text!, name)
    if (read === null)
      throw new Fault('agent-settings', `the entry of ${name} for ${client.name} is not understood`, {
        remedy: `Say what it is: cordon mcp add ${name} -- COMMAND, or --url https://HOST/PATH --header "x-api-key: keychain:NAME".`,
      })
    return [read]
  })
  const [first, ...others] = servers
  if (first && others.some((other) => !isDeepStrictEqual({ ...other, env: {} }, { ...first, env: {} })))
    throw new Fault('agent-settings', `the clients have different servers called ${name}`, {
      remedy: 'Say which client: --client NAME.',
    })
  return first ?? null
}

function sectionOf({ name, server }: RequestedServer, { flags, lists }: Arguments): string {
  const names = (list: readonly string[]) => `[${list.map((one) => JSON.stringify(one)).join(', ')}]`
  const taken = server.headers.map((header) => {
    const source = 'variable' in header ? `env:${header.variable}` : `keychain:${keyOf(name, header)}`
    return `${header.name.toLowerCase()}: ${header.words}${source}`
  })
  const headers = [...taken, ...(lists.header ?? [])]
  const variables = [...new Set([...Object.keys(server.env), ...(lists.env ?? [])])]
  const lines = [
    `[mcp_servers.${name}]`,
    server.url === null
      ? `command = ${JSON.stringify(joinWords(server.command))}`
      : `url = ${JSON.stringify(server.url)}`,
    ...(headers.length > 0 ? [`headers = ${names(headers)}`] : []),
    ...(lists.read ? [`read = ${names(lists.read)}`] : []),
    ...(lists.write ? [`write = ${names(lists.write)}`] : []),
    ...(lists.host ? [`domains = ${names(lists.host)}`] : []),
    ...(variables.length > 0 ? [`env_vars = ${names(variables)}`] : []),
    ...(flags.reads ? ['', `[mcp.${name}]`, 'trust_hints = true', 'read_only = "allow"'] : []),
  ]
  return `\n${lines.join('\n')}\n`
}

/** The stored key of a header that a client had in clear text. */
function keyOf(server: string, { name }: ClientHeader): string {
  return `mcp-${server}-${name.toLowerCase().replace(/[^a-z0-9-]/g, '-')}`.slice(0, 55)
}

function joinWords(words: readonly string[]): string {
  const text = words
    .map((word) => (/^[^\s'"\\$`|&;<>()]+$/.test(word) ? word : word.includes("'") ? `"${word}"` : `'${word}'`))
    .join(' ')
  if (JSON.stringify(splitWords(text)) === JSON.stringify(words)) return text
  throw new Fault('bad-config', 'a word of the command has signs that cordon.toml cannot hold', {
    remedy: 'Put the command into a script, and name that.',
  })
}

async function writeSection(
  { terminal, args }: CatalogueRequest,
  machine: Machine,
  { name, scope, root }: RequestedServer,
  section: string,
): Promise<void> {
  const header = `[mcp_servers.${name}]`
  const append = (text: string): string | null =>
    text.includes(header) ? text : `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${section}`
  if (scope === 'user') {
    const file = join(machine.configDir, MANIFEST_NAME)
    mkdirSync(machine.configDir, { recursive: true, mode: 0o700 })
    machineFiles.writeText(file, append(readText(file) ?? 'schema_version = 1\n')!, { mode: 0o600 })
    return
  }
  const loaded = await signedManifest(args, terminal, machine)
  if (loaded === null) throw new Fault('manifest', 'cordon.toml does not load')
  const amended = await editProject(loaded, machine, machineFiles, append)
  if ('why' in amended)
    throw new Fault('manifest', `${name} was not added: ${amended.why}`, {
      remedy: `Write it into ${join(root, MANIFEST_NAME)} by hand, and run cordon sign.`,
    })
  terminal.err(`${paint(terminal, 'green', 'added and signed')} ${visible(loaded.manifestPath)}\n`)
}

async function signedManifest(args: Arguments, terminal: Terminal, machine: Machine): Promise<LoadedPolicy | null> {
  const opened = await openWritten(args, terminal)
  if (!opened) return null
  const report = judgeTrust(opened.loaded, machine, machineFiles)
  if (report && report.trust.status !== 'signed')
    throw new Fault('unsigned-manifest', `${opened.loaded.manifestPath} is not signed in its current form`, {
      remedy: 'Read it and run cordon sign first: what others changed in it is not signed along.',
    })
  if (report) return withRegistries(opened.loaded, report.registries)
  requireProject(opened.loaded.root, machine)
  writeMade(opened.loaded.manifestPath, 'schema_version = 1\n', { flag: 'wx', mode: 0o644 })
  const started = await openWritten(args, terminal)
  if (started) signProject(started.loaded, machine, new Date())
  return started?.loaded ?? null
}

/** Removes the section that `mcp add` wrote; a section edited since stays. */
async function removeSection(
  { terminal, args }: CatalogueRequest,
  machine: Machine,
  name: string,
  scope: ClientScope,
): Promise<boolean> {
  const pattern = new RegExp(
    `\\n\\[mcp_servers\\.${name}\\]\\n(?:[a-z_]+ = .*\\n)+(?:\\n\\[mcp\\.${name}\\]\\ntrust_hints = true\\nread_only = "allow"\\n)?(?=\\n\\[|$)`,
  )
  let isCut = false
  const cut = (text: string): string => {
    const [found] = pattern.exec(text) ?? []
    isCut = found !== undefined
    for (const [, key] of found?.matchAll(new RegExp(`keychain:(mcp-${name}-[a-z0-9-]+)`, 'g')) ?? [])
      openSecrets(machine).remove(key!)
    return text.replace(pattern, '')
  }
  if (scope === 'user') {
    const file = join(machine.configDir, MANIFEST_NAME)
    const text = readText(file)
    if (text !== null) machineFiles.writeText(file, cut(text), { mode: 0o600 })
    return isCut
  }
  const opened = await openWritten(args, terminal)
  if (!opened?.loaded.ownManifest || readText(opened.loaded.manifestPath) === null) return false
  const amended = await editProject(opened.loaded, machine, machineFiles, cut)
  if (isCut && 'why' in amended)
    terminal.err(`the section [mcp_servers.${name}] stays in cordon.toml: ${amended.why}\n`)
  return isCut && !('why' in amended)
}

/** `cordon` if PATH has this program, otherwise its full path. */
function wrapperWords(machine: Machine): readonly string[] {
  const script = machineFiles.canonical(process.argv[1] ?? '')
  const folders = (machine.env.PATH ?? '').split(delimiter).filter((folder) => folder.startsWith('/'))
  const first = folders.map((folder) => join(folder, 'cordon')).find(isProgram)
  return first !== undefined && machineFiles.canonical(first) === script ? ['cordon'] : [process.execPath, script]
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

function rowOf({ name, argv, remote, grants }: ServerSpec, machine: Machine) {
  const hasKey = grants !== null && grants.headers.length > 0
  const login = hasKey ? null : remote && new RemoteLogin(machine.stateDir, name, remote.url).isLoggedIn
  return { name, runs: remote?.url ?? argv.join(' '), login }
}

function bareServers(
  machine: Machine,
  root: string,
  placed: readonly Placed[],
): readonly { readonly name: string; readonly client: string; readonly file: string }[] {
  return MCP_CLIENTS.flatMap((client) =>
    (['project', 'user'] as const).flatMap((scope) => {
      const file = clientFile(client, scope, { root, home: machine.home, env: machine.env })
      try {
        const names = file === null ? [] : serverNames(client, readText(file))
        return names
          .filter((name) => !placed.some((one) => one.file === file && one.server === name))
          .map((name) => ({ name, client: client.name, file: file! }))
      } catch {
        return []
      }
    }),
  )
}

/** The tools that the gateway offers a client, and its messages; `tools` is null if it offers none. */
async function askGateway(name: string, root: string) {
  const notes: string[] = []
  const client = new GatewayClient({
    name: 'cordon-status',
    root,
    words: ['--plain', '--name', name],
    capabilities: {},
    asked: ({ method }) => Promise.reject(new RpcError(ERROR.method, `there is no ${method}`)),
    warn: (line) => notes.push(line),
  })
  try {
    return { tools: await client.tools(AbortSignal.timeout(STATUS_MS)), notes }
  } catch (error) {
    if (error instanceof RpcError) notes.push(error.message)
    return { tools: null, notes }
  } finally {
    await client.close()
  }
}
