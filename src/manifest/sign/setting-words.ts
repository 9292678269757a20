/** The words for single settings: a sentence for each value, or a name before it. */

import type { Plain } from '../toml/tree.ts'

/** A name before the values, or a sentence for each. `{}` is the name of an agent or tool. */
export type SettingWords = string | Readonly<Record<string, string>>

/** By the path in the schema; every setting except lists with their own words has a row. */
export const SETTING_WORDS: Readonly<Record<string, SettingWords>> = {
  'permission.mode': {
    plan: 'Nothing is written or run.',
    default: 'Edits and commands ask.',
    custom: 'Each tool asks or runs by its own level; commands ask.',
    auto_accept: 'Edits run without asking; commands ask.',
    contained: 'What stays inside the sandbox runs without asking; what reaches out or cannot be undone asks.',
    auto: 'EVERYTHING that no rule denies runs without asking.',
    observe: 'Nothing: only ~/.config/cordon/cordon.toml can set observe mode.',
  },
  'permission.agent': 'The agent at the start',
  'permission.interactive': {
    true: 'What asks is put to you.',
    false: 'No questions: what would ask is refused.',
  },
  'permission.auto_accept': {
    true: 'EVERY ask is answered with yes, without asking you.',
    false: 'Asks are put to you.',
  },
  'permission.tools.*': {
    allow: 'The tool {} runs without asking.',
    ask: 'The tool {} asks.',
    deny: 'The tool {} never runs.',
  },
  'flows.*': {
    allow: 'Data may flow without asking: {}.',
    ask: 'Data asks before it flows: {}.',
    deny: 'Data never flows: {}.',
  },
  'review.with': 'Questions are answered for you, within a bound, by',
  'review.up_to': {
    none: 'No reviewer answers questions.',
    nothing: 'A reviewer may say yes where nothing leaves.',
    undo: 'A reviewer may say yes where undo restores everything.',
    'granted-host': 'A reviewer may say yes where one granted host receives project files.',
    reads: 'A reviewer may say yes to reads outside the project.',
    host: 'A reviewer may say yes where one host that is not granted receives project files.',
    adds: 'A reviewer may say yes where something is added elsewhere, such as a branch.',
  },
  'review.per_hour': 'Questions an hour that the reviewer gets',
  'review.timeout': 'Seconds for an answer of the reviewer',
  'review.instructions': 'The reviewer is instructed',
  'security.background': flag(
    'Commands may run in the background (`cmd &`)',
    'Commands may not run in the background (`cmd &`)',
  ),
  'security.case_terminator': flag('`case` statements may be used', '`case` statements may not be used'),
  'security.compound': flag(
    'One command text may contain several commands (`&&`, `||`, `;`)',
    'A command text contains one command, without `&&`, `||` or `;`',
  ),
  'security.parameter_expansion': flag(
    'Variables may be used in commands (`$VAR`)',
    'Variables may not be used in commands (`$VAR`)',
  ),
  'security.pipes': flag('Pipes may be used (`a | b`)', 'Pipes may not be used (`a | b`)'),
  'security.redirects': {
    none: 'Commands redirect nothing.',
    streams: 'Commands redirect no files, only their streams.',
    all: 'Commands may redirect to and from files, as the file rules allow (`> file`).',
  },
  'security.command_substitution': flag(
    'Substitutions may be used, judged by the commands inside (`$(…)`)',
    'Substitutions may not be used (`$(…)`)',
  ),
  'security.implicit_coordinators': flag(
    'echo, cd and their like need no grant',
    'echo, cd and their like need a grant',
  ),
  'security.privilege_wrappers': flag('sudo and doas may be granted', 'sudo and doas cannot be granted'),
  'security.system_python': flag('Interpreters may be granted, which run any code', 'Interpreters cannot be granted'),
  'security.every_program': flag(
    'Programs that a command starts need a grant as well',
    'Programs that a command starts need no grant',
  ),
  'security.runtime_grants': {
    true: 'Your answers may open more than what is signed.',
    false: 'Nothing beyond what is signed: what would ask is refused.',
  },
  'security.outside_roots': {
    deny: 'Paths outside the project are refused.',
    ask: 'Paths outside the project ask.',
  },
  'security.hide_model': flag('The model does not see its own name', 'The model sees its own name'),
  'security.prompt_reads': {
    true: 'Reads that no grant covers ask.',
    false: 'Everything in the project may be read without asking.',
  },
  'security.filter_listings': flag(
    'Lists and searches show only what may be read',
    'Lists and searches also show names that may not be read',
  ),
  'security.taint_asks': flag(
    'After text that tries to steer the agent, writes and commands ask',
    'After text that tries to steer the agent, writes and commands ask no more than before',
  ),
  'agents.*.trust_score': 'How far the agent {} is trusted (0 to 1; below 0.6 it only reads)',
  'agents.*.mode': {
    plan: 'For the agent {}: nothing is written or run.',
    default: 'For the agent {}: edits and commands ask.',
    custom: 'For the agent {}: each tool asks or runs by its own level.',
    auto_accept: 'For the agent {}: edits run without asking; commands ask.',
    contained: 'For the agent {}: what stays inside the sandbox runs without asking.',
    auto: 'For the agent {}: EVERYTHING that no rule denies runs without asking.',
  },
  'agents.*.tools.*': {
    allow: 'For the agent {}: the tool {} runs without asking.',
    ask: 'For the agent {}: the tool {} asks.',
    deny: 'For the agent {}: the tool {} never runs.',
  },
  'rings.breaker.failures': 'Failures in a row after which an agent has to wait',
  'rings.breaker.cooldown': 'Seconds for which it has to wait',
  'rings.*.calls_per_minute': 'Calls a minute in ring {}',
  'rings.*.seconds': 'Seconds for a call in ring {}',
  'rings.*.memory': 'Memory for a call in ring {}',
  'capabilities.python.allowed_modules': 'The only Python modules for code of the agent',
  'capabilities.python.blocked_modules': 'Python modules that code of the agent cannot import',
  'files.discovery_brief': 'The file that names what may be changed',
  'files.read_size_limit': 'Characters that one read returns',
  'files.session_directory': {
    own: 'A session writes into its own directory.',
    project: 'A session writes into the project.',
  },
  'http.allow_private_hosts': flag(
    'The web tools reach private addresses and this machine itself',
    'The web tools cannot reach private addresses or this machine itself',
  ),
  'packages.minimum_age': 'Seconds since a version of a package was published, at least',
  'packages.new_dependencies': levels('Packages that no committed lock file names'),
  'packages.install_scripts': levels('Packages that run their own code when they are installed'),
  'packages.look_alikes': levels('Packages whose name is one edit away from a popular one'),
  'sandbox.os.backend': {
    bwrap: 'Commands run in bubblewrap.',
    landlock: 'Commands run behind Landlock, without namespaces.',
    runc: 'Commands run in containers of runc.',
    runsc: 'Commands run in gVisor, without network.',
  },
  'sandbox.os.require': {
    nothing: 'Commands run without namespaces where the machine refuses them.',
    namespaces: 'No command runs where the machine refuses namespaces.',
  },
  'sandbox.os.command_fs': {
    none: 'Commands see nothing of the system without a grant.',
    system: 'Commands see the programs of the system, and nothing else of yours.',
    permissive: 'Commands see your HOME DIRECTORY, but for what looks like a secret.',
    all: 'Commands see ALL FILES of this machine.',
  },
  'sandbox.os.command_mask_secrets': {
    true: 'Keys and secret-shaped files are hidden from commands.',
    false: 'Keys and secret-shaped files are NOT HIDDEN from commands.',
  },
  'sandbox.os.mask_tracked': flag(
    'Secret-shaped files that git has are hidden as well',
    'Secret-shaped files that git has are shown',
  ),
  'sandbox.os.wrappers': 'Build tools that get what the tools have which they run',
  'network.parent_proxy': 'The proxy through which connections leave',
  'network.parent_proxy_login': 'Where the login for that proxy is',
  'network.no_proxy': 'Hosts that are reached without that proxy',
  'network.special_ranges': 'Special addresses that names may resolve to',
  'sandbox.run.engines': 'What runs programs of the model, the first that works',
  'sandbox.run.image': 'The image for programs of the model',
  'sandbox.run.memory': 'Memory for programs of the model, in bytes',
  'sandbox.run.timeout': 'Seconds for programs of the model',
  'components.*.sha256': 'The component {} may run, with the hash',
  'components.*.tools': 'Tools that the component {} may call',
  'components.*.model': flag('The component {} may ask the model', 'The component {} may not ask the model'),
  'components.*.storage': 'Bytes that the component {} may keep',
  'components.*.memory': 'Memory of the component {}, in bytes',
  'limits.command_timeout': 'Seconds after which a command is ended',
  'limits.max_output_bytes': 'Bytes of output that are kept of a command',
  'limits.memory': 'Memory of a command, in bytes',
  'limits.processes': 'Processes of a command at one time',
  'limits.cpu': 'Seconds of processor time for a process',
  'approvals.webhook': 'Questions are also sent, without their secrets, to',
  'approvals.format': {
    json: 'Questions that are sent are JSON.',
    ntfy: 'Questions that are sent are messages of ntfy.',
  },
  'approvals.answer_url': 'Links that answer a question begin with',
  'approvals.desktop': flag(
    'Questions are also shown as desktop notifications',
    'Questions are not shown as desktop notifications',
  ),
  'audit.max_bytes': 'Bytes after which the record begins a new file',
  'audit.arguments': flag(
    'The record keeps the arguments of calls in clear text, secrets masked',
    'The record does not keep the arguments of calls',
  ),
  'tools.*.enabled': { true: 'The tool {} is offered.', false: 'The tool {} is not offered.' },
  'tools.*.require_confirmation': { true: 'The tool {} asks each time.', false: 'The tool {} does not ask each time.' },
  'tools.*.timeout': 'Seconds for a call of the tool {}',
  'tools.*.max_output_bytes': 'Bytes of output that are kept of the tool {}',
  'tools.*.env_vars': 'Variables that the tool {} sees, of those it wants',
  'tools.*.domains': 'Hosts that the tool {} reaches, of those it wants',
  'mcp.*.trust_hints': flag(
    'What the MCP server {} says of its tools is believed',
    'What the MCP server {} says of its tools is not believed',
  ),
  'mcp.*.read_only': toolLevels('The tools of the MCP server {} that say they only read'),
  'mcp.*.destructive': toolLevels('The tools of the MCP server {} that may destroy'),
  'mcp_servers.*.command': 'The MCP server {} is started, by',
  'mcp_servers.*.url': 'The MCP server {} is reached at',
  'mcp_servers.*.read': 'The MCP server {} may read',
  'mcp_servers.*.write': 'The MCP server {} may write',
  'mcp_servers.*.domains': 'The MCP server {} may reach',
  'mcp_servers.*.env_vars': 'The MCP server {} sees the variables',
  'mcp_servers.*.secrets': 'The MCP server {} uses the secrets',
  'mcp_servers.*.requests': 'The MCP server {} may ask you for',
  'debug.dump_provider_payloads': flag(
    'What is sent to the model, and its answers, are written to disk in clear text',
    'What is sent to the model, and its answers, are not written to disk',
  ),
}

