/** The sections that say how Cordon decides: permission, review, security, shell_policy, agents, rings. */

import { DEFAULT_REVIEW_BOUND, REVIEW_BOUNDS } from '../../policy/review-bound.ts'
import {
  BOOLEAN,
  choice,
  integer,
  type Key,
  LEVEL,
  listOf,
  MODE,
  MODE_OR_OBSERVE,
  SECONDS,
  type Section,
  SIZE,
  text,
} from './key.ts'

function flag(name: string, value: boolean, stricter: boolean, doc: string, spec = 'S2'): Key {
  return {
    name,
    type: BOOLEAN,
    default: value,
    doc,
    spec,
    strictness: stricter ? 'true' : 'false',
  }
}

const PERMISSION: Section = {
  path: 'permission',
  doc: 'How Cordon answers a call that no rule decides.',
  spec: 'P0-P5, P10',
  example: '[permission]\nmode = "contained"\n',
  keys: [
    {
      name: 'mode',
      type: MODE_OR_OBSERVE,
      default: 'custom',
      doc: '`plan` denies edits and commands. `default` asks before them. `auto_accept` edits without asking and asks before commands. `contained` asks only if an action leaves the sandbox or cannot be undone. `auto` runs everything that no deny rule stops. `custom` follows the rules as written. `observe`, in your own `cordon.toml` alone, keeps the mode of the project, asks nothing, and records what would have been asked.',
      spec: 'P2, P10',
    },
    {
      name: 'agent',
      type: text('agent'),
      default: 'build',
      doc: 'The first agent: `build`, `plan` (read-only), or one of `[agents]`.',
      spec: 'P3',
    },
    {
      name: 'interactive',
      type: BOOLEAN,
      default: true,
      doc: 'False: Cordon never asks, and every ask is a refusal.',
      spec: 'P0',
    },
    {
      name: 'auto_accept',
      type: BOOLEAN,
      default: false,
      doc: 'In mode `custom`: true turns every remaining ask into an allow. Deny rules still apply.',
      spec: 'P2',
    },
  ],
}

const REVIEW: Section = {
  path: 'review',
  doc: 'A reviewer answers questions for you, within a bound. Set it in your own `~/.config/cordon/cordon.toml`; a project can only lower `up_to` and `per_hour`.',
  spec: 'P11',
  example: '[review]\nwith = ["cordon", "review", "model", "anthropic"]\nup_to = "adds"\n',
  keys: [
    {
      name: 'with',
      type: listOf(text()),
      doc: 'The program and its arguments. It reads the question as JSON on stdin and writes its answer as JSON. `cordon review model PROFILE` asks a model that `cordon login` has set up.',
      spec: 'P11',
      personal: true,
    },
    {
      name: 'up_to',
      type: choice('none', ...REVIEW_BOUNDS),
      default: DEFAULT_REVIEW_BOUND,
      doc: 'The worst case up to which the reviewer may say yes. `none`: it is not asked. `nothing`: nothing leaves. `undo`: `cordon undo` restores it. `granted-host`: one granted host receives project files. `reads`: files outside the project are read. `host`: one host that is not granted receives project files. `adds`: something is added elsewhere, such as a branch.',
      spec: 'P11',
      strictness: 'choice-order',
      tightens: true,
    },
    {
      name: 'per_hour',
      type: integer(0, 10_000),
      default: 60,
      doc: 'How many questions the reviewer gets in an hour, in all projects together. The others are asked of you.',
      spec: 'P11',
      strictness: 'lower',
      tightens: true,
    },
    {
      name: 'timeout',
      type: integer(1, 30),
      default: 20,
      doc: 'Seconds. After this time without an answer you are asked.',
      spec: 'P11',
      personal: true,
    },
    {
      name: 'instructions',
      type: text(),
      doc: 'What you want it to do, in your own words. It reads them with each question.',
      spec: 'P11',
      personal: true,
    },
  ],
}

