/** The sections that say how things run: the OS sandbox, limits, audit, custom tools, debugging. */

import { COMPONENTS, MCP_RULES, MCP_SERVERS, TOOLS } from './extensions.ts'
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
  doc: 'The sandbox that every command runs in. It cannot be disabled.',
  spec: 'O3-O6',
  example: `[sandbox.os]
command_tools = ["git", { tool = "npm", fetch = true }]
wrappers = ["make"]
`,
  keys: [
    {
      name: 'backend',
      type: choice('bwrap', 'landlock', 'runc', 'runsc'),
      default: 'bwrap',
      doc: 'What runs commands on Linux: bubblewrap, `landlock` (without namespaces; taken by itself where bubblewrap cannot run), a container of `runc`, or gVisor (`runsc`, without network). `docs/guides/code.md` compares them. A backend that is missing or fails its probe runs nothing. Set it only in your own `~/.config/cordon/cordon.toml` or with `--manifest`.',
      spec: 'O1',
      personal: true,
    },
    {
      name: 'require',
      type: choice('nothing', 'namespaces'),
      default: 'nothing',
      doc: 'With `namespaces`, no command runs where the machine refuses namespaces to bubblewrap. By default commands then run behind Landlock (`docs/guides/containers.md` says what that leaves open). Set it only in your own `~/.config/cordon/cordon.toml` or with `--manifest`.',
      spec: 'O9',
      personal: true,
    },
    {
      name: 'command_fs',
      type: choice('none', 'system', 'permissive', 'all'),
      default: 'system',
      doc: 'What commands can read without a grant: `none`; `system`: /usr, /bin, /lib, /etc and others; `permissive`: also the home directory; `all`: everything.',
      spec: 'O3',
      organisation: 'choice-order',
    },
    {
      name: 'command_mask_secrets',
      type: BOOLEAN,
      default: true,
      doc: 'Hides keys, credentials and secret-shaped files. Only a grant that names one shows it.',
      spec: 'O4',
      organisation: 'true',
    },
    {
      name: 'mask_tracked',
      type: BOOLEAN,
      default: false,
      doc: 'Also hides secret-shaped files that git has in HEAD, unchanged. By default they are shown, because the repository contains them. Hidden ones cannot be opened, and git reports them as changed.',
      spec: 'O4',
      strictness: 'true',
    },
    {
      name: 'command_tools',
      type: listOf(BUNDLE),
      default: [],
      doc: 'Bundles: the files, variables, hosts and caches a tool needs.',
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
      doc: 'The variables every command sees, instead of the platform’s default; names such as `LC_*` work. A charset other than UTF-8 passes only if `LC_ALL`, `LC_CTYPE` or `LANG` is written out.',
      spec: 'O6',
    },
    {
      name: 'ca_files',
      type: listOf(text('ca-file')),
      default: [],
      doc: 'Files with additional certificate authorities in PEM, under `~/` or absolute. The owner of such an authority can impersonate any host.',
      spec: 'N8',
      merge: 'concat',
    },
    {
      name: 'dev_server_ports',
      type: listOf(integer(1, 65_535)),
      default: [],
      doc: 'Ports of servers inside the sandbox that open on 127.0.0.1 of this machine while they run.',
      spec: 'O2',
      merge: 'concat',
    },
  ],
}

const NETWORK: Section = {
  path: 'network',
  doc: 'How this machine reaches the network. Set it in your own `~/.config/cordon/cordon.toml` or with `--manifest`; in a project it has no effect.',
  spec: 'N3, N8',
  example: '[network]\nparent_proxy = "http://proxy.example.com:3128"\nno_proxy = ["intra.example.com"]\n',
  keys: [
    {
      name: 'parent_proxy',
      type: text('parent-proxy'),
      default: 'environment',
      doc: 'The proxy for outgoing connections, by CONNECT: `http://host:port`, `https://host:port`, `none`, or `environment` (your `HTTPS_PROXY`, else `ALL_PROXY`).',
      spec: 'N8',
      personal: true,
    },
    {
      name: 'parent_proxy_login',
      type: text('secret-source'),
      doc: 'The source of its `user:password`: `env:NAME`, `keychain:NAME` or `file:PATH`. Unset: from its URL.',
      spec: 'N8',
      personal: true,
    },
    {
      name: 'no_proxy',
      type: listOf(text()),
      doc: 'Hosts (with all below them), addresses and IPv4 ranges that bypass it. Unset: your `NO_PROXY`. Loopback always does.',
      spec: 'N8',
      personal: true,
    },
    {
      name: 'special_ranges',
      type: listOf(choice('benchmarking', 'documentation', 'class-e')),
      default: [],
      doc: 'Address ranges that names may resolve to, for resolvers that answer with stand-ins: `benchmarking` 198.18.0.0/15, `documentation` 192.0.2.0/24 and similar, `class-e` 240.0.0.0/5. Such addresses in URLs stay closed.',
      spec: 'N3, N8',
      personal: true,
    },
  ],
}

