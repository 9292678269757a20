/** How the lists of a manifest read to a person: one sentence for an entry that came, one for an entry that went. */

import { namesUnixSocket, socketMeaning } from '../../hosts/pattern.ts'
import type { Plain } from '../toml/tree.ts'

export type ReachKind = 'command' | 'read' | 'write' | 'directory' | 'host' | 'secret' | 'variable' | 'tool' | 'setting'

/** How a list of the manifest reads to a person. */
export interface ListWords {
  readonly kind: ReachKind
  /** The list itself. */
  readonly what: string
  /** Whether an entry opens or closes something. */
  readonly effect: 'opens' | 'closes'
  /** The field that identifies the entry. */
  readonly name: string
  readonly added: (subject: string, entry: Entry) => string
  readonly removed: (subject: string, entry: Entry) => string
  /** A filter: empty means that everything passes. */
  readonly filter?: string
}

/** An entry of a list, by its fields. */
export type Entry = Readonly<Record<string, Plain>>

const runs = (entry: Entry): string => {
  const parts = [
    words('reaches', hostNames(entry.domains)),
    words('sees the variables', texts(entry.env_vars)),
    words('works on', texts(entry.paths)),
  ].filter((part) => part !== '')
  return parts.length === 0 ? '' : ` (${parts.join('; ')})`
}

/** The key of a header as a person reads it; the entry itself looks like a secret to the redactor. */
export const headerKey = (entry: Plain | undefined): string => {
  const [, name, source] = /^([^:]*):.*?((?:env|keychain|file):.*)$/.exec(String(entry)) ?? []
  return `${source ?? 'a key'} as ${name ?? 'a header'}`
}

/** What each kind of source near the project is. */
export const NEARBY_WORDS: Readonly<Record<string, string>> = {
  repositories: 'Git repositories in your home beside this one',
  packages: 'Packages installed in your home',
}

