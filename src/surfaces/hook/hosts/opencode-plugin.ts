/** The plugin that serves as a hook in opencode and Kilo: it asks `cordon hook` and throws to block. */

import { pluginSource, pluginWords } from '../host/plugin-source.ts'

const MARK = '// Written by cordon install; cordon install '

/** The plugin's source. It only imports Node's modules, and every failure blocks. */
export function opencodePlugin(host: string, root: string | null, cordon: readonly string[]): string {
  return `${MARK}${host} --uninstall removes it.
${pluginSource(pluginWords(host, root, cordon))}
const notes = new Map()
// A command's text is expanded again.
const shownReason = ({ reason }) => String(reason || 'cordon: the call was blocked').replace(/[!@]/g, ' ').replace(/\`/g, "'")

export const Cordon = async ({ directory, client }) => ({
  // Language servers and formatters run project programs or plugins, and opencode starts them outside every hook.
  config: async (config) => {
    config.lsp = false
    config.formatter = false
    // Commands and files are inserted into commands, and into skills used as commands, before any other hook runs.
    const answer = await judge({ hook_event_name: 'prompt', directory, prompt: '', commands: true })
    const held = answer.held ?? Object.keys(config.command ?? {}).map((name) => ({ name, reason: answer.reason }))
    for (const one of held) config.command = { ...config.command, [one.name]: { template: shownReason(one) } }
  },
  'chat.message': async (_, output) => {
    const prompt = (output?.parts ?? []).map((part) => (part?.type === 'text' ? part.text : '')).join('\\n')
    const answer = await judge({ hook_event_name: 'prompt', directory, prompt })
    if (answer.decision === 'allow') return
    const message = shownReason(answer)
    await client?.tui?.showToast?.({ body: { message, variant: 'error' } }).catch(() => {})
    if (!process.stdout.isTTY) console.error(message)
    throw new Error(message)
  },
  'tool.execute.before': async (input, output) => {
    const answer = await judge({
      hook_event_name: 'tool.execute.before',
      tool: input.tool,
      session: input.sessionID,
      directory,
      args: output.args ?? {},
      narrows: true,
    })
    if (answer.decision !== 'allow') throw new Error(answer.reason || 'cordon: the call was blocked')
    if (typeof answer.command === 'string') output.args.command = answer.command
    if (answer.filter) {
      output.args[answer.filter.field] = answer.filter.glob
      notes.set(input.callID, answer.note)
    }
  },
  'tool.execute.after': async (input, output) => {
    const isText = typeof output?.output === 'string'
    const note = notes.get(input.callID)
    notes.delete(input.callID)
    if (isText && note) output.output += \`\\n\\n[cordon] \${note}\`
    // A server's result is a list of parts; each text is checked.
    const texts = isText ? [output.output] : (output?.content ?? []).filter((part) => part?.type === 'text').map((part) => part.text)
    for (const text of texts) {
      const answer = await look({
        hook_event_name: 'tool.execute.after',
        tool: input.tool,
        session: input.sessionID,
        directory,
        args: input.args ?? {},
        output: text,
      })
      if (answer?.cordon !== 1 || typeof answer.output !== 'string') continue
      if (isText) output.output = answer.output
      else for (const part of output.content) if (part?.type === 'text' && part.text === text) part.text = answer.output
    }
  },
})
`
}

/** True for a plugin of ours, of any version. */
export function isOpencodePlugin(text: string): boolean {
  return text.startsWith(MARK)
}
