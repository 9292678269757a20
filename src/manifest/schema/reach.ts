/** The sections that say what may be reached: capabilities, files, http, secrets. */

import {
  BOOLEAN,
  choice,
  type Field,
  integer,
  type Key,
  listOf,
  SECONDS,
  type Section,
  SIZE,
  text,
  type ValueType,
} from './key.ts'

const MATCH_FIELDS: readonly Field[] = [
  { name: 'match', type: listOf(text()), doc: 'Commands that the pattern must match; checked at load.' },
  { name: 'not_match', type: listOf(text()), doc: 'Commands that the pattern must not match; checked at load.' },
]

/** A host in an allow list, with what narrows it. */
export const HOST_ENTRY: ValueType = {
  kind: 'entry',
  short: 'host',
  fields: [
    {
      name: 'host',
      type: text('host'),
      required: true,
      // biome-ignore lint/suspicious/noTemplateCurlyInString: the manifest's own syntax.
      doc: 'A host, or `*.` and a registrable domain, with an optional `:port`. Commands and MCP servers also accept `unix:` and the path of a socket. `${VAR}` expands at start.',
    },
    { name: 'methods', type: listOf(text('method')), doc: 'Only these HTTP methods.' },
    { name: 'paths', type: listOf(text('url-path')), doc: 'Only URL paths that match one of these globs.' },
    {
      name: 'tls',
      type: { kind: 'choice', values: ['open', 'pass'] },
      doc: '`pass` leaves TLS closed, for pinned and client certificates. Name and address are checked; the content is not seen.',
    },
    {
      name: 'max_requests',
      type: integer(1),
      doc: 'Requests of one session; the next one asks. Of several entries for a host each limit applies.',
    },
    {
      name: 'max_upload',
      type: SIZE,
      doc: 'Bytes of requests of one session, with their addresses and headers (`"5 MB"`); what would go beyond it asks.',
    },
    {
      name: 'ssh',
      type: { kind: 'choice', values: ['fetch', 'push'] },
      doc: 'With a port (`github.com:22`): git over ssh, where Cordon logs in outside with your ssh, keys and agent. `fetch` reads repositories, `push` also writes them, and `paths` limits them (`/acme/*`). Only git goes there.',
    },
    {
      name: 'signs',
      type: text('signing-key'),
      doc: 'With the socket of an agent: it signs by this key and does nothing else. `SHA256:…` of `ssh-keygen -lf` for ssh-agent, which then signs commits and tags alone; a keygrip of `gpg -K --with-keygrip` for gpg-agent.',
    },
  ],
}

const PATH_FIELDS: readonly Field[] = [
  { name: 'path', type: text('path'), required: true, doc: 'Under the project root, under `~/`, or absolute.' },
  { name: 'files', type: listOf(text('basename')), doc: 'Only files with such a name; instead of `default_files`.' },
]

const GRANTED_PATH: ValueType = {
  kind: 'entry',
  short: 'path',
  fields: [...PATH_FIELDS, { name: 'prompt', type: BOOLEAN, doc: 'Ask each time anyway.' }],
}

const DENIED_PATH: ValueType = { kind: 'entry', short: 'path', fields: PATH_FIELDS }

const GRANTED_COMMAND: ValueType = {
  kind: 'entry',
  short: 'command',
  fields: [
    {
      name: 'command',
      type: text('command'),
      required: true,
      doc: 'The first words of the command; `:*` at the end allows any further words.',
    },
    { name: 'prompt', type: BOOLEAN, doc: 'Ask each time anyway.' },
    { name: 'paths', type: listOf(text('path')), doc: 'Paths this command may also read and write.' },
    { name: 'env_vars', type: listOf(text('env')), doc: 'Variables of your environment that it sees.' },
    { name: 'domains', type: listOf(HOST_ENTRY), doc: 'Hosts it may reach.' },
    { name: 'inherit_default_domains', type: BOOLEAN, doc: 'False: only its own `domains`.' },
    ...MATCH_FIELDS,
  ],
}

const DENIED_COMMAND: ValueType = {
  kind: 'entry',
  short: 'command',
  fields: [
    { name: 'command', type: text('command'), required: true, doc: 'The first words; `:*` for any further words.' },
    ...MATCH_FIELDS,
  ],
}

