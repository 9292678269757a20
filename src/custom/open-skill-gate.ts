/** The gate for scripts of a project's skills, loaded only where there are any. */

import { skillFolders } from '../project/place/own-places.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { SkillGate } from './skill-gate.ts'

/** What is between a command and such a script; nothing where the project has none. */
export async function openSkillGate(root: string, machine: Machine, files: Files): Promise<Partial<SkillGate>> {
  if (!skillFolders(root).some(files.exists)) return {}
  const { skillGate } = await import('./skill-gate.ts')
  return skillGate(root, machine)
}
