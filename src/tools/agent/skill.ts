/** `skill`: lists the skills, or loads one by its name. A project's skill steers, so a person agrees to its text first. */

import { declareTool, defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { takes, text } from '../input-schema.ts'
import { InputError, type Tool, type ToolSpec } from '../tool.ts'

/** A skill as the tool sees it. */
export interface LoadableSkill {
  readonly name: string
  readonly about: string
  readonly text: string
  readonly directory: string
  readonly scripts: readonly { readonly name: string; readonly path: string; readonly approved: boolean }[]
  /** The person's own, or one of the project whose text they agreed to. */
  readonly trusted: boolean
}

export interface SkillPort {
  list(): readonly LoadableSkill[]
  /** The person agreed to the text as it is now. */
  trust(skill: LoadableSkill): void
}

const declaration = {
  name: 'skill',
  description: 'Lists the skills that there are; with a name it loads one: its instructions and where its scripts are.',
  input: takes({}, { name: text('The skill to load.') }),
  labels: ['filesystem'],
  hints: { title: 'Load a skill', ...toolHints.reads },
  actions: touchesNothing,
} as const

export const skillSpec: ToolSpec = declareTool(declaration)

const MAX_SHOWN = 3000

/** What fits a question; that it is not all is said, because all of it would steer. */
function shown({ text: whole, directory }: LoadableSkill): string {
  const left = whole.length - MAX_SHOWN
  if (left <= 0) return whole
  return `${whole.slice(0, MAX_SHOWN).toWellFormed()}\n\n(${left} more characters are in ${directory}/SKILL.md: read them first)`
}

export function skillTool(skills: SkillPort): Tool {
  return defineTool({
    ...declaration,
    run: async ({ name }, context) => {
      const all = skills.list()
      if (name === undefined) {
        const lines = all.map((skill) => `${skill.name}: ${skill.about}`)
        return { text: lines.join('\n') || 'There are no skills.', data: all.map((skill) => skill.name) }
      }
      const skill = all.find((one) => one.name === name)
      if (!skill)
        throw new InputError(
          `there is no skill "${name}"; there are: ${all.map((one) => one.name).join(', ') || 'none'}`,
        )
      if (!skill.trusted) {
        const question = `The project brings the skill "${skill.name}" along. It would steer the agent:\n\n${shown(skill)}\n\nLet the agent follow it?`
        const answer = await context.ask.ask(question, ['yes', 'no'], context.signal)
        context.signal.throwIfAborted()
        if (answer !== 'yes') {
          return {
            text: `The user has not agreed to the skill "${skill.name}" of this project, so it is not loaded.`,
            isError: true,
          }
        }
        skills.trust(skill)
      }
      const scripts = skill.scripts.map(
        (script) => `${script.path}${script.approved ? '' : ' (asks the user before it runs)'}`,
      )
      const listed = scripts.length > 0 ? ['', 'Its scripts:', ...scripts] : []
      return {
        text: [`Skill ${skill.name} (${skill.directory}):`, '', skill.text, ...listed].join('\n'),
        data: { name: skill.name },
      }
    },
  })
}