function defaultFiles(spec: string): Key {
  return {
    name: 'default_files',
    type: listOf(text('basename')),
    default: ['*'],
    doc: 'File names for entries of `paths` in the same file that have no `files`.',
    spec,
  }
}

function grantedPaths(verb: 'read' | 'write'): Section {
  return {
    path: `capabilities.allow.${verb}`,
    doc: `What may be ${verb === 'read' ? 'read' : 'written'} without asking. If the section exists, everything else asks.`,
    spec: 'F2, F4, F6',
    example: `[capabilities.allow.${verb}]\npaths = ["src/**", { path = "docs", files = ["*.md"] }]\n`,
    keys: [
      defaultFiles('F2'),
      {
        name: 'paths',
        type: listOf(GRANTED_PATH),
        default: [],
        doc: '`*` is one level, `**` any depth, `?` one character.',
        spec: 'F2, F4',
        merge: 'concat',
      },
      ...(verb === 'read' ? [NEARBY] : []),
    ],
  }
}

/** Kinds of ordinary source outside the project. */
const NEARBY: Key = {
  name: 'nearby',
  type: listOf(choice('repositories', 'packages')),
  default: [],
  doc: 'Source outside the project that a call may read if it names it. `repositories`: git repositories in the same folder of your home. `packages`: what package managers installed for you. Secrets, private names and calls that reach another machine still ask.',
  spec: 'P10, F2',
  merge: 'concat',
}

function deniedPaths(verb: 'read' | 'write'): Section {
  const mask = verb === 'read' ? ' A `files` entry such as `*.sqlite` is hidden from commands as well.' : ''
  return {
    path: `capabilities.deny.${verb}`,
    doc: `What is never ${verb === 'read' ? 'read' : 'written'}, whatever else is granted.${mask}`,
    spec: 'F2, O4',
    example: `[capabilities.deny.${verb}]\npaths = ["secrets/**", { path = "**", files = ["*.sqlite"] }]\n`,
    keys: [
      { ...defaultFiles('F2'), doc: 'As under allow; without `paths`, these files are denied at any depth.' },
      { name: 'paths', type: listOf(DENIED_PATH), default: [], doc: 'As under allow.', spec: 'F2', merge: 'concat' },
    ],
  }
}

const ALLOW: Section = {
  path: 'capabilities.allow',
  doc: 'Grants: what an agent may do without asking.',
  spec: 'F1, F2',
  example: '[capabilities.allow]\nadditional_directories = ["~/notes"]\n',
  keys: [
    {
      name: 'additional_directories',
      type: listOf(text('directory')),
      default: [],
      doc: 'Directories that are roots besides the project.',
      spec: 'F1, F2',
      merge: 'concat',
    },
  ],
}

const ALLOW_COMMANDS: Section = {
  path: 'capabilities.allow.commands',
  doc: 'Commands that run without asking, with their paths, variables and hosts. The most literal pattern wins; order does not matter.',
  spec: 'S3, N1',
  example: `[capabilities.allow.commands]
default_domains = ["api.github.com"]
patterns = [
  "cargo build:*",
  "git status",
  { command = "gh pr view:*", env_vars = ["GH_TOKEN"], match = ["gh pr view 12"], not_match = ["gh pr merge 12"] },
]
`,
  keys: [
    {
      name: 'default_domains',
      type: listOf(HOST_ENTRY),
      default: [],
      doc: 'Hosts that every allowed command may reach (in contained mode also without a grant), unless its pattern says `inherit_default_domains = false`.',
      spec: 'N1',
      merge: 'concat',
    },
    {
      name: 'default_env_vars',
      type: listOf(text('env')),
      default: [],
      doc: 'Variables of your environment that every allowed command may see.',
      spec: 'S3, O6',
      merge: 'concat',
    },
    {
      name: 'patterns',
      type: listOf(GRANTED_COMMAND),
      default: [],
      doc: 'The first words of a command: `"cargo build:*"`, or a table.',
      spec: 'S3, M5',
      merge: 'concat',
    },
  ],
}

