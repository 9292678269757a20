/** The sections that say how things run: the OS sandbox, limits, audit, custom tools, debugging. */

import { BOOLEAN, choice, integer, listOf, SECONDS, type Section, SIZE, text, type ValueType } from './key.ts'
import { HOST_ENTRY } from './reach.ts'

const BUNDLE: ValueType = {
  kind: 'entry',
  short: 'tool',
  fields: [
    { name: 'tool', type: text('bundle'), required: true, doc: 'The bundle; `cordon bundles` lists them.' },
    { name: 'fetch', type: BOOLEAN, doc: 'May download dependencies; each bundle has its own default.' },
    { name: 'install', type: BOOLEAN, doc: 'May write to where the tool installs programs.' },
    { name: 'domains', type: listOf(HOST_ENTRY), doc: 'Further hosts.' },
    { name: 'default_domains', type: BOOLEAN, doc: "False: without the bundle's own hosts." },
    {
      name: 'wrappers',
      type: listOf(text('command')),
      doc: 'Build tools that run it: the bundle applies to them too.',
    },
  ],
}

const SANDBOX: Section = {
  path: 'sandbox.os',
  doc: 'The sandbox that every command runs in. There is no off-switch.',
  spec: 'O3-O6',
  example: `[sandbox.os]
command_tools = ["git", { tool = "npm", fetch = true }]
wrappers = ["make"]
`,
  keys: [
    {
      name: 'backend',
      type: choice('bwrap', 'runc', 'podman', 'runsc'),
      default: 'bwrap',
      doc: 'What runs commands on Linux: bubblewrap, a container of `runc` or `podman`, or gVisor (`runsc`), where commands have no network; `docs/guides/code.md` says what each holds. One that is missing or does not hold runs nothing. Only your own `~/.config/cordon/cordon.toml`, or a manifest that you name on the command line, can say it.',
      spec: 'O1',
      merge: 'later',
      personal: true,
    },
    {
      name: 'command_fs',
      type: choice('none', 'system', 'permissive', 'all'),
      default: 'system',
      doc: 'What is there to read without a grant: `none`; `system`: /usr, /bin, /lib, /etc …; `permissive`: the home directory too; `all`: everything.',
      spec: 'O3',
      merge: 'later',
      organisation: 'choice-order',
    },
    {
      name: 'command_mask_secrets',
      type: BOOLEAN,
      default: true,
      doc: 'Hides keys, credentials and secret-shaped files; only a grant that names one opens it.',
      spec: 'O4',
      merge: 'later',
      organisation: 'true',
    },
    {
      name: 'mask_tracked',
      type: BOOLEAN,
      default: false,
      doc: 'Also hides secret-shaped files that git has in HEAD as they are. They can be read from the repository, so by default they are shown; hidden ones cannot be opened, and git reports them as changed.',
      spec: 'O4',
      merge: 'later',
      strictness: 'true',
    },
    {
      name: 'command_tools',
      type: listOf(BUNDLE),
      default: [],
      doc: 'Bundles: what a tool needs of files, variables, hosts and caches.',
      spec: 'O5',
      merge: 'concat',
    },
    {
      name: 'wrappers',
      type: listOf(text('command')),
      default: [],
      doc: 'Build tools that run the bundled ones, for all bundles.',
      spec: 'O5',
      merge: 'concat',
    },
    {
      name: 'env_allowlist',
      type: listOf(text('env')),
      default: null,
      doc: 'The variables every command sees, instead of the default for the platform; `LC_*` style names are possible. A charset that is not UTF-8 passes only where `LC_ALL`, `LC_CTYPE` or `LANG` is written out.',
      spec: 'O6',
      merge: 'later',
    },
    {
      name: 'ca_files',
      type: listOf(text('ca-file')),
      default: [],
      doc: 'Files with further certificate authorities in PEM, beside the machine’s own: under `~/`, or absolute. Who holds one can stand in for any host.',
      spec: 'N8',
      merge: 'concat',
    },
    {
      name: 'dev_server_ports',
      type: listOf(integer(1, 65_535)),
      default: [],
      doc: 'Ports of servers inside the sandbox that you reach on 127.0.0.1 of this machine, while they run. Nothing else comes in.',
      spec: 'O2',
      merge: 'concat',
    },
  ],
}

