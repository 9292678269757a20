/** `cordon hook run`: runs a host's command in the sandbox, with the host's own streams. */

import { runHookCommand } from '../../agents/hook/run.ts'
import { ownerOf, type RunOwner, takeAnswer } from '../../agents/hook/wrapped-runs.ts'
import { PASSED_SIGNALS } from '../../run/open-backend.ts'
import { errorCode, Fault, messageOf } from '../../system/fault.ts'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'
import { leaveStreamsAlone } from '../terminal/passed-streams.ts'
import { EXIT, isTerminalDevice, type Terminal, visible, visibleLines } from '../terminal/terminal.ts'

const KEY = /^([0-9a-f]{12})(?:\.([0-9a-f]{8}))?(\+undo)?(\+read)?$/

/** Runs the command; its exit code passes through, and 126 is a denial. The key names an owner and an answer. */
export async function runInPlace(...call: Parameters<typeof runAsked>): Promise<number> {
  try {
    return await runAsked(...call)
  } catch (error) {
    throw await inHostsSandbox(error, call[1])
  }
}

/** If the host's own sandbox makes Cordon's state read-only, names the setting to change. */
async function inHostsSandbox(error: unknown, whose: RunOwner | string): Promise<unknown> {
  if (!(error instanceof Fault) || !UNWRITABLE.has(error.code) || FULL.has(errorCode(error.cause) ?? '')) return error
  const machine = thisMachine()
  const { host } = typeof whose === 'string' ? ownerOf(machine, KEY.exec(whose)?.[1] ?? whose) : whose
  const { findHost } = await import('./hosts/hosts.ts')
  const remedy = findHost(host)?.ownSandbox?.remedy
  return remedy === undefined ? error : new Fault('host-sandbox', messageOf(error), { cause: error, remedy })
}

const UNWRITABLE: ReadonlySet<string> = new Set(['audit-unwritable', 'state-unwritable'])
const FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT'])

async function runAsked(
  terminal: Terminal,
  whose: RunOwner | string,
  command: string,
  undone: boolean,
): Promise<number> {
  const machine = thisMachine()
  const [, key = '', answer = null, covered, read] = typeof whose === 'string' ? (KEY.exec(whose) ?? ['', whose]) : []
  const owner = typeof whose === 'string' ? ownerOf(machine, key) : whose
  const undo = undone || covered !== undefined
  const call = { command, cwd: machineFiles.canonical(machine.cwd) }
  const agreed = answer === null ? null : takeAnswer(machine, key, answer, call, Date.now())
  const interactive = isTerminalDevice(0) && isTerminalDevice(1)
  leaveStreamsAlone()
  const result = await runHookCommand({
    ...owner,
    command,
    agreed,
    undo,
    readOnly: read !== undefined,
    machine,
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
  if (result.text !== '') terminal[result.exitCode === 0 ? 'out' : 'err'](`${visibleLines(result.text.trimEnd())}\n`)
  for (const note of new Set(result.notes)) terminal.err(`cordon: ${visible(note)}\n`)
  return result.exitCode
}