const APPROVALS: Section = {
  path: 'approvals',
  doc: 'How you are notified of questions while the page (`cordon ui`) is open. Set it in your own `~/.config/cordon/cordon.toml`; in a project it has no effect.',
  spec: 'X6',
  example: '[approvals]\nwebhook = "https://ntfy.example.com/my-topic"\nformat = "ntfy"\n',
  keys: [
    {
      name: 'webhook',
      type: text('web-address'),
      doc: 'Where each question is posted, secrets masked and signed, with links to answer it once.',
      spec: 'X6',
      personal: true,
    },
    {
      name: 'format',
      type: choice('json', 'ntfy'),
      default: 'json',
      doc: '`json`: the question as an object. `ntfy`: an ntfy message with two buttons.',
      spec: 'X6',
      personal: true,
    },
    {
      name: 'answer_url',
      type: text('web-address'),
      doc: 'The address of your tunnel to the page’s port. Unset: links work on this machine only.',
      spec: 'X6',
      personal: true,
    },
    {
      name: 'desktop',
      type: BOOLEAN,
      default: true,
      doc: 'False disables desktop notifications.',
      spec: 'X6',
      personal: true,
    },
  ],
}

const RUN: Section = {
  path: 'sandbox.run',
  doc: 'Where `sandbox_run` runs code: a new container for each call, without network. `cordon doctor --engines` says which work here.',
  spec: 'T4',
  example: '[sandbox.run]\nengines = ["runsc", "runc"]\n',
  keys: [
    {
      name: 'engines',
      type: listOf(choice('runsc', 'runc', 'crun', 'podman', 'docker', 'os')),
      default: ['runsc', 'runc', 'crun', 'podman', 'docker', 'os'],
      doc: 'In this order; Cordon uses the first that works in a probe. `os` is the sandbox of commands. A project can only remove entries.',
      spec: 'T4',
      merge: 'meet',
    },
    {
      name: 'image',
      type: text(),
      doc: 'An existing image, by digest (`name@sha256:…`), instead of this machine’s programs; docker runs it.',
      spec: 'T4',
    },
    {
      name: 'memory',
      type: SIZE,
      default: 268_435_456,
      doc: 'Memory of a container.',
      spec: 'T4',
      strictness: 'lower',
    },
    {
      name: 'timeout',
      type: SECONDS,
      default: 30,
      doc: 'Time of one program; `command_timeout` also applies.',
      spec: 'T4',
      strictness: 'lower',
    },
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
      doc: 'Afterwards the whole process group and its namespace are ended. Background commands, and commands you type, have no limit unless one is written here.',
      spec: 'O7',
      strictness: 'lower',
    },
    {
      name: 'max_output_bytes',
      type: SIZE,
      default: 1_048_576,
      doc: 'For stdout and for stderr; the rest goes to a file. Commands of hooks have no limit unless one is written here, and the rest is counted. Commands you type have none.',
      spec: 'O7',
      strictness: 'lower',
    },
    {
      name: 'memory',
      type: SIZE,
      doc: "Memory of the command and its children; unset means three quarters of the machine's.",
      spec: 'O7',
      strictness: 'lower',
    },
    {
      name: 'processes',
      type: integer(1),
      default: 1024,
      doc: 'Processes and threads at one time.',
      spec: 'O7',
      strictness: 'lower',
    },
    {
      name: 'cpu',
      type: SECONDS,
      doc: 'Processor time of one process; unset means no limit.',
      spec: 'O7',
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
    },
    {
      name: 'arguments',
      type: BOOLEAN,
      default: false,
      doc: 'True stores arguments verbatim (secrets masked) instead of their hash.',
      spec: 'A1',
      organisation: 'true',
    },
  ],
}

const DEBUG: Section = {
  path: 'debug',
  doc: 'For debugging Cordon itself.',
  spec: 'A6',
  example: '[debug]\ndump_provider_payloads = false\n',
  keys: [
    {
      name: 'dump_provider_payloads',
      type: BOOLEAN,
      default: false,
      doc: 'Writes requests to and answers from the model to disk, in clear text. Warns when on.',
      spec: 'A6',
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
  MCP_RULES,
  DEBUG,
]
