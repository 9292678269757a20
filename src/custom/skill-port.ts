/** Skills for the `skill` tool. A project's text is trusted by its bytes, like its scripts. */

import { createHash } from 'node:crypto'
import type { Machine } from '../system/machine.ts'
import type { SkillPort } from '../tools/built-in/agent-tools.ts'
import { discoverSkills, type Skill, skillScriptStatus } from '../tools/custom/skills.ts'
import { createTrustStore, type TrustKey, trustStatus } from '../tools/custom/trust.ts'

export function skillPort(root: string, machine: Machine): SkillPort {
  const store = createTrustStore(machine.stateDir)
  const all = (): readonly Skill[] => discoverSkills({ root, home: machine.home, configDir: machine.configDir })
  return {
    list: () =>
      all().map((skill) => ({
        name: skill.name,
        about: aboutOf(skill),
        text: skill.text,
        directory: skill.directory,
        scripts: skill.scripts.map((script) => ({
          name: script.name,
          path: script.path,
          approved: skillScriptStatus(skill, script, store) === 'ok',
        })),
        trusted: skill.scope === 'user' || trustStatus(store.stored(textKey(skill)), hashOf(skill.text)) === 'ok',
      })),
    trust: ({ name, text }) => {
      const skill = all().find((one) => one.name === name)
      if (skill) store.trust(textKey(skill), hashOf(text), new Date().toISOString())
    },
  }
}

function textKey({ scope, name }: Skill): TrustKey {
  return { scope, name: `skill-text:${name}` }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

/** `description` of the front matter, otherwise the first line of text. */
function aboutOf({ text }: Skill): string {
  const matter = /^---\n([\s\S]*?)\n---/.exec(text)?.[1] ?? ''
  const described = /^description:\s*["']?(.+?)["']?\s*$/m.exec(matter)?.[1]
  const first = text
    .replace(/^---\n[\s\S]*?\n---\n?/, '')
    .split('\n')
    .find((line) => line.trim() !== '' && !line.startsWith('#'))
  return (described ?? first ?? '').trim().slice(0, 200)
}
