/** Facts about running processes: which live, which have the terminal, which listen, and what bash says of a text. */

import { readFileSync } from 'node:fs'
import { errorCode } from './fault.ts'

const LISTENING = '0A'
/** Any address and loopback, as the kernel writes them; both forms of IPv6, and IPv4 in IPv6. */
const LOOPBACK: ReadonlySet<string> = new Set([
  '00000000',
  '0100007F',
  '00000000000000000000000000000000',
  '00000000000000000000000001000000',
  '0000000000000000FFFF00000100007F',
])

/** Reads them from the kernel; none where it does not say. */
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

/** True for a process of this number, the process that it belongs to. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return errorCode(error) === 'EPERM'
  }
}

/** When a process started, in ticks since boot; null when it is gone, or where there is no /proc to ask. */
export function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    // A zombie is dead: it never lets go of anything.
    return fields[0] === 'Z' ? null : (fields[19] ?? null)
  } catch {
    return null
  }
}

/** True while the very process lives that had this number and start: a number is used again some day, both together are not. */
export function isSameProcess(pid: number, started: string | null): boolean {
  return started === null ? isAlive(pid) : startOf(pid) === started
}

/** True in the foreground, and where the system does not say. In the background, changing the terminal would stop this process. */
export function isInForeground(): boolean {
  try {
    const stat = readFileSync('/proc/self/stat', 'utf8')
    const [, , group, , , foreground] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return foreground === '-1' || group === foreground
  } catch {
    return true
  }
}

/** Runs `bash -n` with an empty environment; what it complained about, or null. Warnings count: an open here-document is one. */
export function bashSyntaxError(command: string): string | null {
  // The bash of macOS is 3.2: it takes these for plain text, where newer ones write a character.
  if (process.platform === 'darwin' && /\$'(?:[^'\\]|\\.)*\\[uU]/s.test(command))
    return "$'\\u' means something else in the bash of macOS"
  // Loaded when it is needed: most commands pass the first gate alone, and start-up counts.
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
