/** The skills of a project and its user, by name and purpose. */

import type { Machine } from '../../system/machine.ts'
import { discoverSkills, type Skill } from '../../tools/custom/skills.ts'

export interface SkillSummary {
  readonly name: string
  readonly about: string
}

/** Every skill in one line each. */
export function skillList(root: string, machine: Machine): readonly SkillSummary[] {
  return discoverSkills({ root, home: machine.home, configDir: machine.configDir }).map((skill) => ({
    name: skill.name,
    about: aboutOf(skill),
  }))
}

/** `description` of its front matter, else the first line that says something. */
export function aboutOf({ text }: Skill): string {
  const matter = /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
  const described = /^description:\s*["']?(.+?)["']?\s*$/m.exec(matter)?.[1]
  const first = text
    .replace(/^---\n[\s\S]*?\n---\n?/, '')
    .split('\n')
    .find((line) => line.trim() !== '' && !line.startsWith('#'))
  return (described ?? first ?? '').trim().slice(0, 200)
}