const PERMISSION_TOOLS: Section = {
  path: 'permission.tools',
  doc: 'The level of a tool, by name. A `deny` from any layer applies.',
  spec: 'P1',
  example: '[permission.tools]\nbash = "ask"\nwebfetch = "deny"\n',
  keys: [
    {
      name: '*',
      type: LEVEL,
      doc: '`allow` runs at once, `ask` needs a yes, `deny` never runs.',
      spec: 'P1',
      merge: 'deny-wins',
    },
  ],
}

const FLOWS: Section = {
  path: 'flows',
  doc: 'Where data may go. A key is `LABEL -> RECEIVER`. A label says what a session has read: `secret`, `outside` (files outside the project), `neighbour` (another repository), `instructions` (text aimed at the agent), a host, or `mcp:SERVER`. A receiver is a host, `*.example.com`, `mcp:SERVER`, a command such as `git push`, `files`, or `*` for all but files. The first four labels ask before anything receives them.',
  spec: 'A3',
  example: '[flows]\n"outside -> *.github.com" = "deny"\n"neighbour -> git push" = "allow"\n',
  keys: [
    {
      name: '*',
      names: 'flow',
      type: LEVEL,
      doc: '`deny` takes precedence over `allow`, and `allow` over `ask`.',
      spec: 'A3',
      merge: 'deny-wins',
    },
  ],
}

const SECURITY: Section = {
  path: 'security',
  doc: 'Which shell features a command may use, and when Cordon asks. A project can only make what the user has set here stricter.',
  spec: 'S2, F6, P7, P9, N2',
  example: '[security]\nredirects = "all"\ncommand_substitution = true\noutside_roots = "ask"\n',
  keys: [
    flag(
      'background',
      true,
      false,
      'Commands in the background: `cmd &`, and programs that detach: `setsid`, `at`, `screen -dm`. Code that forks by itself ends with its command.',
    ),
    flag('case_terminator', true, false, 'The `;;` of a case statement.'),
    flag('compound', true, false, 'Several commands in one: `&&`, `||`, `;`.'),
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax.
    flag('parameter_expansion', true, false, 'Variables: `$VAR`, `${VAR}` and its forms.'),
    flag('pipes', true, false, 'Pipes: `a | b`.'),
    {
      name: 'redirects',
      type: choice('none', 'streams', 'all'),
      default: 'streams',
      doc: '`none`; `streams`: descriptor merges, here-documents and /dev/null, which touch no file; `all`: files too, judged by the file rules.',
      spec: 'S2',
      strictness: 'choice-order',
    },
    flag('command_substitution', false, false, 'Substitutions: `$(…)`, backticks, `<(…)`, `>(…)`.'),
    flag(
      'implicit_coordinators',
      true,
      false,
      'echo, printf, true, false, :, exit, cd, pwd, pushd and popd need no grant.',
    ),
    flag(
      'privilege_wrappers',
      false,
      false,
      'Permits granting sudo or doas. It warns at every load and gains nothing inside the sandbox.',
    ),
    flag(
      'every_program',
      false,
      true,
      'Each program that a command of an agent starts needs a grant, not only its text.',
      'S8',
    ),
    flag('system_python', false, false, 'Permits granting an interpreter, such as `python3:*` or `uv run:*`.'),
    flag(
      'runtime_grants',
      true,
      false,
      'False locks the agent to the signed set: no prompts, no saving, every ask a refusal.',
      'P7',
    ),
    {
      name: 'outside_roots',
      type: choice('deny', 'ask'),
      default: 'deny',
      doc: 'A path outside the project and the granted directories: `deny`, or `ask`. A yes extends the roots.',
      spec: 'P0',
      strictness: 'choice-order',
    },
    flag('hide_model', false, true, 'Keeps the names of the model and its provider out of the system prompt.', 'P9'),
    flag(
      'prompt_reads',
      true,
      true,
      'If there are read grants, a read they do not cover asks. False: reads inside the roots are allowed.',
      'F6',
    ),
    flag('filter_listings', false, true, 'Lists, globs and searches show only what may be read.', 'F6'),
    flag(
      'taint_asks',
      false,
      true,
      'After a tool result with instructions aimed at the agent, writes and commands ask as well: the flow `instructions -> files`.',
      'A3',
    ),
    {
      name: 'deny_domains',
      type: listOf(text('denied-host')),
      default: [],
      doc: 'Hosts, `*.domain` wildcards and addresses that are denied on every surface. `*` is every host, `*:22` port 22 of every host.',
      spec: 'N2',
      merge: 'concat',
      strictness: 'union',
    },
  ],
}

