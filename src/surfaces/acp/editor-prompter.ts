/** Asks in the editor's permission dialog. The answer is the editor's, not proof of a person. */

import { randomUUID } from 'node:crypto'
import type { AgentContext, PermissionOption } from '@agentclientprotocol/sdk'
import { visible, visibleLines } from '../../scan/visible-text.ts'
import {
  ANSWERS,
  type Answer,
  type AnswerKind,
  type AskView,
  answerOf,
  askText,
  askView,
  type CordonOptions,
  hidesSome,
  withAnswers,
} from '../../session/cordon.ts'
import { toolKindOf } from './updates.ts'

type Prompter = NonNullable<CordonOptions['prompter']>

/** A dialog of choices has no text field. */
const SHOWN: readonly AnswerKind[] = ['once', 'session', 'time', 'always', 'deny', 'deny-always']
const SECONDS = 3600
/** Short names; the text above contains the whole value. */
const NAME_LENGTH = 60
const TITLE_LENGTH = 200

/** Shows the question again, unfolded and unmasked. */
const SHOW: PermissionOption = { optionId: 'show', name: 'Show everything first', kind: 'reject_once' }

/** Anything but a clear yes is a no. */
export function editorPrompter(client: () => AgentContext, sessionId: () => string): Prompter {
  const put = async (
    title: string,
    kind: ReturnType<typeof toolKindOf>,
    text: string,
    options: PermissionOption[],
    signal: AbortSignal,
  ) => {
    const answer = await client().request(
      'session/request_permission',
      {
        sessionId: sessionId(),
        toolCall: {
          // Random, so that no update of an agent can name it (see `agentCallId`).
          toolCallId: `cordon-${randomUUID()}`,
          title,
          kind,
          status: 'pending',
          content: [{ type: 'content', content: { type: 'text', text } }],
        },
        options,
      },
      { cancellationSignal: signal },
    )
    signal.throwIfAborted()
    return answer.outcome.outcome === 'selected' ? answer.outcome.optionId : null
  }
  return {
    name: 'editor',
    async ask(request, signal) {
      const masked = withAnswers(askView(request), SHOWN)
      const kind = toolKindOf(request.tool)
      for (let whole = !hidesSome(masked); ; whole = true) {
        const view = whole && masked.masked > 0 ? withAnswers(askView(request, 'whole'), SHOWN) : masked
        const options = [...optionsOf(view), ...(whole ? [] : [SHOW])]
        const chosen = await put(titleOf(view), kind, askText(view, { whole, canShow: true }), options, signal)
        if (!whole && chosen === SHOW.optionId) continue
        return chosenAnswer(chosen, view, request.suggestions)
      }
    },
    async question(text, options, signal) {
      if (options.length === 0) return null
      const choices = options.map(
        (name, index): PermissionOption => ({ optionId: `option-${index}`, name: visible(name), kind: 'allow_once' }),
      )
      const none: PermissionOption = { optionId: 'none', name: 'No answer', kind: 'reject_once' }
      const chosen = await put('The agent asks', 'other', visibleLines(text), [...choices, none], signal)
      return options[Number(/^option-(\d+)$/.exec(chosen ?? '')?.[1] ?? Number.NaN)] ?? null
    },
  }
}

/** The tool and the first line of its subject. */
function titleOf({ tool, subject }: AskView): string {
  const [first = '', ...more] = subject.split('\n')
  const named = tool === subject ? '' : ` ${visible(first.slice(0, TITLE_LENGTH).toWellFormed())}`
  return `Cordon asks: ${visible(tool)}${named}${more.length > 0 || first.length > TITLE_LENGTH ? ' …' : ''}`
}

/** One choice per answer; answers that save have one per suggestion. */
function optionsOf({ answers, offers }: AskView): PermissionOption[] {
  return ANSWERS.filter(({ kind }) => answers.includes(kind)).flatMap(({ kind, saves }): PermissionOption[] => {
    const name = NAMES[kind]
    const option = { optionId: kind, name, kind: OPTION_KINDS[kind] }
    if (!saves) return [option]
    return offers.map(({ kind: what, value, also = [] }, index) => {
      const others = also.length === 0 ? '' : ` and ${also.length} more`
      const shown = value.length > NAME_LENGTH ? `${value.slice(0, NAME_LENGTH)}…` : value
      return { ...option, optionId: `${kind}-${index}`, name: `${name}: ${what} ${visible(shown)}${others}` }
    })
  })
}

const NAMES: Readonly<Record<AnswerKind, string>> = {
  once: 'Allow once',
  session: 'Allow for this session',
  time: 'Allow for 1 hour',
  always: 'Always allow',
  deny: 'Deny',
  'deny-always': 'Never allow',
  'deny-message': 'Deny with a message',
}

const OPTION_KINDS: Readonly<Record<AnswerKind, PermissionOption['kind']>> = {
  once: 'allow_once',
  session: 'allow_always',
  time: 'allow_always',
  always: 'allow_always',
  deny: 'reject_once',
  'deny-always': 'reject_always',
  'deny-message': 'reject_once',
}

function chosenAnswer(chosen: string | null, view: AskView, grants: AskView['offers']): Answer {
  const [, answer, index] = /^([a-z-]+?)(?:-(\d+))?$/.exec(chosen ?? '') ?? []
  const choice = index === undefined ? 0 : Number(index)
  return answerOf(view, grants, { answer, choice, seconds: SECONDS }) ?? { kind: 'deny' }
}
