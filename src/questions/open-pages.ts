/** The pages open on this machine, on which a person can be asked. */

import { isRecord } from '../system/json.ts'
import type { Machine } from '../system/machine.ts'
import { OwnList } from '../system/own-list.ts'
import { isSameProcess, startOf } from '../system/processes.ts'
import { openOwnDirectory } from '../system/state.ts'

interface OpenPage {
  readonly pid: number
  readonly started: string | null
}

/** Registers this process as a page until the returned function is called or it ends. */
export function registerPage(machine: Machine): () => void {
  const own = { pid: process.pid, started: startOf(process.pid) }
  change(machine, (pages) => [...pages, own])
  return () =>
    change(machine, (pages) => pages.filter(({ pid, started }) => pid !== own.pid || started !== own.started))
}

export function isPageOpen(machine: Machine): boolean {
  return alive(machine).length > 0
}

/** Whether this page sends the notices: the first one does. */
export function isFirstPage(machine: Machine): boolean {
  return alive(machine)[0]?.pid === process.pid
}

/** How long a question waits for the page: clients give up after a minute. */
const WAIT_MS = 50_000

/** Waits for an answer while a page is open. */
export async function waitForPage(machine: Machine, signal: AbortSignal, most: number = WAIT_MS): Promise<void> {
  const until = Date.now() + most
  while (!signal.aborted && Date.now() < until && isPageOpen(machine))
    await new Promise((resolve) => setTimeout(resolve, Math.min(500, most)))
}

function alive(machine: Machine): readonly OpenPage[] {
  return PAGES.read(openOwnDirectory(machine.stateDir)).filter(isAlive)
}

function isAlive({ pid, started }: OpenPage): boolean {
  return isSameProcess(pid, started)
}

function change(machine: Machine, how: (pages: readonly OpenPage[]) => readonly OpenPage[]): void {
  PAGES.change(openOwnDirectory(machine.stateDir), (pages) => how(pages.filter(isAlive)))
}

const PAGES = new OwnList<OpenPage>(
  { file: 'pages.json', lock: 'pages.lock', field: 'pages' },
  (page) => isRecord(page) && typeof page.pid === 'number',
)