const DENY_COMMANDS: Section = {
  path: 'capabilities.deny.commands',
  doc: 'Commands that never run. They are found through wrappers, paths, quoting and assignments, anywhere in a command.',
  spec: 'S3, N2',
  example: '[capabilities.deny.commands]\npatterns = ["git push --force:*", "terraform apply:*"]\n',
  keys: [
    {
      name: 'patterns',
      type: listOf(DENIED_COMMAND),
      default: [],
      doc: 'Beat every grant.',
      spec: 'S3',
      merge: 'concat',
    },
    {
      name: 'domains',
      type: listOf(text('denied-host')),
      default: [],
      doc: 'Hosts that no command may reach (`*` for all, `*:22` for one port of all). `security.deny_domains` also covers other tools.',
      spec: 'N2',
      merge: 'concat',
    },
    {
      name: 'env_vars',
      type: listOf(text('env')),
      default: [],
      doc: 'Variables that no command may see.',
      spec: 'O6',
      merge: 'concat',
    },
  ],
}

const PYTHON: Section = {
  path: 'capabilities.python',
  doc: 'Modules in `python_exec`. A policy, not a boundary: the boundary is the sandbox.',
  spec: 'T5',
  example: '[capabilities.python]\nblocked_modules = ["ctypes"]\n',
  keys: [
    {
      name: 'allowed_modules',
      type: listOf(text('module')),
      default: [],
      doc: 'If not empty, only these can be imported.',
      spec: 'T5',
      merge: 'meet',
    },
    {
      name: 'blocked_modules',
      type: listOf(text('module')),
      default: [],
      doc: 'These cannot be imported.',
      spec: 'T5',
      merge: 'concat',
    },
  ],
}

const FILES: Section = {
  path: 'files',
  doc: 'The file tools.',
  spec: 'F3, F5, F7',
  example: '[files]\nchange_envelope = ["src/**", "tests/**"]\n',
  keys: [
    {
      name: 'change_envelope',
      type: listOf(text('path')),
      default: [],
      doc: 'If not empty, a write must also match one of these globs.',
      spec: 'F3',
      merge: 'meet',
    },
    {
      name: 'discovery_brief',
      type: text('directory'),
      doc: 'A JSON file whose `in_scope_files` are added to the envelope at start.',
      spec: 'F3',
    },
    {
      name: 'read_size_limit',
      type: integer(1),
      default: 20_000,
      doc: 'Characters that one `read` returns at most.',
      spec: 'F5',
    },
    {
      name: 'session_directory',
      type: choice('own', 'project'),
      default: 'project',
      doc: 'Where a session of Cordon’s own (library, MCP server, chat, editor) writes: the project, or `own`, a directory for each session. Before its first write it reads the project.',
      spec: 'F7',
      merge: 'later',
    },
  ],
}

const HTTP: Section = {
  path: 'http',
  doc: 'The web tools (`http`, `webfetch`). A project can only make what the user has set here stricter.',
  spec: 'N3, N6',
  example:
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the manifest's own syntax.
    '[http]\nallowed_hosts = ["docs.python.org", "${SNOW_HOST}", { host = "api.github.com", methods = ["GET"] }]\n',
  keys: [
    {
      name: 'allowed_hosts',
      type: listOf(HOST_ENTRY),
      default: [],
      doc: 'If not empty, only these hosts. If empty, these tools reach all public hosts.',
      spec: 'N6, M6',
      strictness: 'meet',
    },
    {
      name: 'allow_private_hosts',
      type: BOOLEAN,
      default: false,
      doc: 'Permits private and loopback addresses; the list still applies, and metadata addresses stay closed. Commands reach a listed port of this machine (`127.0.0.1:5432`) without it, unless it is written as false.',
      spec: 'N3',
      strictness: 'false',
    },
  ],
}

const STRICT_LEVEL: ValueType = choice('deny', 'ask', 'allow')

