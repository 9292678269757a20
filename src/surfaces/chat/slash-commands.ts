/** Slash commands, one row each, for running, help and completion. */

import type { AgentSession } from '../../chat/agent-session.ts'
import { listTranscripts } from '../../chat/transcript.ts'
import { VERDICTS } from '../../policy/order.ts'
import { MODES } from '../../policy/policy.ts'
import { ProjectUndo } from '../../run/undo.ts'
import type { Machine } from '../../system/machine.ts'
import { spentText } from './view/tool-view.ts'

/** What a command may do besides the agent. */
export interface CommandHost {
  readonly machine: Machine
  readonly agent: AgentSession
  /** Prints lines; the printer escapes other people's text. */
  say(lines: readonly string[]): void
  /** Switches to another conversation. */
  resume(id: string): Promise<void>
  /** Compacts the conversation; can be interrupted. */
  compact(): Promise<void>
  leave(): void
}

export interface SlashCommand {
  readonly name: string
  readonly usage: string
  readonly about: string
  /** Completions for its argument. */
  readonly words?: (agent: AgentSession) => readonly string[]
  readonly run: (host: CommandHost, words: readonly string[]) => void | Promise<void>
}

/** A mistyped command. */
export class CommandError extends Error {
  override readonly name = 'CommandError'
}

