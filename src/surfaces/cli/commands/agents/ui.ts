/** `cordon ui`: serves this machine's page until the command ends. */

import { openPolicy } from '../../../../project/open.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { terminalConsent } from '../../../page/consent.ts'
import { type NoticeSettings, webhookKey } from '../../../page/notifier.ts'
import { type PageServer, servePage } from '../../../page/page-server.ts'
import { isTerminalDevice, paint, type Terminal, visible, visibleLines } from '../../../terminal/terminal.ts'
import { textFlag } from '../../arguments.ts'
import { rootFlag } from '../../open-policy.ts'
import { type CommandContext, EXIT, UsageError } from '../../usage.ts'

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

export interface PageRequest {
  readonly root: string
  readonly port: number
  readonly show: (text: string) => boolean
  readonly warn: (text: string) => void
}

export async function startPage({ root, port, show, warn }: PageRequest): Promise<PageServer> {
  const machine = thisMachine()
  const project = machineFiles.canonical(findRoot(machineFiles.canonical(root), machineFiles))
  return servePage({
    machine,
    root: project,
    port,
    warn,
    consent: terminalConsent(show),
    notices: await noticeSettings(machine, project, warn),
    health: async () => {
      const { findHealth } = await import('../machine/doctor.ts')
      return findHealth()
    },
  })
}

/** Shows codes on stderr if it is a terminal. */
export function terminalShow(terminal: Terminal): (text: string) => boolean {
  return (text) => {
    if (!isTerminalDevice(2)) return false
    terminal.err(`\n${paint(terminal, 'yellow', 'cordon:')} ${visibleLines(text)}\n`)
    return true
  }
}

/** `[approvals]` of the user's manifest; a manifest that does not load sends no notices. */
export async function noticeSettings(
  machine: Machine,
  root: string,
  warn: (text: string) => void,
): Promise<NoticeSettings> {
  const quiet: NoticeSettings = { webhook: null, format: 'json', answerUrl: null, desktop: true }
  try {
    const place = { machine, files: machineFiles, root, choice: { kind: 'project' } as const }
    const opened = await openPolicy({ ...place, unsigned: 'as-written' })
    if ('loaded' in opened) return opened.loaded.session.approvals
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
  warn('a manifest does not load, so nothing is sent to a webhook; cordon policy show says why')
  return quiet
}
