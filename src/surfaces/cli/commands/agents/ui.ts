/** `cordon ui`: serves this machine's page until the command ends. */

import { thisMachine } from '../../../../system/machine.ts'
import { webhookKey } from '../../../page/notifier.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'
import { startPage, terminalShow } from './serve-page.ts'

export async function run({ terminal, bare, args }: CommandContext): Promise<number> {
  if (args.flags['webhook-key']) {
    bare.out(`${webhookKey(thisMachine())}\n`)
    return EXIT.ok
  }
  const port = textFlag(args, 'port') ?? '0'
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) throw new UsageError('--port takes a number up to 65535')
  const page = await startPage({
    root: rootFlag(args) ?? process.cwd(),
    port: Number(port),
    show: terminalShow(bare),
    warn: (text) => terminal.err(`${paint(terminal, 'yellow', 'cordon:')} ${visible(text)}\n`),
  })
  bare.out(`${page.link}\n`)
  terminal.err(
    paint(terminal, 'dim', 'The link is good until this ends (Ctrl-C); anyone who has it can answer for you.\n'),
  )
  await new Promise<void>((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => resolve())
  })
  await page.close()
  return EXIT.ok
}
