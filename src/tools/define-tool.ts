/** A tool is written down in one place: what it takes, what a call of it touches, what it can do, and how it is run. */

import { Fault } from '../system/fault.ts'
import type { InputOf, InputSchema } from './input-schema.ts'
import {
  type Actions,
  type CommandPort,
  type Tool,
  type ToolContext,
  type ToolHints,
  type ToolInput,
  type ToolLabel,
  type ToolOutput,
  type ToolSpec,
  toolLabels,
  type WebPort,
} from './tool.ts'

/** A tool without its run: what a decision needs. */
export interface ToolDeclaration<Schema extends InputSchema> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  /** What it can do; a call that touches anything else is a Fault. Absent: everything. */
  readonly labels?: readonly ToolLabel[]
  /** What clients are told about it; absent: the worst. */
  readonly hints?: ToolHints
  /** What this input touches; throws an `InputError` when the input contradicts itself. */
  readonly actions: (input: InputOf<Schema>) => Actions
}

export interface ToolDefinition<Schema extends InputSchema> extends ToolDeclaration<Schema> {
  /** Runs a call that was allowed, as `ToolRun` says. */
  readonly run: (input: InputOf<Schema>, context: ToolContext) => Promise<ToolOutput>
}

/** The hints that tools share. */
export const toolHints: Readonly<Record<'reads' | 'adds' | 'changes' | 'runs' | 'looksOut', ToolHints>> = {
  /** Reads only. */
  reads: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  /** Adds, and takes nothing away. */
  adds: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  /** Changes or removes what was there. */
  changes: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  /** Whatever a program can do. */
  runs: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  /** Reads what is not of this machine. */
  looksOut: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
}

/** Nothing that a rule could be about. */
export const touchesNothing = (): Actions => ({})

/** A tool that is decided, and that nothing runs. */
export function declareTool<const Schema extends InputSchema>(declaration: ToolDeclaration<Schema>): ToolSpec {
  const { name, description, input, labels = toolLabels, hints = toolHints.runs } = declaration
  return {
    name,
    description,
    input,
    labels,
    hints,
    actions: (given) => {
      // INVARIANT: `parseInput` made it of this very schema.
      const actions = declaration.actions(given as InputOf<Schema>)
      requireLabels(name, labels, actions)
      return actions
    },
  }
}

/** A tool that runs. Its ports do what was decided, and nothing that its labels do not name. */
export function defineTool<const Schema extends InputSchema>(definition: ToolDefinition<Schema>): Tool {
  const spec = declareTool(definition)
  return {
    ...spec,
    run: async (input, context) => {
      context.signal.throwIfAborted()
      return definition.run(input as InputOf<Schema>, held(spec, input, context))
    },
  }
}

function requireLabels(tool: string, labels: readonly ToolLabel[], actions: Actions): void {
  const { reads, writes, lists, cwd, url, command } = actions
  const touched: readonly (readonly [ToolLabel, boolean])[] = [
    ['filesystem', [...(reads ?? []), ...(writes ?? []), ...(lists ?? [])].length > 0 || cwd !== undefined],
    ['network', url !== undefined],
    ['execute', command !== undefined],
  ]
  const missing = touched.find(([label, touches]) => touches && !labels.includes(label))
  if (missing) throw new Fault('tool-label', `the tool ${tool} goes beyond its labels: it has no "${missing[0]}"`)
}

/** The ports of a call: a command or a URL that was not decided is not run or fetched. */
function held(spec: ToolSpec, input: ToolInput, context: ToolContext): ToolContext {
  const decided = (kind: 'command' | 'url', given: string): void => {
    if (spec.actions(input)[kind] === given) return
    throw new Fault(
      kind === 'command' ? 'unchecked-command' : 'unchecked-url',
      `the ${kind} ${JSON.stringify(given.slice(0, 200))} was not part of what was decided`,
    )
  }
  const commands: CommandPort = {
    run: async (command, options) => {
      decided('command', command)
      return context.commands.run(command, options)
    },
    start: async (command, options) => {
      decided('command', command)
      return context.commands.start(command, options)
    },
    list: () => context.commands.list(),
    read: (handle) => context.commands.read(handle),
    kill: (handle) => context.commands.kill(handle),
  }
  const web: WebPort = {
    fetch: async (request) => {
      decided('url', request.url)
      return context.web.fetch(request)
    },
  }
  return { ...context, commands, web }
}
