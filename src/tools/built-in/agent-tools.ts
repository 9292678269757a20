/** Tools that use other parts of the session: sub-agents, skills, language servers. */

import { declareTool, defineTool, toolHints, touchesNothing } from '../define-tool.ts'
import { choice, count, type LooseObject, loose, path, takes, text, text as textInput } from '../input-schema.ts'
import { type Actions, InputError, type Tool, type ToolOutput, type ToolSpec } from '../tool.ts'

export type LanguageAction = 'diagnostics' | 'definition' | 'references' | 'symbols' | 'rename'

export interface LanguageQuestion {
  readonly action: LanguageAction
  /** Canonical. */
  readonly path: string
  /** The file's current content. */
  readonly text: string
  /** Counted from 0; null if not needed. */
  readonly position: { readonly line: number; readonly character: number } | null
  readonly newName: string | null
}

type LanguagePort = (question: LanguageQuestion, signal: AbortSignal) => Promise<ToolOutput>

const MAX_FILE = 4 * 1024 * 1024
const ACTIONS = ['diagnostics', 'definition', 'references', 'symbols', 'rename'] as const

const lspDeclaration = {
  name: 'lsp',
  description:
    'Asks the language server of a file: diagnostics, symbols; definition and references of the symbol at line and column; rename returns the edits, and changes nothing.',
  input: takes(
    { path, action: choice('What to ask.', ACTIONS) },
    {
      line: count('Line, counted from 1.'),
      column: count('Column, counted from 1.'),
      new_name: textInput('For rename.'),
    },
  ),
  labels: ['execute', 'filesystem'],
  hints: { title: 'Ask a language server', ...toolHints.reads },
  actions: (input: { readonly path: string }): Actions => ({ reads: [input.path] }),
} as const

export const lspSpec: ToolSpec = declareTool(lspDeclaration)

export function lspTool(ask: LanguagePort): Tool {
  return defineTool({
    ...lspDeclaration,
    run: async ({ path: given, action, line, column, new_name: newName }, context) => {
      const placed = action === 'definition' || action === 'references' || action === 'rename'
      if (placed && (line === undefined || column === undefined))
        throw new InputError(`${action} of lsp needs "line" and "column"`)
      if (action === 'rename' && !newName) throw new InputError('rename of lsp needs "new_name"')
      const position = placed ? { line: line! - 1, character: column! - 1 } : null
      const checked = context.checked(given)
      const text = context.files.read(checked, MAX_FILE).bytes.toString('utf8')
      return ask({ action, path: checked, text, position, newName: newName ?? null }, context.signal)
    },
  })
}

interface LoadableSkill {
  readonly name: string
  readonly about: string
  readonly text: string
  readonly directory: string
  readonly scripts: readonly { readonly name: string; readonly path: string; readonly approved: boolean }[]
  /** The person's own, or a project's whose text they approved. */
  readonly trusted: boolean
}

export interface SkillPort {
  list(): readonly LoadableSkill[]
  /** The person approved the current text. */
  trust(skill: LoadableSkill): void
}

const skillDeclaration = {
  name: 'skill',
  description: 'Lists the skills that there are; with a name it loads one: its instructions and where its scripts are.',
  input: takes({}, { name: text('The skill to load.') }),
  labels: ['filesystem'],
  hints: { title: 'Load a skill', ...toolHints.reads },
  actions: touchesNothing,
} as const

export const skillSpec: ToolSpec = declareTool(skillDeclaration)

const MAX_SHOWN = 3000

/** Cuts a long text and says so, because the rest would be missing. */
function shown({ text: whole, directory }: LoadableSkill): string {
  const left = whole.length - MAX_SHOWN
  if (left <= 0) return whole
  return `${whole.slice(0, MAX_SHOWN).toWellFormed()}\n\n(${left} more characters are in ${directory}/SKILL.md: read them first)`
}

export function skillTool(skills: SkillPort): Tool {
  return defineTool({
    ...skillDeclaration,
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

export type TaskPort = (
  task: { readonly prompt: string; readonly agent: string | null },
  signal: AbortSignal,
) => Promise<ToolOutput>

const MAX_PROMPT = 50_000

const taskDeclaration = {
  name: 'task',
  description:
    'Gives a task to a sub-agent with its own conversation, and returns its answer. It sees nothing of this conversation: include all it needs. Agent "plan" only reads.',
  input: takes(
    { prompt: text('The task, with everything the sub-agent must know.') },
    {
      agent: text('Which agent: the same as yours unless named; "plan" reads only.'),
      description: text('The task in a few words.'),
    },
  ),
  hints: { title: 'Hand work to a sub-agent', ...toolHints.runs },
  actions: touchesNothing,
} as const

export const taskSpec: ToolSpec = declareTool(taskDeclaration)

export function taskTool(run: TaskPort): Tool {
  return defineTool({
    ...taskDeclaration,
    run: async ({ prompt, agent }, context) => {
      if (prompt.trim() === '' || prompt.length > MAX_PROMPT) {
        throw new InputError(`"prompt" of task must have between 1 and ${MAX_PROMPT} characters`)
      }
      return run({ prompt, agent: agent ?? null }, context.signal)
    },
  })
}

/** Asks for a yes to a call without waiting for it. */
type RequestPort = (wanted: {
  readonly tool: string
  readonly input: LooseObject
  readonly reason: string
}) => Promise<ToolOutput>

const requestDeclaration = {
  name: 'cordon_request',
  description:
    'Asks the user to allow a call of another tool, and does not wait: go on with other work. The question is kept until they answer, and the next try of the same call takes the answer.',
  input: takes({
    tool: text('The tool of the call.'),
    input: loose('Its input, exactly as it will be called.'),
    reason: text('Why you need it, in one sentence for the user.'),
  }),
  labels: [],
  hints: { title: 'Ask for a call without waiting', ...toolHints.looksOut },
  actions: touchesNothing,
} as const

export const requestSpec: ToolSpec = declareTool(requestDeclaration)

export function requestTool(request: RequestPort): Tool {
  return defineTool({ ...requestDeclaration, run: (wanted) => request(wanted) })
}
