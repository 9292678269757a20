/** MCP clients and their configurations: files, formats, and how to add and remove a server. */

import { join } from 'node:path'
import { isRecord, parseSettings, recordOf } from '../../system/json.ts'
import { textAt, withoutValue, withTextAt, withValue } from '../settings/jsonc-text.ts'
import { parseToml, tableText, tomlText, withTableText } from '../settings/toml-text.ts'

export interface ClientPlace {
  readonly root: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** A server as a client starts or reaches it. */
export interface ClientServer {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly url: string | null
  readonly headers: readonly ClientHeader[]
}

/** A header of a client's entry: words, and behind them a variable or the value itself. */
export type ClientHeader = { readonly name: string; readonly words: string } & (
  | { readonly variable: string }
  | { readonly value: string }
)

export interface McpClient {
  readonly name: string
  readonly project: string | null
  readonly user: (place: ClientPlace) => string
  /** The table of servers, also in TOML. */
  readonly table: string
  readonly form: 'plain' | 'typed' | 'local' | 'words' | 'toml'
  /** The client's placeholder for the project, if it starts servers elsewhere. */
  readonly root?: string
}

// biome-ignore lint/suspicious/noTemplateCurlyInString: the editors put the folder there.
const WORKSPACE = '${workspaceFolder}'
const config = ({ home, env }: ClientPlace): string => env.XDG_CONFIG_HOME ?? join(home, '.config')

export const MCP_CLIENTS: readonly McpClient[] = [
  {
    name: 'claude-code',
    project: '.mcp.json',
    user: ({ home, env }) => join(env.CLAUDE_CONFIG_DIR ?? home, '.claude.json'),
    table: 'mcpServers',
    form: 'plain',
  },
  {
    name: 'codex',
    project: '.codex/config.toml',
    user: ({ home, env }) => join(env.CODEX_HOME ?? join(home, '.codex'), 'config.toml'),
    table: 'mcp_servers',
    form: 'toml',
  },
  {
    name: 'opencode',
    project: 'opencode.json',
    user: (place) => join(config(place), 'opencode/opencode.json'),
    table: 'mcp',
    form: 'words',
  },
  {
    name: 'gemini',
    project: '.gemini/settings.json',
    user: ({ home }) => join(home, '.gemini/settings.json'),
    table: 'mcpServers',
    form: 'plain',
  },
  {
    name: 'qwen',
    project: '.qwen/settings.json',
    user: ({ home }) => join(home, '.qwen/settings.json'),
    table: 'mcpServers',
    form: 'plain',
  },
  {
    name: 'cursor',
    project: '.cursor/mcp.json',
    user: ({ home }) => join(home, '.cursor/mcp.json'),
    table: 'mcpServers',
    form: 'plain',
    root: WORKSPACE,
  },
  {
    name: 'vscode',
    project: '.vscode/mcp.json',
    user: (place) => join(config(place), 'Code/User/mcp.json'),
    table: 'servers',
    form: 'typed',
    root: WORKSPACE,
  },
  {
    name: 'copilot',
    project: null,
    user: ({ home, env }) => join(env.COPILOT_HOME ?? join(home, '.copilot'), 'mcp-config.json'),
    table: 'mcpServers',
    form: 'local',
  },
  {
    name: 'cline',
    project: null,
    user: ({ home, env }) => join(env.CLINE_DIR ?? join(home, '.cline'), 'data/settings/cline_mcp_settings.json'),
    table: 'mcpServers',
    form: 'plain',
  },
  {
    name: 'windsurf',
    project: null,
    user: ({ home }) => join(home, '.codeium/windsurf/mcp_config.json'),
    table: 'mcpServers',
    form: 'plain',
  },
  {
    name: 'claude-desktop',
    project: null,
    user: ({ home, ...place }) =>
      process.platform === 'darwin'
        ? join(home, 'Library/Application Support/Claude/claude_desktop_config.json')
        : join(config({ home, ...place }), 'Claude/claude_desktop_config.json'),
    table: 'mcpServers',
    form: 'plain',
  },
]

export type ClientScope = 'project' | 'user'

/** A client's file, or null for a scope without one. */
export function clientFile({ project, user }: McpClient, scope: ClientScope, place: ClientPlace): string | null {
  if (scope === 'user') return user(place)
  return project === null ? null : join(place.root, project)
}

/** The exact text of a server's entry, or null. Throws if the file cannot be parsed. */
export function entryText({ table, form }: McpClient, text: string | null, name: string): string | null {
  if (text === null || text.trim() === '') return null
  return form === 'toml' ? tableText(text, `${table}.${name}`) : textAt(text, [table, name])
}

/** The names of a configuration's servers. */
export function serverNames({ table, form }: McpClient, text: string | null): readonly string[] {
  if (text === null || text.trim() === '') return []
  const all = form === 'toml' ? parseToml(text, 'it') : parseSettings(text)
  return Object.keys(recordOf(recordOf(all)[table]))
}

/** A server's command or URL; null for an unknown format. */
export function readEntry({ table, form }: McpClient, text: string, name: string): ClientServer | null {
  const all = form === 'toml' ? parseToml(text, 'it') : parseSettings(text)
  const entry = recordOf(recordOf(recordOf(all)[table])[name])
  const words = [entry.command, entry.args ?? []].flat()
  const env = entry.env ?? entry.environment ?? {}
  const url = entry.url ?? entry.httpUrl ?? entry.serverUrl ?? null
  const headers = headersOf(entry)
  const isRead =
    headers !== null &&
    (url === null ? words.length > 0 && words.every(isText) : isText(url)) &&
    isRecord(env) &&
    Object.values(env).every(isText)
  if (!isRead) return null
  return {
    command: url === null ? (words as readonly string[]) : [],
    env: env as Readonly<Record<string, string>>,
    url: url as string | null,
    headers,
  }
}

/** The headers that an entry sends; null if one is not understood, such as a program that writes them. */
function headersOf(entry: Readonly<Record<string, unknown>>): readonly ClientHeader[] | null {
  if (entry.headersHelper !== undefined) return null
  const { bearer_token_env_var: bearer, env_http_headers: variables = {} } = entry
  const literal = entry.headers ?? entry.http_headers ?? {}
  if (!isRecord(literal) || !isRecord(variables)) return null
  const found = [
    ...Object.entries(literal).map(([name, value]) => (isText(value) ? readValue(name, value) : null)),
    ...Object.entries(variables).map(([name, variable]) => variableHeader(name, '', variable)),
    ...(bearer === undefined ? [] : [variableHeader('authorization', 'Bearer ', bearer)]),
  ]
  return found.every((header) => header !== null) ? found : null
}

/** Clients write variables as `${NAME}`, `${env:NAME}` or `{env:NAME}`. */
function readValue(name: string, text: string): ClientHeader | null {
  const [, words = '', rest = ''] = /^((?:[\x21-\x7e]+ )*)([\x21-\x7e]+)$/.exec(text) ?? []
  const variable = /^\$\{(?:env:)?(\w+)\}$|^\{env:(\w+)\}$/.exec(rest)
  if (variable) return variableHeader(name, words, variable[1] ?? variable[2])
  return rest === '' || /\$\{|\{env:|\{file:/.test(text) ? null : { name, words, value: rest }
}

function variableHeader(name: string, words: string, variable: unknown): ClientHeader | null {
  return isText(variable) && /^[A-Za-z_]\w*$/.test(variable) ? { name, words, variable } : null
}

/** The configuration with a server, replacing one of that name. */
export function withEntry(
  client: McpClient,
  text: string | null,
  name: string,
  server: Pick<ClientServer, 'command' | 'env'>,
): string {
  const { table, form } = client
  const [command = '', ...args] = server.command
  const env = Object.keys(server.env).length > 0 ? server.env : undefined
  if (form === 'toml') {
    const lines = [
      `[${table}.${name}]`,
      `command = ${tomlText(command)}`,
      `args = [${args.map(tomlText).join(', ')}]`,
      ...(env
        ? [
            `env = { ${Object.entries(env)
              .map(([key, value]) => `${tomlText(key)} = ${tomlText(value)}`)
              .join(', ')} }`,
          ]
        : []),
    ]
    const after = withTableText(text ?? '', `${table}.${name}`, `\n${lines.join('\n')}\n`)
    // A server written in another form than a table would be duplicated.
    parseToml(after, 'its settings')
    return after
  }
  const plain = { command, args, ...(env && { env }) }
  const entry = {
    plain,
    typed: { type: 'stdio', ...plain },
    local: { type: 'local', ...plain, tools: ['*'] },
    words: { type: 'local', command: server.command, enabled: true, ...(env && { environment: env }) },
  }[form]
  return withValue(text, [table, name], entry)
}

/** The configuration with the previous entry (`before`), or without the server. */
export function withoutEntry(client: McpClient, text: string, name: string, before: string | null): string {
  const { table, form } = client
  if (form === 'toml') return withTableText(text, `${table}.${name}`, before)
  return before === null ? withoutValue(text, [table, name], () => false) : withTextAt(text, [table, name], before)
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('\0')
}
