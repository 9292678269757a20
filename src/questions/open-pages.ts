/** The pages open on this machine, on which a person can be asked. */

import { join } from 'node:path'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { isSameProcess, startOf } from '../system/processes.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../system/state.ts'

interface OpenPage {
  readonly pid: number
  readonly started: string | null
}

interface PageFile {
  readonly version: 1
  readonly pages: readonly OpenPage[]
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
  return read(openOwnDirectory(machine.stateDir)).filter(({ pid, started }) => isSameProcess(pid, started))
}

function read(directory: string): readonly OpenPage[] {
  return readOwnJson(join(directory, 'pages.json'), isPageFile)?.pages ?? []
}

function change(machine: Machine, how: (pages: readonly OpenPage[]) => readonly OpenPage[]): void {
  const directory = openOwnDirectory(machine.stateDir)
  withLock(join(directory, 'pages.lock'), () => {
    const pages = how(read(directory).filter(({ pid, started }) => isSameProcess(pid, started)))
    writeOwnJson(join(directory, 'pages.json'), { version: 1, pages } satisfies PageFile)
  })
}

function isPageFile(value: unknown): value is PageFile {
  const { version, pages } = (value ?? {}) as Partial<PageFile>
  return version === 1 && Array.isArray(pages) && pages.every((page) => typeof page?.pid === 'number')
}
