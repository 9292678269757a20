/** Finds a project's root and checks that it is a project. */

import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { rootProblem } from '../../files/baseline.ts'
import { attempt, Fault } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { openOwnDirectory, writeOwnFile } from '../../system/state.ts'

export const MANIFEST_NAME = 'cordon.toml'

/** The nearest directory upwards with a manifest, else with a repository, else itself. */
export function findRoot(cwd: string, files: Files): string {
  for (const marker of [MANIFEST_NAME, '.git']) {
    for (let directory = cwd; ; directory = dirname(directory)) {
      const path = join(directory, marker)
      if (files.exists(path) || files.isLink(path)) return directory
      if (directory === dirname(directory)) break
    }
  }
  return cwd
}

const NAME = 'confirmed-roots'

/** Throws unless a canonical root is a project or was confirmed. */
export function requireProject(root: string, machine: Machine): void {
  const problem = rootProblem(root, machine.home)
  if (problem === null || confirmedRoots(machine).includes(root)) return
  throw new Fault('not-a-project', `${root} is not accepted as a project: ${problem}`, {
    remedy: `Go to the folder of the project. If you mean ${root}: cordon run --root ${root} -- true, at a terminal, and confirm it.`,
  })
}

/** Remembers that the person wants this root. */
export function confirmRoot(root: string, machine: Machine): void {
  const roots = new Set([...confirmedRoots(machine), root])
  writeOwnFile(join(openOwnDirectory(machine.stateDir), NAME), `${[...roots].join('\0')}\0`)
}

function confirmedRoots({ stateDir }: Machine): readonly string[] {
  return attempt(() => readFileSync(join(stateDir, NAME), 'utf8').split('\0').filter(Boolean), [])
}
