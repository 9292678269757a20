/** `cordon init`: checks the project and writes a commented starting manifest. */

import { join, resolve } from 'node:path'
import { MANIFEST_NAME, requireProject } from '../../../../project/place/root.ts'
import { proposeForProject } from '../../../../project/propose.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { thisMachine } from '../../../../system/machine.ts'
import { paint, visible } from '../../../terminal/terminal.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

export function run({ terminal, args }: CommandContext): number {
  const directory = resolve(process.cwd(), args.words[0] ?? '.')
  if (!machineFiles.isDirectory(directory)) throw new UsageError(`${directory} is not a directory`)
  const file = join(directory, MANIFEST_NAME)
  const machine = thisMachine()
  const { text, found } = proposeForProject(directory, machineFiles, machine)
  if (args.flags.print) {
    terminal.out(args.flags.json ? `${JSON.stringify({ file, found, text })}\n` : text)
    return EXIT.ok
  }
  if (machineFiles.exists(file) && !args.flags.force) {
    throw new Fault('exists', `${file} is already there`, {
      remedy: 'cordon init --print shows what would be written; --force replaces the file.',
    })
  }
  requireProject(machineFiles.canonical(directory), machine)
  machineFiles.writeText(file, text)
  if (args.flags.json) terminal.out(`${JSON.stringify({ file, found })}\n`)
  else {
    terminal.out(`${paint(terminal, 'green', 'wrote')} ${file}\n`)
    if (found.length > 0) terminal.out(`  found: ${visible(found.join(', '))}\n`)
    terminal.out("  read it, try it (cordon explain -- 'git push'), then put it in force: cordon sign\n")
  }
  return EXIT.ok
}
