/** `cordon hook run`: the command of a host's agent, in the sandbox, with the host's own streams. */

import { PASSED_SIGNALS } from '../../runtime/command/open-runner.ts'
import { runHookCommand } from '../../runtime/hook/run.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { EXIT } from '../terminal/exit.ts'
import { isTerminalDevice, type Terminal, visible } from '../terminal/terminal.ts'

export interface InPlace {
  readonly root: string
  readonly session: string | null
  readonly host: string
  readonly command: string
  readonly undo: boolean
}

/** Runs it; the command's exit code passes through, 126 is a denial. */
export async function runInPlace(terminal: Terminal, place: InPlace): Promise<number> {
  const interactive = isTerminalDevice(0) && isTerminalDevice(1)
  const result = await runHookCommand({
    ...place,
    machine: thisMachine(),
    files: machineFiles,
    io: {
      forwardSignals: PASSED_SIGNALS,
      onNotice: (line) => terminal.err(`cordon: ${visible(line)}\n`),
      ...(interactive
        ? { terminal: { input: process.stdin, output: process.stdout } }
        : { stdin: 'inherit' as const, stdout: 'inherit' as const, stderr: 'inherit' as const }),
    },
  })
  if ('denied' in result) {
    terminal.err(`cordon: ${visible(result.denied)}\n`)
    return EXIT.refused
  }
  for (const note of new Set(result.notes)) terminal.err(`cordon: ${visible(note)}\n`)
  return result.exitCode
}
