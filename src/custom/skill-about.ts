/** What a skill is for, in one line. */

import type { Skill } from '../tools/custom/skills.ts'

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
