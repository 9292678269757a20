/** Reads the manifests of a project: its own, the user's and the organisation's. */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { MANIFEST_NAME } from '../place/root.ts'

export interface WrittenManifest {
  readonly text: string
  /** The file's name in messages. */
  readonly label: string
}

export interface WrittenManifests {
  /** The fleet's policy for this machine (X8). */
  readonly organisation: readonly WrittenManifest[]
  readonly user: WrittenManifest | null
  readonly project: WrittenManifest | null
}

/** Loads the fleet code only on a machine in a fleet. */
export async function readOrganisation(machine: Machine): Promise<readonly WrittenManifest[]> {
  if (!mayBeInFleet(machine)) return []
  const { organisationManifests } = await import('./organisation.ts')
  return organisationManifests(machine, Date.now())
}

/** Whether fleet settings exist, or something there that cannot be checked. */
export function mayBeInFleet({ systemDir, configDir }: Pick<Machine, 'systemDir' | 'configDir'>): boolean {
  return [systemDir, configDir].some((directory) => {
    try {
      return lstatSync(join(directory, 'fleet.json'), { throwIfNoEntry: false }) !== undefined
    } catch {
      return true
    }
  })
}

/** Reads the manifests in force. An unreadable one is a fault: its denials would be lost. */
export function readManifests(
  root: string,
  machine: Machine,
  files: Files,
  organisation: readonly WrittenManifest[],
): WrittenManifests {
  const project = join(root, MANIFEST_NAME)
  return {
    organisation,
    user: readUserManifest(machine, files),
    project: files.isMissing(project) ? null : { text: files.readText(project), label: MANIFEST_NAME },
  }
}

export function readUserManifest({ configDir, home }: Machine, files: Files): WrittenManifest | null {
  const file = join(configDir, MANIFEST_NAME)
  if (files.isMissing(file)) return null
  // Short, and without the user's name.
  const label = file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file
  return { text: files.readText(file), label }
}