export const slashCommands: readonly SlashCommand[] = [
  {
    name: 'mode',
    usage: '/mode [NAME]',
    about: 'Show or change the mode: how much is asked.',
    words: () => MODES,
    run: ({ agent, say }, [name]) => {
      if (name !== undefined) agent.setMode(oneOf(MODES, name, 'mode'))
      say([`mode: ${agent.session.mode}`])
    },
  },
  {
    name: 'agent',
    usage: '/agent [NAME]',
    about: 'Show or change the agent; Tab at an empty prompt switches build and plan.',
    words: (agent) => ['build', 'plan', ...agent.cordon.loaded().policy.agents.keys()],
    run: ({ agent, say }, [name]) => {
      if (name !== undefined) agent.setAgent(name)
      say([`agent: ${agent.session.agent}`])
    },
  },
  {
    name: 'perm',
    usage: '/perm TOOL LEVEL',
    about: 'Set a tool to allow, ask or deny for this session.',
    words: (agent) => [...agent.session.tools().map(({ name }) => name), ...VERDICTS],
    run: ({ agent, say }, [tool, level]) => {
      if (tool === undefined || level === undefined) throw new CommandError('say /perm TOOL LEVEL')
      const names = agent.session.tools().map(({ name }) => name)
      agent.session.setLevel(oneOf(names, tool, 'tool'), oneOf(VERDICTS, level, 'level'))
      say([`${tool}: ${agent.session.permissions().find((row) => row.tool === tool)?.level}`])
    },
  },
  {
    name: 'perms',
    usage: '/perms',
    about: 'Show every tool’s level and where it comes from.',
    run: ({ agent, say }) =>
      say(
        agent.session
          .permissions()
          .map(({ tool, level, rule, source }) => `${tool.padEnd(14)} ${level.padEnd(6)} ${rule} (${source})`),
      ),
  },
  {
    name: 'sandbox',
    usage: '/sandbox',
    about: 'Show where the agent works, and what its commands see, change and reach.',
    run: ({ agent, say }) => {
      const box = agent.session.sandbox()
      const { directory, enforced } = box
      const row = (label: string, items: readonly string[], none: string) =>
        `${label.padEnd(9)} ${items.length === 0 ? none : items.join(', ')}`
      const others = box.roots.filter((root) => root !== directory)
      say([
        `${'works in'.padEnd(9)} ${directory}${enforced ? '' : ' (from the first write on)'}`,
        ...(others.length > 0 ? [row('roots', others, '')] : []),
        row('shows', [`${box.commandFs} files`, ...box.reads], ''),
        row('writes', box.writes, 'the roots'),
        row('denies', box.denied, 'nothing more than secrets and protected files'),
        row('secrets', [], box.hidesSecrets ? 'hidden from commands' : 'SHOWN to commands'),
        row('hosts', box.hosts, 'those of each grant alone'),
        row('bundles', box.tools, 'none'),
      ])
    },
  },
  {
    name: 'provider',
    usage: '/provider [NAME]',
    about: 'Show the profiles, or change to one.',
    words: ({ config }) => [...config.profiles.keys()],
    run: ({ agent, say }, [name]) => {
      if (name !== undefined) agent.setProfile(name)
      const { profiles } = agent.config
      say(
        [...profiles.values()].map(
          (one) =>
            `${one.name === agent.model.profile ? '*' : ' '} ${one.name.padEnd(14)} ${one.baseUrl}  ${one.name === agent.model.profile ? agent.model.name : (one.model ?? '')}`,
        ),
      )
    },
  },
  {
    name: 'model',
    usage: '/model [NAME]',
    about: 'Show or change the model.',
    run: ({ agent, say }, [name]) => {
      if (name !== undefined) agent.setModel(name)
      say([`model: ${agent.model.name} (${agent.model.profile}, window ${agent.model.context} tokens)`])
    },
  },
  {
    name: 'undo',
    usage: '/undo [CALL]',
    about: 'Undo the changes of the last call, or of the one that is named.',
    words: (agent) => undoable(agent).calls.map(({ id }) => id),
    run: ({ agent, say }, [id]) => {
      const { project, calls } = undoable(agent)
      const call = id === undefined ? calls[0] : calls.find((one) => one.id === id)
      if (!call) throw new CommandError(id === undefined ? 'nothing to undo' : `call ${id} cannot be undone`)
      const { id: undone, conflicts, failed } = project.undo(call, false)
      say([
        ...conflicts.map(({ path, what }) => `${path}: ${what}`),
        ...failed.map(({ path, error }) => `${path}: not restored (${error})`),
        undone === null
          ? `nothing was restored: this changed since ${call.id}`
          : `${call.id} is undone: ${call.about.what}`,
      ])
    },
  },
  {
    name: 'diff',
    usage: '/diff [CALL]',
    about: 'Show what the last call changed, or the one that is named; /diff all lists the calls.',
    words: (agent) => ['all', ...undoable(agent).calls.map(({ id }) => id)],
    run: ({ agent, say }, [id]) => {
      const { project, calls } = undoable(agent)
      if (id === 'all') return say(calls.slice(0, 30).map((call) => `${call.id}  ${call.about.what}`))
      const call = id === undefined ? calls[0] : calls.find((one) => one.id === id)
      if (!call) throw new CommandError(id === undefined ? 'no call changed a file' : `call ${id} is not kept`)
      const { made: created, changed, removed } = project.show(call).changes
      const diffs = project.diffs(call)
      const lines = (mark: string, path: string) => {
        const diff = (diffs.get(path) ?? '').split('\n').filter((line) => line !== '')
        const more = diff.length - DIFF_LINES
        return [
          `${mark} ${path}`,
          ...diff.slice(0, DIFF_LINES).map((line) => `    ${line}`),
          ...(more > 0 ? [`    … ${more} more lines: cordon undo --diff ${call.id}`] : []),
        ]
      }
      say([
        `${call.id}  ${call.about.what}`,
        ...created.flatMap((path) => lines('+', path)),
        ...changed.flatMap((path) => lines('~', path)),
        ...removed.flatMap((path) => lines('-', path)),
      ])
    },
  },
  {
    name: 'compact',
    usage: '/compact',
    about: 'Replace the older part of the conversation by a summary.',
    run: (host) => host.compact(),
  },
  {
    name: 'resume',
    usage: '/resume [ID]',
    about: 'List the conversations of this project, or resume one.',
    words: ({ cordon, machine }) => listTranscripts(machine, cordon.root).map(({ id }) => id),
    run: async ({ agent, machine, say, resume }, [id]) => {
      if (id !== undefined) return resume(id)
      const rows = listTranscripts(machine, agent.cordon.root).slice(0, 20)
      const line = (row: (typeof rows)[number]) =>
        `${row.id}  ${new Date(row.changed).toISOString().slice(0, 16).replace('T', ' ')}  ${row.title.slice(0, 60)}`
      say(rows.length === 0 ? ['there are none yet'] : rows.map(line))
    },
  },
  {
    name: 'clear',
    usage: '/clear',
    about: 'Start a new conversation; levels, labels and cost stay.',
    run: ({ agent, say }) => {
      agent.agent.clear()
      say(['cleared'])
    },
  },
  {
    name: 'tools',
    usage: '/tools',
    about: 'List the tools that the model is offered.',
    run: ({ agent, say }) => {
      const levels = new Map(agent.session.permissions().map(({ tool, level }) => [tool, level]))
      say(
        agent.session
          .tools()
          .map(({ name, description }) => `${name.padEnd(14)} ${(levels.get(name) ?? '').padEnd(6)} ${description}`),
      )
    },
  },
  {
    name: 'skills',
    usage: '/skills',
    about: 'List the skills.',
    run: ({ agent, say }) => {
      const rows = agent.skills()
      say(rows.length === 0 ? ['there are none'] : rows.map(({ name, about }) => `${name.padEnd(20)} ${about}`))
    },
  },
  {
    name: 'mcp',
    usage: '/mcp',
    about: 'List the tools of the manifest’s MCP servers.',
    run: ({ agent, say }) => {
      const rows = agent.mcpTools()
      say(
        rows.length === 0
          ? ['there are none']
          : rows.map(({ name, description }) => `${name.padEnd(30)} ${description.split('\n')[0]}`),
      )
    },
  },
  {
    name: 'cost',
    usage: '/cost',
    about: 'Show tokens and cost of this conversation.',
    run: ({ agent, say }) => {
      const { usage, cost, turns } = agent.agent.spent
      say([
        `${turns} answers, ${usage.input} tokens in, ${usage.cacheRead} from the cache, ${usage.cacheWrite} into it, ${usage.output} out`,
        cost === null
          ? 'cost: unknown, because the model has no known price (set "price" in its profile)'
          : `cost: ${spentText(cost)}`,
        `window: ${Math.round(agent.agent.fullness * 100)}% of ${agent.model.context} tokens`,
      ])
    },
  },
  {
    name: 'help',
    usage: '/help',
    about: 'Show this.',
    run: ({ say }) =>
      say([
        ...slashCommands.map(({ usage, about }) => `${usage.padEnd(18)} ${about}`),
        'Enter sends; Alt-Enter, Shift-Enter or a \\ at the end starts a new line; @ and Tab complete a file.',
        '!COMMAND runs a command by your rules; its output goes with the next message.',
        'Alt-D and Alt-U are /diff and /undo. Ctrl-C stops the turn, twice leaves; Ctrl-D leaves.',
      ]),
  },
  { name: 'exit', usage: '/exit', about: 'Leave.', run: ({ leave }) => leave() },
]

/** Per file. */
const DIFF_LINES = 40

/** Calls of this conversation and its sub-agents that can be restored, last first. */
function undoable(agent: AgentSession) {
  const project = new ProjectUndo({ ...agent.machine, cwd: agent.cordon.root })
  const own = (session = '') => session === agent.id || session.startsWith(`${agent.id}-t`)
  return { project, calls: project.restorable().filter(({ about }) => own(about.session)) }
}

/** Runs what was typed; text without a slash goes to the model. */
export async function runSlashCommand(line: string, host: CommandHost): Promise<void> {
  const [name = '', ...words] = line.slice(1).trim().split(/\s+/)
  const found = slashCommands.find((command) => command.name === name)
  if (!found) throw new CommandError(`there is no command /${name}; /help lists them`)
  await found.run(host, words)
}

function oneOf<Name extends string>(names: readonly Name[], given: string, what: string): Name {
  const found = names.find((name) => name === given)
  if (found === undefined) throw new CommandError(`there is no ${what} "${given}"; there are ${names.join(', ')}`)
  return found
}
