/** Warnings at start: dangerous settings (P5), and manifest lines without effect (M6). */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { sha256 } from '../system/addon.ts'
import { attempt } from '../system/fault.ts'
import { machineFiles } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import { makeDirectories, openOwnDirectory, writeOwnFile } from '../system/state.ts'
import type { LoadedPolicy } from './load/load.ts'

/** One sentence per warning. */
export function startNotes(
  loaded: LoadedPolicy,
  { isRoot }: Pick<Machine, 'isRoot'>,
  tools: readonly string[] = [],
): readonly string[] {
  const { policy, sandbox } = loaded
  const brief = loaded.session.discoveryBrief
  const { mode } = policy
  const bash = policy.tools.get('bash')
  return [
    ...(isRoot ? ['Cordon runs as root: commands read as root what the sandbox shows'] : []),
    ...(mode.value === 'auto' ? [`mode "auto" (${mode.source}) runs everything that no deny rule stops`] : []),
    ...(policy.autoAccept.value && mode.value === 'custom'
      ? [`auto_accept (${policy.autoAccept.source}) answers every ask with yes`]
      : []),
    ...(bash?.value === 'allow' ? [`bash is allowed without asking (${bash.source})`] : []),
    ...(policy.http.allowPrivate ? ['private and internal hosts are open to the web tools and commands'] : []),
    ...(sandbox.maskSecrets.value ? [] : [`secrets are not hidden from commands (${sandbox.maskSecrets.source})`]),
    ...(brief !== null && machineFiles.isMissing(brief)
      ? [`the discovery brief ${brief} is missing: nothing may be changed until it exists`]
      : []),
    ...loadWarnings(loaded),
    ...tools,
  ]
}

/** Warnings shown at every load: lines without effect, and dangerous ones. */
export function loadWarnings({ warnings }: LoadedPolicy): readonly string[] {
  return warnings.map(({ message, file, line, key }) => `${message} (${file}:${line ?? key})`)
}

/** Warnings of the manifest at every load, other notes only if new. */
export function notesToSay(loaded: LoadedPolicy, machine: Machine): readonly string[] {
  const warnings = loadWarnings(loaded)
  const notes = startNotes(loaded, machine).filter((note) => !warnings.includes(note))
  if (notes.length === 0) return warnings
  const folder = join(openOwnDirectory(machine.stateDir), 'said-notes')
  const file = join(folder, sha256(loaded.root).slice(0, 32))
  const said = new Set(read(file).split('\n'))
  const fresh = notes.filter((note) => !said.has(sha256(note)))
  if (fresh.length > 0) {
    makeDirectories(folder)
    writeOwnFile(file, notes.map((note) => sha256(note)).join('\n'))
  }
  return [...fresh, ...warnings]
}

function read(file: string): string {
  return attempt(() => readFileSync(file, 'utf8'), '')
}
