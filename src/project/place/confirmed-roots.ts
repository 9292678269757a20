/** Roots that are not projects by their place, and that the person has confirmed all the same (F10). */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { rootProblem } from '../../files/root-place.ts'
import { Fault } from '../../system/fault.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, writeOwnFile } from '../../system/state.ts'

const NAME = 'confirmed-roots'

/** Throws unless a canonical root is a project, or was confirmed. */
export function requireProject(root: string, machine: Machine): void {
  const problem = rootProblem(root, machine.home)
  if (problem === null || confirmedRoots(machine).includes(root)) return
  throw new Fault('not-a-project', `${root} is not taken for a project: ${problem}`, {
    remedy: `Go to the folder of the project. If you mean ${root}: cordon run --root ${root} -- true, at a terminal, and confirm it.`,
  })
}

/** Remembers that a person wants this root. */
export function confirmRoot(root: string, machine: Machine): void {
  const roots = new Set([...confirmedRoots(machine), root])
  writeOwnFile(join(openOwnDirectory(machine.stateDir), NAME), `${[...roots].join('\0')}\0`)
}

function confirmedRoots({ stateDir }: Machine): readonly string[] {
  try {
    return readFileSync(join(stateDir, NAME), 'utf8').split('\0').filter(Boolean)
  } catch {
    return []
  }
}
