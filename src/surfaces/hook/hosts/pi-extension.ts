/** The extension that serves as a hook in pi: it asks `cordon hook pi`, and blocks what is not allowed. */

import { pluginSource, pluginWords } from '../host/plugin-source.ts'

const HOST = 'pi'
const MARK = '// Written by cordon install; cordon install pi --uninstall removes it.'

/** The extension's source; pi treats its errors as blocks. */
export function piExtension(root: string | null, cordon: readonly string[]): string {
  return `${MARK}
${pluginSource(pluginWords(HOST, root, cordon))}
const sessionOf = (context) => context.sessionManager?.getSessionId?.() ?? null

const notes = new Map()

export default function cordon(pi) {
  pi.on('input', async (event, context) => {
    const answer = await judge({ hook_event_name: 'prompt', directory: context.cwd, prompt: String(event.text ?? '') })
    if (answer.decision === 'allow') return { action: 'continue' }
    const reason = answer.reason || 'cordon: the call was blocked'
    if (context.hasUI) context.ui.notify(reason, 'error')
    else console.error(reason)
    return { action: 'handled' }
  })
  pi.on('tool_call', async (event, context) => {
    const answer = await judge({
      hook_event_name: 'tool.execute.before',
      tool: event.toolName,
      session: sessionOf(context),
      directory: context.cwd,
      args: event.input ?? {},
      narrows: true,
    })
    if (answer.decision !== 'allow') return { block: true, reason: answer.reason || 'cordon: the call was blocked' }
    if (typeof answer.command === 'string') event.input.command = answer.command
    if (answer.filter) {
      event.input[answer.filter.field] = answer.filter.glob
      notes.set(event.toolCallId, answer.note)
    }
  })
  pi.on('tool_result', async (event, context) => {
    const content = []
    let changed = false
    for (const part of event.content ?? []) {
      const answer = part?.type !== 'text' ? null : await look({
        hook_event_name: 'tool.execute.after',
        tool: event.toolName,
        session: sessionOf(context),
        directory: context.cwd,
        args: event.input ?? {},
        output: part.text,
      })
      const isNew = answer?.cordon === 1 && typeof answer.output === 'string'
      changed ||= isNew
      content.push(isNew ? { ...part, text: answer.output } : part)
    }
    const note = notes.get(event.toolCallId)
    notes.delete(event.toolCallId)
    if (note) content.push({ type: 'text', text: \`[cordon] \${note}\` })
    return changed || note ? { content } : undefined
  })
}
`
}

/** True for an extension of ours, of any version. */
export function isPiExtension(text: string): boolean {
  return text.startsWith(MARK)
}
