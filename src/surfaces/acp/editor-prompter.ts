/** Cordon's asks in the editor's own permission dialog. An answer of the editor, not proof of a person. */

import type { AgentContext, PermissionOption } from '@agentclientprotocol/sdk'
import type { CordonOptions } from '../../runtime/cordon.ts'
import { coverSecrets } from '../../scan/redact/cover.ts'
import { visible, visibleLines } from '../../scan/visible-text.ts'
import { toolKindOf } from './updates.ts'

type Prompter = NonNullable<CordonOptions['prompter']>
type ApprovalRequest = Parameters<Prompter['ask']>[0]
type Answer = Awaited<ReturnType<Prompter['ask']>>

/** Asks through the editor; anything but a clear yes is a no. */
export function editorPrompter(client: () => AgentContext, sessionId: () => string): Prompter {
  let count = 0
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
          toolCallId: `cordon-ask-${++count}`,
          title: coverSecrets(title),
          kind,
          status: 'pending',
          content: [{ type: 'content', content: { type: 'text', text: coverSecrets(text) } }],
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
      const title = `Cordon asks: ${visible(request.tool)} ${visible(request.subject.split('\n')[0]!)}`
      const chosen = await put(title, toolKindOf(request.tool), questionText(request), optionsOf(request), signal)
      return answerOf(chosen, request)
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

function optionsOf({ suggestions }: ApprovalRequest): PermissionOption[] {
  const [narrowest] = suggestions
  return [
    { optionId: 'once', name: 'Allow once', kind: 'allow_once' },
    ...(narrowest
      ? [
          {
            optionId: 'session',
            name: `Allow for this session: ${narrowest.kind} ${visible(narrowest.value)}`,
            kind: 'allow_always' as const,
          },
        ]
      : []),
    { optionId: 'deny', name: 'Deny', kind: 'reject_once' },
  ]
}

function answerOf(chosen: string | null, { suggestions }: ApprovalRequest): Answer {
  const [narrowest] = suggestions
  if (chosen === 'once') return { kind: 'once' }
  if (chosen === 'session' && narrowest) return { kind: 'session', grant: narrowest }
  return { kind: 'deny' }
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
      ? [`For this session it would allow ${narrowest.kind} ${visible(narrowest.value)} (${visible(narrowest.admits)})`]
      : []),
  ].join('\n')
}
