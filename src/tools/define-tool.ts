/** Declares a tool in one place: its input, actions, abilities and run. */

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

/** A tool without its run, for decisions. */
export interface ToolDeclaration<Schema extends InputSchema> {
  readonly name: string
  readonly description: string
  readonly input: Schema
  /** What it can do; any other effect of a call is a Fault. Default: everything. */
  readonly labels?: readonly ToolLabel[]
  /** Hints for clients; default: the worst. */
  readonly hints?: ToolHints
  /** What the input touches; throws an `InputError` if the input contradicts itself. */
  readonly actions: (input: InputOf<Schema>) => Actions
}

export interface ToolDefinition<Schema extends InputSchema> extends ToolDeclaration<Schema> {
  /** Runs an allowed call, see `ToolRun`. */
  readonly run: (input: InputOf<Schema>, context: ToolContext) => Promise<ToolOutput>
}

/** Common hints. */
export const toolHints: Readonly<Record<'reads' | 'adds' | 'changes' | 'runs' | 'looksOut', ToolHints>> = {
  /** Only reads. */
  reads: { readOnly: true, destructive: false, idempotent: true, openWorld: false },
  /** Adds, and removes nothing. */
  adds: { readOnly: false, destructive: false, idempotent: true, openWorld: false },
  /** Changes or removes existing things. */
  changes: { readOnly: false, destructive: true, idempotent: false, openWorld: false },
  /** Anything that a program can do. */
  runs: { readOnly: false, destructive: true, idempotent: false, openWorld: true },
  /** Reads from outside this machine. */
  looksOut: { readOnly: true, destructive: false, idempotent: true, openWorld: true },
}

/** No rule applies to it. */
export const touchesNothing = (): Actions => ({})

/** A tool for decisions only. */
export function declareTool<const Schema extends InputSchema>(declaration: ToolDeclaration<Schema>): ToolSpec {
  const { name, description, input, labels = toolLabels, hints = toolHints.runs } = declaration
  return {
    name,
    description,
    input,
    labels,
    hints,
    actions: (given) => {
      // INVARIANT: `parseInput` validated it with this schema.
      const actions = declaration.actions(given as InputOf<Schema>)
      requireLabels(name, labels, actions)
      return actions
    },
  }
}

/** A runnable tool. Its ports only do what was decided and what its labels name. */
export function defineTool<const Schema extends InputSchema>(definition: ToolDefinition<Schema>): Tool {
  const spec = declareTool(definition)
  return {
    ...spec,
    run: async (input, context) => {
      context.signal.throwIfAborted()
      return definition.run(input as InputOf<Schema>, limitedPorts(spec, input, context))
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

/** Limits the ports of a call to what was decided. */
function limitedPorts(spec: ToolSpec, input: ToolInput, context: ToolContext): ToolContext {
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
