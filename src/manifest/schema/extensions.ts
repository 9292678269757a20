/** The sections for what a project brings from elsewhere: MCP servers, custom tools, components. */

import { BOOLEAN, choice, LEVEL, listOf, SECONDS, type Section, SIZE, text } from './key.ts'
import { HOST_ENTRY } from './reach.ts'

export const COMPONENTS: Section = {
  path: 'components.*',
  doc: 'An agent that is a WASM component, by a name you choose: exactly these bytes, with these tools. `cordon agent run` runs no other.',
  spec: 'T6',
  example: `[components.reviewer]
sha256 = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
tools = ["read", "grep"]
`,
  keys: [
    { name: 'sha256', type: text(), doc: 'The hash of the file.', spec: 'T6' },
    {
      name: 'tools',
      type: listOf(text()),
      default: [],
      doc: 'Tools that it may call, each call guarded as any other.',
      spec: 'T6',
    },
    { name: 'model', type: BOOLEAN, default: false, doc: 'It may use the model of the chosen profile.', spec: 'T6' },
    { name: 'storage', type: SIZE, default: 1_048_576, doc: 'How much it may store between runs.', spec: 'T6' },
    { name: 'memory', type: SIZE, default: 268_435_456, doc: 'Memory of the component.', spec: 'T6' },
  ],
}

export const TOOLS: Section = {
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
      organisation: 'false',
    },
    {
      name: 'require_confirmation',
      type: BOOLEAN,
      doc: 'True asks before every call.',
      spec: 'P5, T2',
      organisation: 'true',
    },
    { name: 'timeout', type: SECONDS, doc: 'How long a call may take.', spec: 'T2' },
    { name: 'max_output_bytes', type: SIZE, doc: 'How much output is kept.', spec: 'T2' },
    {
      name: 'env_vars',
      type: listOf(text('env')),
      doc: 'Narrows the variables that it declares to these. Unset: all of them.',
      spec: 'T2, O6',
      merge: 'meet',
    },
    {
      name: 'domains',
      type: listOf(HOST_ENTRY),
      doc: 'Narrows the hosts that it declares to these. Unset: all of them.',
      spec: 'T2',
      merge: 'meet',
    },
  ],
}

export const MCP_SERVERS: Section = {
  path: 'mcp_servers.*',
  doc: 'An MCP server that `cordon mcp wrap` runs or reaches, by name, with its own grants and nothing else.',
  spec: 'X2',
  example: `[mcp_servers.files]
command = "npx -y @modelcontextprotocol/server-filesystem docs"
read = ["docs/**"]
`,
  keys: [
    {
      name: 'command',
      type: text(),
      doc: 'The program and its arguments. No shell runs it; quotes group words. Required, or `url`.',
      spec: 'X2',
    },
    {
      name: 'url',
      type: text('web-address'),
      doc: 'The address of a server elsewhere, reached over streamable HTTP. Its host is granted; an authorization server on another host needs an entry in `domains`.',
      spec: 'X2, N3',
    },
    {
      name: 'headers',
      type: listOf(text('header-source')),
      default: [],
      doc: 'Headers for a server at a `url`, each with the source of its value: `x-api-key: keychain:issues`, `authorization: Bearer env:ISSUES_TOKEN`. They go to the origin of `url` alone; neither commands nor the agent see the values.',
      spec: 'X2, N7',
    },
    {
      name: 'read',
      type: listOf(text('path')),
      doc: 'What it may read. Unset: what commands may read and write.',
      spec: 'X2, O3',
    },
    {
      name: 'write',
      type: listOf(text('path')),
      doc: 'What it may write, if `read` or `write` is set.',
      spec: 'X2, O3',
    },
    {
      name: 'domains',
      type: listOf(HOST_ENTRY),
      default: [],
      doc: 'Hosts it may reach, without the default domains of commands.',
      spec: 'X2, N1',
    },
    {
      name: 'env_vars',
      type: listOf(text('env')),
      default: [],
      doc: 'Variables of your environment that it sees.',
      spec: 'X2, O6',
    },
    {
      name: 'secrets',
      type: listOf(text('env-name')),
      default: [],
      doc: 'Entries of `[[secrets]]`, by name, that are brokered for it.',
      spec: 'X2, N7',
    },
    {
      name: 'requests',
      type: listOf(choice('elicitation', 'sampling', 'roots')),
      default: ['elicitation'],
      doc: 'What it may ask of the client: `elicitation` a form for you, marked with its name; `sampling` your model, after a yes each time; `roots` the project directory.',
      spec: 'X2',
    },
  ],
}

const MCP_LEVEL = choice('deny', 'ask', 'allow')

export const MCP_RULES: Section = {
  path: 'mcp.*',
  doc: 'Rules for the tools of an MCP server behind `cordon mcp wrap`, by the name of the server. Levels in `[permission.tools]` that deny take precedence.',
  spec: 'X2',
  example: `[mcp.issues]
trust_hints = true
read_only = "allow"
tools = [{ tool = "create_*", args = ["repo=acme/*"] }, { tool = "delete_*", level = "deny" }]
`,
  keys: [
    {
      name: 'tools',
      type: listOf({
        kind: 'entry',
        short: 'tool',
        fields: [
          { name: 'tool', type: text(), required: true, doc: 'A name, or a glob of names (`get_*`).' },
          { name: 'level', type: LEVEL, doc: '`allow` unless written. Of several entries the strictest applies.' },
          {
            name: 'args',
            type: listOf(text()),
            doc: 'Conditions on arguments: `repo=acme/*` a text, `path=./docs/**` a path (also `/` and `~/`) by the file rules, `url=https://api.example.com/v1/**` an address by the host rules. All must be met.',
          },
        ],
      }),
      default: [],
      doc: 'Tools by name and argument.',
      spec: 'X2',
      merge: 'concat',
    },
    {
      name: 'trust_hints',
      type: BOOLEAN,
      default: false,
      doc: 'Believe what the server says of its tools (`readOnlyHint`, `destructiveHint`). Hints are claims: they are pinned with the tool, and a change asks.',
      spec: 'X2',
      strictness: 'false',
    },
    {
      name: 'read_only',
      type: MCP_LEVEL,
      doc: 'With `trust_hints`: tools that only read.',
      spec: 'X2',
      strictness: 'choice-order',
    },
    {
      name: 'destructive',
      type: MCP_LEVEL,
      doc: 'With `trust_hints`: tools that may destroy, by the hint or for want of one.',
      spec: 'X2',
      strictness: 'choice-order',
    },
  ],
}