const PACKAGES: Section = {
  path: 'packages',
  doc: 'Packages that commands fetch from the registries you signed (npm, PyPI, crates). The section alone asks about look-alike names. Cordon judges at the proxy, so lock files and direct URLs count too. Dependencies from git are not packages of a registry.',
  spec: 'N10',
  example: '[packages]\nminimum_age = "3d"\nnew_dependencies = "ask"\ntrusted = ["@acme/*"]\n',
  keys: [
    {
      name: 'minimum_age',
      type: SECONDS,
      doc: 'How long a version must have been published. Younger ones are left out of what the registry offers, and their files are refused. So are versions without a date.',
      spec: 'N10',
      strictness: 'higher',
    },
    {
      name: 'new_dependencies',
      type: STRICT_LEVEL,
      default: 'allow',
      doc: 'Packages that no committed lock file names. One yes covers those of one run.',
      spec: 'N10',
      strictness: 'choice-order',
    },
    {
      name: 'install_scripts',
      type: STRICT_LEVEL,
      default: 'allow',
      doc: 'Versions that run their own code when installed: scripts of npm packages, source distributions of Python.',
      spec: 'N10',
      strictness: 'choice-order',
    },
    {
      name: 'look_alikes',
      type: STRICT_LEVEL,
      default: 'ask',
      doc: 'Names one edit away from a popular package, if no committed lock file names them.',
      spec: 'N10',
      strictness: 'choice-order',
    },
    {
      name: 'trusted',
      type: listOf(text()),
      default: [],
      doc: 'Packages that none of this applies to, such as `@acme/*`, and addresses that files may come from although no registry lists them, such as `https://nodejs.org/download/`.',
      spec: 'N10',
    },
  ],
}

/** `[[secrets]]` is the one array of tables, so it is a key of the top level. */
export const SECRETS: Key = {
  name: 'secrets',
  type: {
    kind: 'list',
    of: {
      kind: 'entry',
      short: null,
      fields: [
        {
          name: 'name',
          type: text('env-name'),
          required: true,
          doc: 'The variable in which a command sees a placeholder.',
        },
        {
          name: 'source',
          type: text('secret-source'),
          required: true,
          doc: 'Where the value is: `env:NAME`, `keychain:NAME` or `file:PATH`.',
        },
        {
          name: 'hosts',
          type: { kind: 'list', of: text('host'), nonEmpty: true },
          required: true,
          doc: 'The hosts for which the proxy adds the value.',
        },
        {
          name: 'header',
          type: text('header'),
          doc: 'The request header that carries it; `authorization` if neither header nor query is set.',
        },
        {
          name: 'query',
          type: text('query'),
          doc: 'The URL parameter that carries it, as in `?key=…`. Servers log URLs, so prefer a header.',
        },
        {
          name: 'part',
          type: { kind: 'choice', values: ['whole', 'password'] },
          doc: '`password`: the source is a URL, and its password is the secret. The command sees the URL with a placeholder.',
        },
        {
          name: 'after',
          type: text(),
          doc: 'The secret follows this text in the source, up to a space, quote, comma or semicolon (`_authToken=`). The command sees the rest unchanged.',
        },
        {
          name: 'as',
          type: { kind: 'choice', values: ['text', 'file'] },
          doc: '`file`: the variable names a file that contains it, for programs that need a credentials file (`NPM_CONFIG_USERCONFIG`).',
        },
        {
          name: 'sign',
          type: { kind: 'choice', values: ['aws'] },
          doc: '`aws`: the secret access key is never sent. The proxy signs requests again that were signed with the placeholder (Signature Version 4, in the Authorization header). Other requests are refused.',
        },
        {
          name: 'login',
          type: { kind: 'choice', values: ['postgres', 'redis'] },
          doc: 'The password of a database. A client that presents the placeholder to these hosts (`db.example.org:5432`, with the port) is logged in with the password, which stays outside. Nothing else goes there.',
        },
        {
          name: 'pass_headers',
          type: { kind: 'list', of: text('pass-name') },
          doc: 'Headers that may go to these hosts although their name suggests a credential (`cookie`, `x-session-*`). A `*` covers no name of a login: list `x-auth-token` itself.',
        },
        {
          name: 'pass_parameters',
          type: { kind: 'list', of: text('pass-name') },
          doc: 'The same for parameters of the URL.',
        },
      ],
    },
  },
  default: [],
  doc: 'Secrets that stay outside the sandbox. The command sees a placeholder, and the proxy adds the value.',
  spec: 'N7',
  merge: 'concat',
}

export const SECRETS_EXAMPLE =
  '[[secrets]]\nname = "GH_TOKEN"\nsource = "keychain:github"\nhosts = ["api.github.com"]\nheader = "authorization"\n'

export const REACH_SECTIONS: readonly Section[] = [
  ALLOW,
  grantedPaths('read'),
  grantedPaths('write'),
  ALLOW_COMMANDS,
  deniedPaths('read'),
  deniedPaths('write'),
  DENY_COMMANDS,
  PYTHON,
  FILES,
  HTTP,
  PACKAGES,
]
