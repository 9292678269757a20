/** Loads the gate for skill scripts only if a project has skills. */

import { skillFolders } from '../project/place/own-places.ts'
import type { Files } from '../system/files.ts'
import type { Machine } from '../system/machine.ts'
import type { SkillGate } from './skill-gate.ts'

export async function openSkillGate(root: string, machine: Machine, files: Files): Promise<Partial<SkillGate>> {
  if (!skillFolders(root).some(files.exists)) return {}
  const { skillGate } = await import('./skill-gate.ts')
  return skillGate(root, machine)
}
