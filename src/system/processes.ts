/** Facts about processes: which live, have the terminal or listen, and `bash -n`. */

import { readdirSync, readFileSync } from 'node:fs'
import { errorCode } from './fault.ts'

const LISTENING = '0A'
/** Any address and loopback in the kernel's form, for IPv4, IPv6 and IPv4 in IPv6. */
const LOOPBACK: ReadonlySet<string> = new Set([
  '00000000',
  '0100007F',
  '00000000000000000000000000000000',
  '00000000000000000000000001000000',
  '0000000000000000FFFF00000100007F',
])

/** Listening loopback ports of this machine; empty if unknown. */
export function listeningPorts(): ReadonlySet<number> {
  const ports = new Set<number>()
  for (const table of ['/proc/net/tcp', '/proc/net/tcp6']) {
    let rows: string[]
    try {
      rows = readFileSync(table, 'utf8').split('\n').slice(1)
    } catch {
      continue
    }
    for (const row of rows) {
      const [, local = '', , state] = row.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      if (state === LISTENING && LOOPBACK.has(address)) ports.add(Number.parseInt(port, 16))
    }
  }
  return ports
}

/** Whether a process with this number exists. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** The fields of a process from its state on; null if it is gone or /proc is missing. */
function statOf(pid: number | 'self'): string[] | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  } catch {
    return null
  }
}

/**
 * The processor time of a process and all its descendants, as a text: two equal ones mean that none
 * of them ran for a tick. Null if unknown.
 */
export function processorTime(pid: number): string | null {
  const times: string[] = []
  const pids = [pid]
  try {
    for (const one of pids) {
      const stat = statOf(one)
      if (stat === null) return null
      times.push([one, ...stat.slice(11, 15)].join(' '))
      for (const task of readdirSync(`/proc/${one}/task`))
        pids.push(
          ...readFileSync(`/proc/${one}/task/${task}/children`, 'latin1').split(' ').filter(Boolean).map(Number),
        )
    }
  } catch {
    return null
  }
  return times.join('\n')
}

/** When a process started, in ticks since boot; null if it is gone or /proc is missing. */
export function startOf(pid: number): string | null {
  const stat = statOf(pid)
  // A zombie is dead.
  return stat === null || stat[0] === 'Z' ? null : (stat[19] ?? null)
}

/** Whether this exact process lives. Numbers are reused, but not with the same start. */
export function isSameProcess(pid: number, started: string | null): boolean {
  return started === null ? isAlive(pid) : startOf(pid) === started
}

/** True in the foreground or if unknown. Changing the terminal in the background stops us. */
export function isInForeground(): boolean {
  const stat = statOf('self')
  if (stat === null) return true
  const [, , group, , , foreground] = stat
  return foreground === '-1' || group === foreground
}

/** The complaint of `bash -n`, or null. Warnings count: an open here-document is one. */
export function bashSyntaxError(command: string): string | null {
  // bash 3.2 of macOS reads these as plain text, newer ones as a character.
  if (process.platform === 'darwin' && /\$'(?:[^'\\]|\\.)*\\[uU]/s.test(command))
    return "$'\\u' means something else in the bash of macOS"
  // Loaded late: most commands do not need it, and start-up counts.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync('/bin/bash', ['--norc', '--noprofile', '-n', '-c', command], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 2000,
    encoding: 'utf8',
  })
  if (result.error) return `bash could not be asked (${result.error.message})`
  const complaint = result.stderr.split('\n')[0]?.replace(/^.*?bash: (-c: )?/, '') ?? ''
  if (result.status === 0 && complaint === '') return null
  return complaint || `bash -n ended with ${result.status ?? result.signal}`
}
