/** `cordon acp`: Cordon's agent in an editor, or a guard around any other ACP agent. */

import { thisMachine } from '../../../../system/machine.ts'
import { visibleLines } from '../../../terminal/terminal.ts'
import { parseArguments, textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, argv, row }: CommandContext): Promise<number> {
  const end = argv.indexOf('--')
  const args = parseArguments(row, end < 0 ? argv : argv.slice(0, end))
  const command = end < 0 ? [] : argv.slice(end + 1)
  if (args.words.length > 0) throw new UsageError(`an agent comes after --: cordon acp -- ${args.words.join(' ')}`)
  if (end >= 0 && command.length === 0) throw new UsageError('name the agent after --')
  const machine = thisMachine()
  const warn = (text: string): void => terminal.err(`cordon: ${visibleLines(text)}\n`)
  const { ndJsonStream } = await import('@agentclientprotocol/sdk')
  const { readableBytes, writableBytes } = await import('../../../acp/byte-streams.ts')
  const stream = ndJsonStream(writableBytes(process.stdout), readableBytes(process.stdin))
  if (command.length > 0) {
    if (args.flags.vscode || args.flags.provider || args.flags.model) {
      throw new UsageError('--provider, --model and --vscode are for Cordon’s own agent')
    }
    const { guardAgent } = await import('../../../acp/guarded-agent.ts')
    return guardAgent(stream, { machine, root: rootFlag(args) ?? process.cwd(), argv: command, warn })
  }
  const { serveOwnAgent } = await import('../../../acp/own-agent.ts')
  const profile = textFlag(args, 'provider')
  const model = textFlag(args, 'model')
  await serveOwnAgent(stream, {
    machine,
    fromEditor: args.flags.vscode === true,
    warn,
    ...(profile !== undefined && { profile }),
    ...(model !== undefined && { model }),
  })
  return EXIT.ok
}