const SHELL_POLICY: Section = {
  path: 'shell_policy',
  doc: 'Case-insensitive substrings of the command text. A filter: it never grants.',
  spec: 'S7',
  example: '[shell_policy]\ndeny = ["rm -rf /", "dd if="]\n',
  keys: [
    {
      name: 'allow',
      type: listOf(text('substring')),
      default: [],
      doc: 'If not empty, a command must contain one of these.',
      spec: 'S7',
      merge: 'meet',
    },
    {
      name: 'deny',
      type: listOf(text('substring')),
      default: [],
      doc: 'A command that contains one of these is denied. Checked first.',
      spec: 'S7',
      merge: 'concat',
    },
  ],
}

const AGENTS: Section = {
  path: 'agents.*',
  doc: 'Your own agent, by name. `build` and `plan` can be changed as well.',
  spec: 'P3, P8',
  example: '[agents.reviewer]\ntrust_score = 0.5\nmode = "plan"\n',
  keys: [
    {
      name: 'trust_score',
      type: { kind: 'number', min: 0, max: 1 },
      default: 0.7,
      doc: 'From 0.80 ring 1, from 0.60 ring 2: both write and run. Below that ring 3: read and list only.',
      spec: 'P8',
    },
    {
      name: 'mode',
      type: MODE,
      doc: 'The mode while this agent works; otherwise `permission.mode`.',
      spec: 'P2',
    },
  ],
}

const AGENT_TOOLS: Section = {
  path: 'agents.*.tools',
  doc: 'Levels of tools for this agent. They take precedence over `[permission.tools]`.',
  spec: 'P1, P3',
  example: '[agents.reviewer.tools]\nbash = "deny"\n',
  keys: PERMISSION_TOOLS.keys,
}

const BREAKER: Section = {
  path: 'rings.breaker',
  doc: 'A run of failures or denials stops an agent for a while.',
  spec: 'P8',
  example: '[rings.breaker]\nfailures = 5\ncooldown = "30s"\n',
  keys: [
    {
      name: 'failures',
      type: integer(1, 1000),
      default: 5,
      doc: 'So many failures or denials in a row open the breaker.',
      spec: 'P8',
    },
    {
      name: 'cooldown',
      type: SECONDS,
      default: 30,
      doc: 'How long it stays open before one call may try.',
      spec: 'P8',
    },
  ],
}

const RING_MEMORY: Key = {
  name: 'memory',
  type: SIZE,
  doc: 'Memory one call may use; the stricter of this and `limits.memory` applies.',
  spec: 'P8',
}

function ring(number: 1 | 2 | 3): Section {
  return {
    path: `rings.${number}`,
    doc: `Limits of agents in ring ${number} (${['trust 0.80 and up', 'trust 0.60 and up', 'below 0.60: read and list only'][number - 1]}).`,
    spec: 'P8',
    example: `[rings.${number}]\ncalls_per_minute = 60\n`,
    keys: [
      {
        name: 'calls_per_minute',
        type: integer(1),
        doc: 'Tool calls in any minute; unset means no limit.',
        spec: 'P8',
      },
      {
        name: 'seconds',
        type: SECONDS,
        doc: 'Time one call may take; the stricter of this and `limits.command_timeout` applies.',
        spec: 'P8',
      },
      ...(number === 3 ? [] : [RING_MEMORY]),
    ],
  }
}

export const GUARD_SECTIONS: readonly Section[] = [
  PERMISSION,
  PERMISSION_TOOLS,
  REVIEW,
  FLOWS,
  SECURITY,
  SHELL_POLICY,
  AGENTS,
  AGENT_TOOLS,
  BREAKER,
  ring(1),
  ring(2),
  ring(3),
]
