/** Where a project keeps the skills it brings along, and the gate for their scripts, loaded only where there are any. */

import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'

/** The folders of a project's skills. */
export function skillFolders(root: string): readonly string[] {
  return [`${root}/.cordon/skills`, `${root}/.agents/skills`]
}

/** The gate for scripts of the project's skills; nothing where the project has none. */
export async function openSkillGate(
  root: string,
  machine: Machine,
  files: Files,
): Promise<{ readonly scriptProblem?: (path: string) => string | null }> {
  if (!skillFolders(root).some(files.exists)) return {}
  const { skillGate } = await import('./skill-gate.ts')
  return { scriptProblem: skillGate(root, machine) }
}
