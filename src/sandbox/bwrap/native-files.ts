/** Whether the native files of this platform are those that were built: hashed when they are first used and whenever they changed. */

import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { readOwnFile, writeOwnFile } from '../../system/state.ts'
import { SandboxFault } from '../sandbox-fault.ts'
import type { Architecture } from './syscalls.ts'

/** The programs and addons that may be there; the init always is. */
const NAMES = ['init', 'launch', 'client', 'serve'] as const

/** What was hashed in this process, by its folder. */
const hashed = new Map<string, string>()

/**
 * Refuses files that differ from `SHA256SUMS` beside them: a half-written package, one of another build, a damaged disk. What was
 * hashed is remembered in the state directory by the files' inodes, sizes and times, so that a start checks those alone.
 */
export function mustBeBuilt(folder: string, architecture: Architecture, stateDir: string | null): void {
  const names = NAMES.map((name) => `cordon-${name}-${architecture}`)
  const files = names.map((name) => ({ name, id: identityOf(join(folder, name)) }))
  const identity = [folder, ...files.map(({ id }) => id)].join('\n')
  if (hashed.get(folder) === identity) return
  const memory = stateDir === null ? null : join(stateDir, 'native-files')
  if (memory === null || remembered(memory) !== identity) {
    const sums = sumsIn(folder)
    for (const { name, id } of files) {
      const sum = sums.get(name)
      if (sum !== undefined || id !== null) mustMatch(join(folder, name), sum, id === null)
    }
    if (memory !== null) remember(memory, identity)
  }
  hashed.set(folder, identity)
}

/** A process that changes a file changes its time of change, whatever other times they set. */
function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? [facts.dev, facts.ino, facts.size, facts.mtimeNs, facts.ctimeNs].join(' ') : null
}

function sumsIn(folder: string): ReadonlyMap<string, string> {
  try {
    const lines = readFileSync(join(folder, 'SHA256SUMS'), 'utf8').matchAll(/^([0-9a-f]{64}) {2}(\S+)$/gm)
    return new Map([...lines].map(([, sum, name]) => [name!, sum!]))
  } catch {
    return new Map()
  }
}

function mustMatch(path: string, sum: string | undefined, isMissing: boolean): void {
  if (!isMissing && sum === createHash('sha256').update(readFileSync(path)).digest('hex')) return
  const what = isMissing ? 'is missing' : sum === undefined ? 'is not among the files' : 'is not the file'
  throw new SandboxFault(
    'sandbox-init-changed',
    `${path} ${what} that the build of Cordon created, so nothing can run`,
    {
      remedy: 'Install Cordon again; in a checkout, run `npm run build`.',
      path,
    },
  )
}

function remembered(memory: string): string | null {
  try {
    const known = readOwnFile(memory)
    return known && Buffer.from(known).toString('utf8')
  } catch {
    return null
  }
}

/** Where it cannot be written, the files are hashed again next time. */
function remember(memory: string, identity: string): void {
  try {
    writeOwnFile(memory, identity)
  } catch {
    return
  }
}
