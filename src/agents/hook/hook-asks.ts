/** The questions of a hook's judgement, as a person is asked them, and as they are kept. */

import { posix } from 'node:path'
import { type Question, requestOf } from '../../approval/approve.ts'
import { type AnswerKind, askSummary, askView, withAnswers } from '../../approval/ask-view.ts'
import { repositoryAt } from '../../project/load/nearby.ts'
import type { NewAsk } from '../../questions/asks.ts'
import { sha256 } from '../../system/addon.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { HookJudgement } from './judge.ts'

/** The question with its possible grants. A yes covers exactly this tool, input, directory and its current link targets. */
export function askOf(
  machine: Machine,
  host: string,
  place: AskPlace,
  judgement: HookJudgement,
  opened: readonly string[],
): NewAsk {
  const { root: project, session, hostTool } = place
  const { call } = judgement
  const question = { ...hookQuestion(machine, place, judgement), opens: opened }
  // An unknown tool's effects are unknown too.
  const isKnown = call.kind === 'tool' || isServerTool(call)
  const request = requestOf(question)
  const suggestions = isKnown ? request.suggestions : []
  const once = isKnown ? sha256(JSON.stringify([host, hostTool, request.once])) : undefined
  const answered: readonly AnswerKind[] = [
    ...(once === undefined ? [] : (['once', 'deny-message'] as const)),
    ...(session === null ? [] : (['session'] as const)),
    'time',
    'always',
    'deny',
    'deny-always',
  ]
  return {
    host,
    project,
    tool: question.tool,
    view: withAnswers(askView(requestOf({ ...question, suggestions })), answered),
    suggestions,
    ...(session !== null && { session }),
    ...(once !== undefined && { once }),
  }
}

/** The question, as every surface asks it. */
export function hookQuestion(machine: Machine, { root, cwd, given }: AskPlace, judgement: HookJudgement): Question {
  const { subject, decision, facts, call } = judgement
  const places = {
    root,
    home: machine.home,
    resolve: (path: string): string => machineFiles.canonical(posix.resolve(root, path)),
    repository: (path: string) => repositoryAt(path, machineFiles),
    exists: machineFiles.exists,
  }
  const tool = call.kind === 'search' ? 'grep' : call.tool
  const isNote = (name: string): boolean => facts !== null && NOTES.has(name) && typeof given[name] === 'string'
  const input = Object.fromEntries(Object.entries(given).filter(([name]) => !isNote(name)))
  const said = Object.keys(given)
    .filter(isNote)
    .map((name) => String(given[name]))
    .join(' ')
  const where = cwd === root ? {} : { where: cwd }
  return { tool, subject, input, decision, facts, places, ...where, ...(said !== '' && { said }) }
}

/** Everything that asks, worst first, in at most this many characters. */
export function whyAsks(machine: Machine, place: AskPlace, judgement: HookJudgement, most: number): string {
  return askSummary(askView(requestOf({ ...hookQuestion(machine, place, judgement), suggestions: [] })), most)
}

function isServerTool(call: HookJudgement['call']): boolean {
  return call.kind === 'foreign' && call.given !== undefined
}

export function toolRemedy(machine: Machine, place: AskPlace, judgement: HookJudgement): string | null {
  if (!isServerTool(judgement.call)) return null
  const [narrow] = requestOf(hookQuestion(machine, place, judgement)).suggestions
  return narrow?.kind === 'tool' ? `To not be asked again: cordon add tool "${narrow.value}".` : null
}

/** An agent's own words about a command: they change with every try, and hosts ignore them. */
const NOTES: ReadonlySet<string> = new Set(['description', 'explanation', 'justification'])

/** Where a host's call came from, with the tool's input. */
export interface AskPlace {
  readonly root: string
  readonly cwd: string
  readonly session: string | null
  /** The host's name of the tool. */
  readonly hostTool: string
  readonly given: Readonly<Record<string, unknown>>
}
