/** Starts the page for the commands that serve it. */

import { openPolicy } from '../../../../project/open.ts'
import { findRoot } from '../../../../project/place/root.ts'
import { Fault } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { terminalConsent } from '../../../page/consent.ts'
import type { NoticeSettings } from '../../../page/notifier.ts'
import { type PageServer, servePage } from '../../../page/page-server.ts'
import { isTerminalDevice, paint, type Terminal, visibleLines } from '../../../terminal/terminal.ts'

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
