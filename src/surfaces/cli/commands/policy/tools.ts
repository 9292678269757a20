/** `cordon tools`: lists custom tools with their permissions and trust, and runs one. */

import { resultText } from '../../../../call/tool-result.ts'
import { openCustomTools } from '../../../../custom/tools.ts'
import { type ToolRow, toolRows, trustTool, untrustTool } from '../../../../custom/trust.ts'
import { createCordon, type Prompter, terminalPrompter } from '../../../../session/cordon.ts'
import { paint, printJson, type Terminal, visible, visibleLines } from '../../../terminal/terminal.ts'
import { type Arguments, oneOf, textFlag } from '../../arguments.ts'
import { confirm } from '../../confirm.ts'
import { type Opened, openWritten } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

const VERBS = ['list', 'show', 'run', 'trust', 'untrust', 'trust-status'] as const

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [given = 'list', name] = args.words
  const verb = oneOf(VERBS, given, 'name an action')
  const opened = await openWritten(args, terminal)
  if (!opened) return EXIT.usage
  if (verb === 'run') return runTool(terminal, args, opened)
  const tools = openCustomTools(opened.loaded, opened.machine, () => new Date())
  const rows = toolRows(tools)
  if (verb === 'list' || verb === 'trust-status') {
    for (const note of tools.notes) terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(note)}\n`)
    return list(terminal, args, rows, verb === 'trust-status')
  }
  if (name === undefined) throw new UsageError(`name a tool: cordon tools ${verb} NAME`)
  const row = rows.find((candidate) => candidate.name === name)
  if (verb === 'untrust') {
    if (!untrustTool(tools, name)) throw new UsageError(`${name} is not trusted`)
    terminal.out(`${visible(name)} is no longer trusted\n`)
    return EXIT.ok
  }
  if (!row) throw new UsageError(`there is no tool ${name}; cordon tools lists them`)
  if (verb === 'show') return show(terminal, args, row)
  show(terminal, { ...args, flags: {} }, row)
  if (!args.flags.yes && !(await confirm(terminal, `Trust ${row.name} with exactly these bytes? [y/N] `))) {
    terminal.err('not trusted\n')
    return EXIT.failed
  }
  trustTool(tools, row, new Date())
  terminal.err(`${paint(terminal, 'green', 'trusted')} ${visible(row.name)} ${row.hash}\n`)
  return EXIT.ok
}

function list(terminal: Terminal, args: Arguments, rows: readonly ToolRow[], hashes: boolean): number {
  if (args.flags.json)
    return printJson(
      terminal,
      rows.map(({ scriptText: _, ...row }) => row),
    )
  if (rows.length === 0)
    terminal.out('there are no custom tools; they live in .cordon/tools and in your configuration directory\n')
  for (const row of rows) {
    const style = row.status === 'ok' ? 'green' : row.status === 'MISMATCH' ? 'red' : 'yellow'
    const labels = row.labels.length > 0 ? ` [${row.labels.join(' ')}]` : ''
    const detail = hashes ? row.hash : `${visible(row.description.split('\n')[0]!)}${labels}`
    terminal.out(`${paint(terminal, 'bold', row.name)}  ${paint(terminal, style, row.status)}  ${detail}\n`)
  }
  return hashes && rows.some((row) => row.status !== 'ok') ? EXIT.failed : EXIT.ok
}

function show(terminal: Terminal, args: Arguments, row: ToolRow): number {
  if (args.flags.json) return printJson(terminal, row)
  const lines = [
    `${paint(terminal, 'bold', row.name)}  ${row.status}  ${visible(row.path)}`,
    visibleLines(row.description),
    ...row.limits.map((line) => `- ${visible(line)}`),
    `arguments: ${visible(JSON.stringify(row.input))}`,
    `hash: ${row.hash}`,
    '',
    visibleLines(row.scriptText),
  ]
  terminal.out(`${lines.join('\n')}\n`)
  return EXIT.ok
}

/** The tool must still be trusted, and the sandbox enforces its labels. */
async function runTool(terminal: Terminal, args: Arguments, { loaded, machine }: Opened): Promise<number> {
  const [, name, text] = args.words
  if (name === undefined) throw new UsageError('name a tool: cordon tools run NAME \'{"key":"value"}\'')
  const input = parseInput(text ?? textFlag(args, 'input') ?? '{}')
  const file = textFlag(args, 'manifest')
  const row = toolRows(openCustomTools(loaded, machine, () => new Date())).find((candidate) => candidate.name === name)
  if (row && row.status !== 'ok') {
    terminal.err(
      `${paint(terminal, 'red', 'cordon:')} ${visible(name)} is not trusted (${row.status}) [tool-untrusted]\n`,
    )
    terminal.err(`  Read it, then run: cordon tools trust ${visible(name)}\n`)
    return EXIT.refused
  }
  const cordon = await createCordon({
    project: loaded.root,
    machine,
    prompter: typedPrompter(),
    ...(file !== undefined && { manifest: { file } }),
  })
  try {
    const result = await cordon.openSession().call(name, input)
    if (args.flags.json) terminal.out(`${JSON.stringify(result)}\n`)
    else (result.status === 'done' ? terminal.out : terminal.err)(`${visibleLines(resultText(result))}\n`)
    if (result.status === 'done') return result.output.exitCode ?? EXIT.ok
    return result.status === 'failed' ? EXIT.fault : EXIT.refused
  } finally {
    await cordon.close()
  }
}

/** Typing the tool's name answers the question of its level. Other questions are still asked. */
function typedPrompter(): Prompter {
  const person = terminalPrompter()
  return {
    ...person,
    ask: async (request, signal) =>
      request.decision.reason.code === 'level-ask' ? { kind: 'once' } : person.ask(request, signal),
  }
}

function parseInput(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new UsageError(`the input is not JSON: ${text.slice(0, 60)}`)
  }
}