const NETWORK: Section = {
  path: 'network',
  doc: 'How this machine reaches the network. Only your own `~/.config/cordon/cordon.toml`, or a manifest that you name on the command line, can say it: in a project it has no effect.',
  spec: 'N3, N8',
  example: '[network]\nparent_proxy = "http://proxy.example.com:3128"\nno_proxy = ["intra.example.com"]\n',
  keys: [
    {
      name: 'parent_proxy',
      type: text('parent-proxy'),
      default: 'environment',
      doc: 'The proxy through which connections leave, by CONNECT: `http://host:port`, `https://host:port`, `none`, or `environment`: what `HTTPS_PROXY` (else `ALL_PROXY`) of your own environment says.',
      spec: 'N8',
      merge: 'later',
      personal: true,
    },
    {
      name: 'parent_proxy_login',
      type: text('secret-source'),
      default: null,
      doc: 'Where `user:password` for it is: `env:NAME`, `keychain:NAME` or `file:PATH`; otherwise as its URL has them.',
      spec: 'N8',
      merge: 'later',
      personal: true,
    },
    {
      name: 'no_proxy',
      type: listOf(text()),
      default: null,
      doc: 'Hosts (with all below them), addresses and IPv4 ranges that are reached without it; unset: what `NO_PROXY` says. Loopback always is.',
      spec: 'N8',
      merge: 'later',
      personal: true,
    },
    {
      name: 'special_ranges',
      type: listOf(choice('benchmarking', 'documentation', 'class-e')),
      default: [],
      doc: 'Ranges that names may resolve into as if they were public, for resolvers that answer with stand-ins: `benchmarking` 198.18.0.0/15, `documentation` 192.0.2.0/24 and its kin, `class-e` 240.0.0.0/5. Addresses in URLs stay closed.',
      spec: 'N3, N8',
      merge: 'later',
      personal: true,
    },
  ],
}

const APPROVALS: Section = {
  path: 'approvals',
  doc: 'How you are told of questions while the page is open (`cordon ui`), and where the answer links lead. Only your own `~/.config/cordon/cordon.toml` can say it: in a project it has no effect.',
  spec: 'X6',
  example: '[approvals]\nwebhook = "https://ntfy.example.com/my-topic"\nformat = "ntfy"\n',
  keys: [
    {
      name: 'webhook',
      type: text('web-address'),
      default: null,
      doc: 'Where each question is posted, secrets masked and signed, with links to answer it once.',
      spec: 'X6',
      merge: 'later',
      personal: true,
    },
    {
      name: 'format',
      type: choice('json', 'ntfy'),
      default: 'json',
      doc: '`json`: the question as an object; `ntfy`: a message of ntfy with two buttons.',
      spec: 'X6',
      merge: 'later',
      personal: true,
    },
    {
      name: 'answer_url',
      type: text('web-address'),
      default: null,
      doc: 'How your phone reaches the page’s port, through a tunnel of yours; unset: links are for this machine.',
      spec: 'X6',
      merge: 'later',
      personal: true,
    },
    {
      name: 'desktop',
      type: BOOLEAN,
      default: true,
      doc: 'False: no notification of the desktop.',
      spec: 'X6',
      merge: 'later',
      personal: true,
    },
  ],
}

const RUN: Section = {
  path: 'sandbox.run',
  doc: 'Where `sandbox_run` runs code: a fresh container for each call, without network. `cordon doctor --engines` says which work here.',
  spec: 'T4',
  example: '[sandbox.run]\nengines = ["runsc", "runc"]\n',
  keys: [
    {
      name: 'engines',
      type: listOf(choice('runsc', 'runc', 'crun', 'podman', 'docker', 'os')),
      default: ['runsc', 'runc', 'crun', 'podman', 'docker', 'os'],
      doc: 'In this order; the first that was seen to work here is used. `os` is the sandbox of commands. A project can only leave out what the user has listed.',
      spec: 'T4',
      merge: 'meet',
    },
    {
      name: 'image',
      type: text(),
      default: null,
      doc: 'An image that is there already, by digest (`name@sha256:…`), in place of the programs of this machine; docker runs it.',
      spec: 'T4',
      merge: 'later',
    },
    {
      name: 'memory',
      type: SIZE,
      default: 268_435_456,
      doc: 'Memory of a container.',
      spec: 'T4',
      merge: 'later',
      strictness: 'lower',
    },
    {
      name: 'timeout',
      type: SECONDS,
      default: 30,
      doc: 'Time of one program; `command_timeout` holds as well.',
      spec: 'T4',
      merge: 'later',
      strictness: 'lower',
    },
  ],
}