function toolLevels(what: string): SettingWords {
  return { deny: `${what} never run.`, ask: `${what} ask.`, allow: `${what} run without asking.` }
}

function levels(what: string): SettingWords {
  return { deny: `${what} are refused.`, ask: `${what} ask.`, allow: `${what} are installed without asking.` }
}

function flag(on: string, off: string): SettingWords {
  return { true: `${on}.`, false: `${off}.` }
}

/** One sentence for a setting that was `old` and is `now`; `names` replace its stars. */
export function settingSentence(words: SettingWords, names: readonly string[], old: Plain, now: Plain): string {
  const left = [...names]
  const named = (text: string) => text.replace(/\{\}/g, () => JSON.stringify(left.shift() ?? ''))
  if (typeof words === 'object') {
    const sentence = words[String(now)]
    if (sentence !== undefined) return named(sentence)
    // Unset: another value now applies.
    return `No longer: ${named(words[String(old)] ?? 'what was set before')}`
  }
  const before = old === null ? '' : ` (it was ${shown(old)})`
  return `${named(words)}: ${shown(now)}${before}.`
}

function shown(value: Plain): string {
  if (value === null) return 'as usual'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map((item) => shown(item as Plain)).join(', ')
  if (typeof value === 'object')
    return Object.values(value)
      .map((field) => shown(field as Plain))
      .join(' ')
  return String(value)
}