/** By the path of the list. */
export const LISTS: Readonly<Record<string, ListWords>> = {
  'capabilities.allow.commands.patterns': {
    what: 'The list of granted commands',
    kind: 'command',
    effect: 'opens',
    name: 'command',
    added: (subject, entry) =>
      `The command ${subject} ${entry.prompt === true ? 'may run after asking' : 'runs without asking'}${runs(entry)}.`,
    removed: (subject) => `The command ${subject} is no longer granted: it asks.`,
  },
  'capabilities.deny.commands.patterns': {
    what: 'The list of denied commands',
    kind: 'command',
    effect: 'closes',
    name: 'command',
    added: (subject) => `The command ${subject} never runs.`,
    removed: (subject) => `The command ${subject} is no longer denied.`,
  },
  'capabilities.allow.read.paths': {
    what: 'The list of what may be read',
    kind: 'read',
    effect: 'opens',
    name: 'path',
    added: (subject, entry) =>
      `${place(subject)} may be read${entry.prompt === true ? ' after asking' : ' without asking'}.`,
    removed: (subject) => `${subject} is no longer granted for reading.`,
  },
  'capabilities.allow.read.nearby': {
    what: 'The list of source near the project',
    kind: 'read',
    effect: 'opens',
    name: 'kind',
    added: (_, { kind }) => `${NEARBY_WORDS[String(kind)]} may be read without asking, secrets aside.`,
    removed: (_, { kind }) => `${NEARBY_WORDS[String(kind)]} are no longer granted for reading.`,
  },
  'capabilities.allow.write.paths': {
    what: 'The list of what may be written',
    kind: 'write',
    effect: 'opens',
    name: 'path',
    added: (subject, entry) =>
      `${place(subject)} may be written${entry.prompt === true ? ' after asking' : ' without asking'}.`,
    removed: (subject) => `${subject} is no longer granted for writing.`,
  },
  'capabilities.deny.read.paths': {
    what: 'The list of what is never read',
    kind: 'read',
    effect: 'closes',
    name: 'path',
    added: (subject) => `${subject} is never read.`,
    removed: (subject) => `${subject} is no longer denied for reading.`,
  },
  'capabilities.deny.write.paths': {
    what: 'The list of what is never written',
    kind: 'write',
    effect: 'closes',
    name: 'path',
    added: (subject) => `${subject} is never written.`,
    removed: (subject) => `${subject} is no longer denied for writing.`,
  },
  'capabilities.allow.additional_directories': {
    what: 'The list of further directories',
    kind: 'directory',
    effect: 'opens',
    name: 'path',
    added: (subject) => `The directory ${subject} counts as part of the project.`,
    removed: (subject) => `The directory ${subject} is outside of the project again.`,
  },
  'capabilities.allow.commands.default_domains': {
    what: 'The list of hosts for commands',
    kind: 'host',
    effect: 'opens',
    name: 'host',
    added: (subject, entry) => `Every granted command may reach ${subject}${login(entry)}.`,
    removed: (subject) => `Granted commands no longer reach ${subject} by default.`,
  },
  'capabilities.deny.commands.domains': {
    what: 'The list of hosts denied to commands',
    kind: 'host',
    effect: 'closes',
    name: 'host',
    added: (subject) => `No command reaches ${subject}.`,
    removed: (subject) => `${subject} is no longer denied to commands.`,
  },
  'security.deny_domains': {
    what: 'The list of denied hosts',
    kind: 'host',
    effect: 'closes',
    name: 'host',
    added: (subject) => `Nothing reaches ${subject}.`,
    removed: (subject) => `${subject} is no longer denied.`,
  },
  'http.allowed_hosts': {
    what: 'The list of hosts for the web tools',
    kind: 'host',
    effect: 'opens',
    name: 'host',
    added: (subject) => `The web tools may reach ${subject}.`,
    removed: (subject) => `The web tools no longer reach ${subject}.`,
    filter: 'The web tools may reach',
  },
  'capabilities.allow.commands.default_env_vars': {
    what: 'The list of variables for commands',
    kind: 'variable',
    effect: 'opens',
    name: 'name',
    added: (subject) => `Every granted command sees the variable ${subject}.`,
    removed: (subject) => `Granted commands no longer see the variable ${subject}.`,
  },
  'capabilities.deny.commands.env_vars': {
    what: 'The list of variables kept from commands',
    kind: 'variable',
    effect: 'closes',
    name: 'name',
    added: (subject) => `No command sees the variable ${subject}.`,
    removed: (subject) => `The variable ${subject} is no longer kept from commands.`,
  },
  'sandbox.os.env_allowlist': {
    what: 'The list of variables that every command sees',
    kind: 'variable',
    effect: 'opens',
    name: 'name',
    added: (subject) => `Every command sees the variable ${subject}.`,
    removed: (subject) => `Commands no longer see the variable ${subject}.`,
  },
  'mcp.*.tools': {
    what: 'The list of tools of an MCP server',
    kind: 'tool',
    effect: 'opens',
    name: 'tool',
    added: (subject, entry) => {
      const does = { deny: 'never run', ask: 'ask', allow: 'run without asking' }[String(entry.level ?? 'allow')]
      return `Tools ${subject} of the MCP server ${does}${words(' with', texts(entry.args))}.`
    },
    removed: (subject) => `Tools ${subject} of the MCP server no longer have their own rule.`,
  },
  'mcp_servers.*.headers': {
    what: 'The list of headers of an MCP server',
    kind: 'secret',
    effect: 'opens',
    name: 'header',
    added: (_, { header }) => `The MCP server is sent ${headerKey(header)}.`,
    removed: (_, { header }) => `The MCP server is no longer sent ${headerKey(header)}.`,
  },
  'packages.trusted': {
    what: 'The list of trusted packages',
    kind: 'setting',
    effect: 'opens',
    name: 'name',
    added: (subject) => `The package ${subject} is not judged by age, scripts or name.`,
    removed: (subject) => `The package ${subject} is judged again.`,
  },
  'sandbox.os.command_tools': {
    what: 'The list of tools',
    kind: 'tool',
    effect: 'opens',
    name: 'tool',
    added: (subject, entry) =>
      `The tool ${subject} gets its own files, caches and hosts (see cordon bundles ${entry.tool}).`,
    removed: (subject) => `The tool ${subject} loses its own files, caches and hosts.`,
  },
  'sandbox.os.dev_server_ports': {
    what: 'The list of ports',
    kind: 'host',
    effect: 'opens',
    name: 'port',
    added: (_, { port }) =>
      `A server that a command starts on port ${String(port)} is reachable on 127.0.0.1 of this machine.`,
    removed: (_, { port }) => `A server inside on port ${String(port)} is no longer reachable from outside.`,
  },
  secrets: {
    what: 'The list of secrets',
    kind: 'secret',
    effect: 'opens',
    name: 'name',
    // Not "the secret NAME": the redactor takes what follows that word for its value.
    added: (subject, entry) =>
      `${subject} (${String(entry.source)}) is a secret: it ${entry.login !== undefined ? 'logs in to' : entry.sign === undefined ? 'is sent to' : 'signs requests to'} ${texts(entry.hosts).join(', ')}${
        entry.query === undefined ? '' : `, in the URL as ${String(entry.query)}`
      }${entry.part === 'password' || entry.after !== undefined ? '; commands see the text around it' : ''}.`,
    removed: (subject) => `${subject}, a secret, is no longer sent anywhere.`,
  },
  'sandbox.os.ca_files': {
    what: 'The list of certificate authorities',
    kind: 'host',
    effect: 'opens',
    name: 'file',
    added: (subject) => `Certificates by the authorities in ${subject} are trusted for every host.`,
    removed: (subject) => `Certificates by the authorities in ${subject} are no longer trusted.`,
  },
  'files.change_envelope': {
    what: 'The change envelope',
    kind: 'write',
    effect: 'opens',
    name: 'path',
    added: (subject) => `Writes under ${subject} are inside the change envelope.`,
    removed: (subject) => `Writes under ${subject} are outside of the change envelope.`,
    filter: 'Writes are allowed anywhere inside',
  },
  'shell_policy.deny': {
    what: 'The list of denied texts',
    kind: 'command',
    effect: 'closes',
    name: 'text',
    added: (subject) => `Commands that contain ${subject} never run.`,
    removed: (subject) => `Commands that contain ${subject} are no longer denied for it.`,
  },
  'shell_policy.allow': {
    what: 'The list of texts that commands must contain',
    kind: 'command',
    effect: 'opens',
    name: 'text',
    added: (subject) => `Commands that contain ${subject} pass the substring filter.`,
    removed: (subject) => `Commands need more than ${subject} to pass the substring filter.`,
    filter: 'Commands pass the substring filter with',
  },
}