const COMPONENTS: Section = {
  path: 'components.*',
  doc: 'An agent that is a WASM component, by a name of your choice: these very bytes, with these tools. `cordon agent run` runs no other.',
  spec: 'T6',
  example: `[components.reviewer]
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
tools = ["read", "grep"]
`,
  keys: [
    { name: 'sha256', type: text(), default: null, doc: 'The hash of the file.', spec: 'T6', merge: 'later' },
    {
      name: 'tools',
      type: listOf(text()),
      default: [],
      doc: 'Tools that it may call, each call guarded as any other.',
      spec: 'T6',
      merge: 'later',
    },
    {
      name: 'model',
      type: BOOLEAN,
      default: false,
      doc: 'It may ask the model of the chosen profile.',
      spec: 'T6',
      merge: 'later',
    },
    {
      name: 'storage',
      type: SIZE,
      default: 1_048_576,
      doc: 'How much it may keep from one run to the next.',
      spec: 'T6',
      merge: 'later',
    },
    { name: 'memory', type: SIZE, default: 268_435_456, doc: 'Memory of the component.', spec: 'T6', merge: 'later' },
  ],
}

const LIMITS: Section = {
  path: 'limits',
  doc: 'Limits of one command. A project can only make what the user has set here stricter.',
  spec: 'O7',
  example: '[limits]\ncommand_timeout = "5m"\nmemory = "2 GiB"\n',
  keys: [
    {
      name: 'command_timeout',
      type: SECONDS,
      default: 120,
      doc: 'Then the whole process group and its namespace die. Commands in the background, and what you type yourself, are held only to a limit that is written here.',
      spec: 'O7',
      merge: 'later',
      strictness: 'lower',
    },
    {
      name: 'max_output_bytes',
      type: SIZE,
      default: 1_048_576,
      doc: 'Of stdout and of stderr; the rest goes to a file. Commands of hooks are held only to a limit that is written here, and the rest is counted; what you type yourself is not held.',
      spec: 'O7',
      merge: 'later',
      strictness: 'lower',
    },
    {
      name: 'memory',
      type: SIZE,
      default: null,
      doc: "Memory of the command and its children; unset means three quarters of the machine's.",
      spec: 'O7',
      merge: 'later',
      strictness: 'lower',
    },
    {
      name: 'processes',
      type: integer(1),
      default: 1024,
      doc: 'Processes and threads at one time.',
      spec: 'O7',
      merge: 'later',
      strictness: 'lower',
    },
    {
      name: 'cpu',
      type: SECONDS,
      default: null,
      doc: 'Processor time of one process; unset means no limit.',
      spec: 'O7',
      merge: 'later',
      strictness: 'lower',
    },
  ],
}

const AUDIT: Section = {
  path: 'audit',
  doc: 'The record of what happened.',
  spec: 'A1',
  example: '[audit]\nmax_bytes = "50 MiB"\n',
  keys: [
    {
      name: 'max_bytes',
      type: SIZE,
      default: 10_485_760,
      doc: 'A file that grows past this is rotated; the chain goes on.',
      spec: 'A1',
      merge: 'later',
    },
    {
      name: 'arguments',
      type: BOOLEAN,
      default: false,
      doc: 'True stores arguments verbatim (secrets masked) instead of their hash.',
      spec: 'A1',
      merge: 'later',
      organisation: 'true',
    },
  ],
}

