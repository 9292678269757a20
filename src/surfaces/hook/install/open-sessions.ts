/** Sessions of an agent without hooks: started before the installation, or with hooks disabled. */

import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { basename } from 'node:path'
import { attempt } from '../../../system/fault.ts'
import { startOf } from '../../../system/processes.ts'
import type { HostInstall } from '../host/host-install.ts'

export interface OpenSession {
  readonly pid: number
  readonly why: 'older' | 'without hooks'
  readonly by?: string
}

/** Ticks per second of process start times. */
const TICKS = 100

/** Sessions on this machine outside every sandbox. `since`: when the hook was installed, in milliseconds. */
export function unguardedSessions(
  { program, withoutHooks }: Pick<HostInstall, 'program' | 'withoutHooks'>,
  since: number | null,
): readonly OpenSession[] {
  const boot = bootTime()
  return processes().flatMap((pid): OpenSession[] => {
    const words = wordsOf(pid)
    if (words === null || !isSession(words, program) || !isOutside(pid)) return []
    const by = hooksOff(withoutHooks, words, () => variablesOf(pid))
    if (by !== null) return [{ pid, why: 'without hooks', by }]
    const started = startOf(pid)
    if (since === null || boot === null || started === null) return []
    return boot + (Number(started) / TICKS) * 1000 < since ? [{ pid, why: 'older' }] : []
  })
}

/** The flag or variable that disables hooks on this command line, or null. */
export function hooksOff(
  off: HostInstall['withoutHooks'],
  words: readonly string[],
  variables: () => Readonly<Record<string, string | undefined>>,
): string | null {
  if (!off) return null
  const end = words.indexOf('--')
  const flag = off.flags.find((one) => (end < 0 ? words : words.slice(0, end)).includes(one))
  if (flag !== undefined) return flag
  const set = off.variables.length === 0 ? {} : variables()
  return off.variables.find((name) => /^(?:1|true|yes|on)$/i.test(set[name] ?? '')) ?? null
}

/** The program itself, or a script of that name in an interpreter. */
function isSession(words: readonly string[], program: string): boolean {
  return words.slice(0, 2).some((word) => basename(word) === program)
}

function processes(): readonly number[] {
  return attempt(() => readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? [Number(name)] : [])), [])
}

function wordsOf(pid: number): readonly string[] | null {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return null
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch {
    return null
  }
}

/** A session in a sandbox or container is not this hook's concern. */
function isOutside(pid: number): boolean {
  return attempt(() => readlinkSync(`/proc/${pid}/ns/mnt`) === readlinkSync('/proc/self/ns/mnt'), false)
}

function variablesOf(pid: number): Readonly<Record<string, string>> {
  try {
    const lines = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0')
    return Object.fromEntries(lines.map((line) => [line.split('=', 1)[0]!, line.slice(line.indexOf('=') + 1)]))
  } catch {
    return {}
  }
}

function bootTime(): number | null {
  try {
    const seconds = /^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'utf8'))?.[1]
    return seconds === undefined ? null : Number(seconds) * 1000
  } catch {
    return null
  }
}

/** A sentence about such sessions, or null. */
export function unguardedLine(program: string, sessions: readonly OpenSession[]): string | null {
  const named = (why: OpenSession['why']): string =>
    sessions
      .filter((one) => one.why === why)
      .map(({ pid, by }) => `${pid}${by === undefined ? '' : ` (${by})`}`)
      .join(', ')
  const [older, off] = [named('older'), named('without hooks')]
  const sentences = [
    ...(older ? [`began before the hook was installed and may not ask it: process ${older}`] : []),
    ...(off ? [`was started without hooks: process ${off}`] : []),
  ]
  return sentences.length === 0 ? null : `an open session of ${program} ${sentences.join('; another ')}`
}
