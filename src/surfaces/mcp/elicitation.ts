/** Approvals by elicitation: the client shows the question to its person. An answer from the client, not proof of a person. */

import type { CordonOptions } from '../../runtime/cordon.ts'
import { coverSecrets } from '../../scan/redact/cover.ts'
import { visible } from '../terminal/terminal.ts'
import { isObject } from './json-rpc.ts'
import type { Elicit } from './rounds.ts'

type Prompter = NonNullable<CordonOptions['prompter']>
type ApprovalRequest = Parameters<Prompter['ask']>[0]
type Answer = Awaited<ReturnType<Prompter['ask']>>

/**
 * A prompter that asks through the client. Anything but a clear yes is a no. Where clients share what they work on (`shared`), a
 * yes is for the one call: it must not open anything to another client.
 */
export function elicitationPrompter(elicit: Elicit, shared: boolean): Prompter {
  return {
    name: 'elicitation',
    async ask(asked, signal) {
      const request = shared ? { ...asked, suggestions: [] } : asked
      const answers = request.suggestions.length > 0 ? ['once', 'session', 'deny'] : ['once', 'deny']
      const answer = {
        type: 'string',
        title: 'Answer',
        description: 'once: only this call; session: also what is named above, until the session ends; deny: no.',
        enum: answers,
      }
      const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
      return readAnswer(
        await elicit({ message: coverSecrets(questionText(request)), requestedSchema }, signal),
        request,
      )
    },
    async question(text, options, signal) {
      const answer = {
        type: 'string',
        title: 'Answer',
        ...(options.length > 0 && { enum: [...options] }),
      }
      const requestedSchema = { type: 'object', properties: { answer }, required: ['answer'] }
      const given = await elicit({ message: `The agent asks: ${coverSecrets(visible(text))}`, requestedSchema }, signal)
      const content = isObject(given) && given.action === 'accept' && isObject(given.content) ? given.content : {}
      return typeof content.answer === 'string' ? content.answer : null
    },
  }
}

/** P6: the tool, the exact subject, why it is asked, and what a saved answer would also admit. */
function questionText({ tool, subject, where, decision, suggestions }: ApprovalRequest): string {
  const [narrowest] = suggestions
  return [
    `Cordon asks before ${visible(tool)} runs:`,
    ...subject.split('\n').map((line) => `    ${visible(line)}`),
    ...(where ? [`in ${visible(where)}`] : []),
    `Why: ${visible(decision.reason.message)}`,
    ...(narrowest
      ? [`"session" would allow: ${narrowest.kind} ${visible(narrowest.value)} (${visible(narrowest.admits)})`]
      : []),
  ].join('\n')
}

function readAnswer(given: unknown, { suggestions }: ApprovalRequest): Answer {
  if (!isObject(given) || given.action !== 'accept' || !isObject(given.content)) return { kind: 'deny' }
  const [narrowest] = suggestions
  if (given.content.answer === 'once') return { kind: 'once' }
  if (given.content.answer === 'session' && narrowest) return { kind: 'session', grant: narrowest }
  return { kind: 'deny' }
}
