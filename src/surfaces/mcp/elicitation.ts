/** Approvals by elicitation: the client asks its person. An answer proves the client, not a person. */

import { keepRequest } from '../../questions/asks.ts'
import type { ApprovalRequest } from '../../session/cordon.ts'
import {
  ANSWERS,
  type AskView,
  answerOf,
  askText,
  askView,
  type CordonOptions,
  hidesSome,
  LONGEST_SECONDS,
  withAnswers,
} from '../../session/cordon.ts'
import { isRecord } from '../../system/json.ts'
import type { Json } from '../../system/json-rpc.ts'
import type { Machine } from '../../system/machine.ts'
import { visible } from '../terminal/terminal.ts'
import type { Elicit } from './rounds.ts'

type Prompter = NonNullable<CordonOptions['prompter']>

const MINUTES = 60

/**
 * A prompter that asks through the client. Anything but a clear yes is a no. With several clients (`shared`), a yes
 * covers one call, so that it opens nothing to another client.
 */
export function elicitationPrompter(elicit: Elicit, shared: boolean): Prompter {
  return {
    name: 'elicitation',
    async ask(request, signal) {
      const narrowed = (view: AskView) => (shared ? withAnswers(view, ['once', 'deny', 'deny-message']) : view)
      const masked = narrowed(askView(request))
      for (let whole = !hidesSome(masked); ; whole = true) {
        const view = whole && masked.masked > 0 ? narrowed(askView(request, 'whole')) : masked
        const message = askText(view, { whole, canShow: true })
        const given = await elicit({ message, requestedSchema: formOf(view, !whole) }, signal)
        // A client without a person cancels; only a person who read the form declines.
        if (!isRecord(given) || given.action === 'cancel') throw new Error('the question was closed without an answer')
        if (given.action !== 'accept' || !isRecord(given.content)) return { kind: 'deny' }
        const { answer, grant, minutes, message: said } = given.content
        if (!whole && answer === SHOW.kind) continue
        const choice = grant === undefined ? 0 : offerNames(view).indexOf(String(grant))
        const seconds = (typeof minutes === 'number' ? minutes : MINUTES) * 60
        return answerOf(view, request.suggestions, { answer, choice, seconds, message: said }) ?? { kind: 'deny' }
      }
    },
    async question(text, options, signal) {
      const answer = {
        type: 'string',
        title: 'Answer',
        ...(options.length > 0 && { enum: [...options] }),
      }
      const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
      const given = await elicit({ message: `The agent asks: ${visible(text)}`, requestedSchema }, signal)
      const content = isRecord(given) && given.action === 'accept' && isRecord(given.content) ? given.content : {}
      return typeof content.answer === 'string' ? content.answer : null
    },
  }
}

/** Not an answer: repeats the question with nothing folded or masked. */
const SHOW = { kind: 'show', label: 'show everything first' }

function formOf(view: AskView, canShow: boolean): Json {
  const rows = [...ANSWERS.filter(({ kind }) => view.answers.includes(kind)), ...(canShow ? [SHOW] : [])]
  const answer = {
    type: 'string',
    title: 'Answer',
    description: rows.map(({ kind, label }) => (kind === label ? kind : `${kind}: ${label}`)).join('; '),
    enum: rows.map(({ kind }) => kind),
    enumNames: rows.map(({ label }) => label),
  }
  const names = offerNames(view)
  const grant = {
    type: 'string',
    title: 'What is saved',
    description: 'For session, time, always and deny-always.',
    enum: names,
    default: names[0],
  }
  const minutes = {
    type: 'integer',
    title: 'Minutes',
    description: 'For time.',
    minimum: 1,
    maximum: LONGEST_SECONDS / 60,
    default: MINUTES,
  }
  const message = { type: 'string', title: 'Message to the agent', description: 'For deny-message.' }
  const properties = {
    answer,
    ...(names.length > 1 && { grant }),
    ...(view.answers.includes('time') && { minutes }),
    ...(view.answers.includes('deny-message') && { message }),
  }
  return { type: 'object', properties, required: ['answer'] }
}

function offerNames({ offers }: AskView): string[] {
  return offers.map(({ kind, value, also = [] }, index) => {
    const others = also.length === 0 ? '' : ` and ${also.length} more`
    return `${index + 1}: ${kind} ${visible(value)}${others}`
  })
}

/** Keeps a question that nobody could answer. Returns what the agent can do about it. */
export function keepQuestion(machine: Machine, project: string, host: string, request: ApprovalRequest): string {
  const id = keepRequest(machine, { host, project }, request)
  return id === null
    ? 'only the manifest can allow it: the user can grant it in cordon.toml and sign that'
    : `tell the user to run \`cordon approvals allow ${id}\` in another terminal, and go on with other work: the next try of the same call takes the answer`
}
