/** `cordon login`: sets a model provider up, checks it with one request, and stores its key. */

import { deleteKey, openConfig } from '../../../../chat/config.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { openChatTerminal } from '../../../chat/screen/chat-terminal.ts'
import { runWizard } from '../../../chat/wizard.ts'
import { isTerminalDevice } from '../../../terminal/terminal.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const [name = null] = args.words
  if (args.flags.forget) {
    const machine = thisMachine()
    const profile = openConfig(machine).config.profiles.get(name ?? '')
    if (!profile) throw new UsageError('--forget takes the name of a provider or profile')
    deleteKey(machine, profile)
    terminal.out(`the key of ${profile.name} is gone\n`)
    return EXIT.ok
  }
  if (name !== null && !/^[a-z0-9][a-z0-9._-]{0,39}$/.test(name))
    throw new UsageError(`“${name}” is not the name of a provider`)
  if (!isTerminalDevice(0) || !isTerminalDevice(1)) {
    throw new UsageError('a key is typed at a terminal; in CI set the variable of the provider instead')
  }
  return (await setUp(name)) ? EXIT.ok : EXIT.failed
}

/** Sets up a provider at the terminal; returns true once one works. */
export async function setUp(name: string | null): Promise<boolean> {
  const screen = openChatTerminal()
  try {
    return await runWizard(screen, thisMachine(), name)
  } finally {
    screen.close()
  }
}