/** The project itself has a name. */
function place(subject: string): string {
  return subject === '"**"' ? 'The whole project' : subject
}

/** A list of texts; empty for anything else. */
export function texts(value: Plain | undefined): string[] {
  return Array.isArray(value) ? value.map((item) => String(item)) : []
}

function hostNames(value: Plain | undefined): string[] {
  if (!Array.isArray(value)) return []
  return value.map((item) =>
    typeof item === 'object' && item !== null
      ? `${String((item as Entry).host)}${login(item as Entry)}`
      : `${String(item)}${login({ host: item })}`,
  )
}

/** The login name and the limits of an entry, for git, and the meaning of a socket. */
function login({ host, ssh, signs, max_requests: requests, max_upload: bytes }: Entry): string {
  const limits = [
    ...(requests === undefined ? [] : [`${String(requests)} requests`]),
    ...(bytes === undefined ? [] : [`${String(bytes)} bytes of requests`]),
  ]
  if (limits.length > 0) return `, for at most ${limits.join(' and ')} a session`
  if (namesUnixSocket(String(host))) return `; ${socketMeaning(String(host), signs)}`
  if (ssh === undefined) return ''
  return ssh === 'push'
    ? ' with your ssh keys, to read and write git repositories'
    : ' with your ssh keys, to read git repositories'
}

function words(verb: string, subjects: readonly string[]): string {
  return subjects.length === 0 ? '' : `${verb} ${subjects.join(', ')}`
}