const TOOLS: Section = {
  path: 'tools.*',
  doc: 'Settings of a custom tool, by its name. They narrow what the tool declares and never widen it.',
  spec: 'T2',
  example: '[tools.deploy-preview]\nrequire_confirmation = true\ntimeout = "60s"\n',
  keys: [
    {
      name: 'enabled',
      type: BOOLEAN,
      default: true,
      doc: 'False: the tool is not offered.',
      spec: 'T2',
      merge: 'later',
      organisation: 'false',
    },
    {
      name: 'require_confirmation',
      type: BOOLEAN,
      default: null,
      doc: 'True asks before every call.',
      spec: 'P5, T2',
      merge: 'later',
      organisation: 'true',
    },
    { name: 'timeout', type: SECONDS, default: null, doc: 'How long a call may take.', spec: 'T2', merge: 'later' },
    {
      name: 'max_output_bytes',
      type: SIZE,
      default: null,
      doc: 'How much output is kept.',
      spec: 'T2',
      merge: 'later',
    },
    {
      name: 'env_vars',
      type: listOf(text('env')),
      default: null,
      doc: 'Of the variables that it declares, only these; unset means all of them.',
      spec: 'T2, O6',
      merge: 'meet',
    },
    {
      name: 'domains',
      type: listOf(HOST_ENTRY),
      default: null,
      doc: 'Of the hosts that it declares, only these, or what stands here narrows them to; unset means all of them.',
      spec: 'T2',
      merge: 'meet',
    },
  ],
}

const DEBUG: Section = {
  path: 'debug',
  doc: 'For looking into Cordon itself.',
  spec: 'A6',
  example: '[debug]\ndump_provider_payloads = false\n',
  keys: [
    {
      name: 'dump_provider_payloads',
      type: BOOLEAN,
      default: false,
      doc: 'Writes requests to and answers from the model to disk, in clear text. Warns when on.',
      spec: 'A6',
      merge: 'later',
    },
  ],
}

const MCP_SERVERS: Section = {
  path: 'mcp_servers.*',
  doc: 'An MCP server that `cordon mcp wrap` runs, by its name, with grants of its own and nothing else.',
  spec: 'X2',
  example: `[mcp_servers.files]
command = "npx -y @modelcontextprotocol/server-filesystem docs"
read = ["docs/**"]
`,
  keys: [
    {
      name: 'command',
      type: text(),
      default: null,
      doc: 'Required: the program and its words. No shell runs it; quotes hold words together.',
      spec: 'X2',
      merge: 'later',
    },
    {
      name: 'read',
      type: listOf(text('path')),
      default: null,
      doc: 'What it may read. Unset: what commands may; then `write` is theirs as well.',
      spec: 'X2, O3',
      merge: 'later',
    },
    {
      name: 'write',
      type: listOf(text('path')),
      default: null,
      doc: 'What it may write, where `read` or `write` is set.',
      spec: 'X2, O3',
      merge: 'later',
    },
    {
      name: 'domains',
      type: listOf(HOST_ENTRY),
      default: [],
      doc: 'Hosts it may reach; the default domains of commands are not among them.',
      spec: 'X2, N1',
      merge: 'later',
    },
    {
      name: 'env_vars',
      type: listOf(text('env')),
      default: [],
      doc: 'Variables of your environment that it may see.',
      spec: 'X2, O6',
      merge: 'later',
    },
    {
      name: 'secrets',
      type: listOf(text('env-name')),
      default: [],
      doc: 'Entries of `[[secrets]]`, by name, that are brokered for it.',
      spec: 'X2, N7',
      merge: 'later',
    },
    {
      name: 'requests',
      type: listOf(choice('elicitation', 'sampling', 'roots')),
      default: ['elicitation'],
      doc: 'What it may ask of the client: `elicitation` a form for you, marked with its name; `sampling` your model, after a yes each time; `roots` the project directory.',
      spec: 'X2',
      merge: 'later',
    },
  ],
}

export const MACHINE_SECTIONS: readonly Section[] = [
  SANDBOX,
  NETWORK,
  APPROVALS,
  RUN,
  COMPONENTS,
  LIMITS,
  AUDIT,
  TOOLS,
  MCP_SERVERS,
  DEBUG,
]
