/** An installed hook on disk: plans, writes and removes its changes, with a backup. */

import { chmodSync, mkdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { Fault } from '../../../system/fault.ts'
import { machineFiles } from '../../../system/files.ts'
import { type FileChange, type InstallPlace, SettingsError } from '../host/install-place.ts'
import { forgetTrust, type TrustEntry, trustOf, withoutTrust } from '../host/installed-trust.ts'
import type { InstalledHost } from '../hosts/hosts.ts'
import { backupOf, isOwnText, planSecondFile, planSettings } from './host-settings.ts'
import { forgetHook, type InstalledHook, installedHook } from './installed-hooks.ts'

export function planInstall(host: InstalledHost, place: InstallPlace): readonly FileChange[] {
  return different(
    understood(() => {
      const second = planSecondFile(host, place, readFile, false)
      return [
        planSettings(host, place, readFile, false),
        ...(second ? [second] : []),
        ...(host.also?.(place, readFile) ?? []),
      ]
    }),
  )
}

/** The removal's changes: the hook, and the trust that its installation wrote. */
export function planRemoval(host: InstalledHost, place: InstallPlace, stateDir: string): readonly FileChange[] {
  const settings = understood(() => {
    const second = planSecondFile(host, place, readFile, true)
    return [unchanged(host, place), ...(second ? [second] : [])]
  })
  return different(untrusted(trustOf(stateDir, keyOf(host, place)), settings))
}

/** Removes the hook and its record. */
export function removeHook(
  host: InstalledHost,
  place: InstallPlace,
  stateDir: string,
  changes: readonly FileChange[],
): void {
  const key = keyOf(host, place)
  for (const change of changes) writeChange(change, host.isProgram)
  if (changes.length > 0) removeMade(stateDir, key)
  forgetTrust(stateDir, trustOf(stateDir, key))
  forgetHook(stateDir, key)
}

function keyOf(
  { name }: InstalledHost,
  { scope, root }: InstallPlace,
): Pick<InstalledHook, 'agent' | 'scope' | 'root'> {
  return { agent: name, scope, root }
}

function different(changes: readonly FileChange[]): readonly FileChange[] {
  return changes.filter(({ before, after }) => before !== after)
}

function understood<T>(plan: () => T): T {
  try {
    return plan()
  } catch (error) {
    if (error instanceof SettingsError)
      throw new Fault('agent-settings', error.message, { remedy: 'Correct that, then run it again.' })
    throw error
  }
}

/** Restores the original if nobody changed the file since; otherwise removes only ours. */
function unchanged(host: InstalledHost, place: InstallPlace): FileChange {
  const change = planSettings(host, place, readFile, true)
  const kept = change.before === null ? null : readFile(backupOf(machineFiles.canonical(change.path)))
  if (kept === null) return change
  const installed = planSettings(host, place, (path) => (path === change.path ? kept : readFile(path)), false)
  return installed.after === change.before ? { ...change, after: kept } : change
}

/** The changes, without the trust that our installation wrote; a file can have both. */
function untrusted(entries: readonly TrustEntry[], changes: readonly FileChange[]): FileChange[] {
  const paths = [...new Set(entries.map((entry) => entry.path))]
  const taken = paths.flatMap((path) => {
    const known = changes.find((change) => change.path === path)
    const { before, after } = known ?? { before: readFile(path), after: readFile(path) }
    if (after === null) return known ? [known] : []
    const own = entries.filter((entry) => entry.path === path)
    return [{ path, before, after: withoutTrust(after, own) }]
  })
  return [...changes.filter(({ path }) => !paths.includes(path)), ...taken]
}

export function readFile(path: string): string | null {
  return machineFiles.exists(path) ? machineFiles.readText(path) : null
}

/** Writes a change; returns the folders it created. */
export function writeChange({ path, before, after }: FileChange, isProgram = false): readonly string[] {
  const target = before === null ? path : machineFiles.canonical(path)
  const mode = before === null ? (isProgram ? 0o700 : 0o600) : statSync(target).mode & 0o777
  const backup = backupOf(target)
  if (after === null) {
    // The file only contained our hook.
    rmSync(target)
    rmSync(backup, { force: true })
    return []
  }
  // If the file already has our hook, the older backup is the original.
  const kept = readFile(backup)
  if (after === kept) rmSync(backup)
  else if (before !== null && !isOwnText(before)) machineFiles.writeText(backup, before, { mode })
  const created = missingAbove(target)
  mkdirSync(dirname(target), { recursive: true })
  machineFiles.writeText(target, after, { mode })
  chmodSync(target, mode)
  return created
}

function missingAbove(path: string): readonly string[] {
  const above = dirname(path)
  return machineFiles.exists(above) || above === path ? [] : [...missingAbove(above), above]
}

function removeMade(stateDir: string, key: Pick<InstalledHook, 'agent' | 'scope' | 'root'>): void {
  for (const folder of [...(installedHook(stateDir, key)?.made ?? [])].reverse()) {
    try {
      rmdirSync(folder)
    } catch {
      // The folder is in use.
    }
  }
}
