/** The manifests of a project as they are written: its own, the user's and the organisation's. */

import { lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { MANIFEST_NAME } from '../place/root.ts'

export interface WrittenManifest {
  readonly text: string
  /** How messages call the file. */
  readonly label: string
}

export interface WrittenManifests {
  /** What the fleet's policy has for this machine (X8). */
  readonly organisation: readonly WrittenManifest[]
  readonly user: WrittenManifest | null
  readonly project: WrittenManifest | null
}

/** Reads the organisation's manifests. On a machine that is in no fleet nothing is loaded for it. */
export async function readOrganisation(machine: Machine): Promise<readonly WrittenManifest[]> {
  if (!mayBeInFleet(machine)) return []
  const { organisationManifests } = await import('./organisation.ts')
  return organisationManifests(machine, Date.now())
}

/** Whether there are settings of a fleet, or something in their place that cannot be checked: reading them tells. */
export function mayBeInFleet({ systemDir, configDir }: Pick<Machine, 'systemDir' | 'configDir'>): boolean {
  return [systemDir, configDir].some((directory) => {
    try {
      return lstatSync(join(directory, 'fleet.json'), { throwIfNoEntry: false }) !== undefined
    } catch {
      return true
    }
  })
}

/** Reads the manifests that hold in a project. One that is there and cannot be read is a fault: what it denies would be allowed. */
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

/** Reads the manifest that the user has for all projects. */
export function readUserManifest({ configDir, home }: Machine, files: Files): WrittenManifest | null {
  const file = join(configDir, MANIFEST_NAME)
  if (files.isMissing(file)) return null
  // Short, and without the name of the user.
  const label = file.startsWith(`${home}/`) ? `~${file.slice(home.length)}` : file
  return { text: files.readText(file), label }
}
