/** The plugin that stands for a hook in opencode: it asks `cordon hook opencode` and throws to block. */

import type { HostName } from './host.ts'

const HOST: HostName = 'opencode'
const MARK = '// Written by cordon install; cordon install opencode --uninstall removes it.'

/** The text of the plugin; it has no imports but Node's own, and every failure of it is a block. */
export function opencodePlugin(root: string | null, cordon: readonly string[]): string {
  const words = [...cordon, 'hook', HOST, ...(root === null ? [] : ['--root', root])]
  return `${MARK}
import { spawn } from 'node:child_process'

const [PROGRAM, ...ARGUMENTS] = ${JSON.stringify(words)}

/** What Cordon says about a call; a reason to block for whatever is not an answer. */
function judge(call) {
  return new Promise((resolve) => {
    const block = (why) => resolve({ decision: 'deny', reason: \`cordon: \${why}, so the call was blocked; cordon doctor tells more.\` })
    let out = ''
    let err = ''
    const child = spawn(PROGRAM, ARGUMENTS, { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdout.setEncoding('utf8')
    child.stderr.setEncoding('utf8')
    const timer = setTimeout(() => { child.kill('SIGKILL'); block('the call could not be judged in time') }, 30000)
    child.on('error', (error) => { clearTimeout(timer); block(\`the hook could not be run (\${error.message})\`) })
    child.stdin.on('error', () => {})
    child.stdout.on('data', (data) => { out += data })
    child.stderr.on('data', (data) => { err += data })
    child.on('close', (code) => {
      clearTimeout(timer)
      if (code !== 0) return block(err.trim().replace(/^cordon: /, '') || \`the hook ended with \${code}\`)
      try {
        const answer = JSON.parse(out)
        if (answer.cordon !== 1 || (answer.decision !== 'allow' && answer.decision !== 'deny')) throw new Error('no decision')
        resolve(answer)
      } catch (error) {
        block(\`the hook’s answer makes no sense (\${error.message})\`)
      }
    })
    child.stdin.end(JSON.stringify(call))
  })
}

/** What Cordon says about a result; null for whatever is not an answer: the tool ran already. */
function look(result) {
  return new Promise((resolve) => {
    let out = ''
    const child = spawn(PROGRAM, ARGUMENTS, { stdio: ['pipe', 'pipe', 'ignore'] })
    child.stdout.setEncoding('utf8')
    const timer = setTimeout(() => { child.kill('SIGKILL'); resolve(null) }, 30000)
    child.on('error', () => { clearTimeout(timer); resolve(null) })
    child.stdin.on('error', () => {})
    child.stdout.on('data', (data) => { out += data })
    child.on('close', () => {
      clearTimeout(timer)
      try { resolve(JSON.parse(out)) } catch { resolve(null) }
    })
    child.stdin.end(JSON.stringify(result))
  })
}

export const Cordon = async ({ directory }) => ({
  'tool.execute.before': async (input, output) => {
    const answer = await judge({
      hook_event_name: 'tool.execute.before',
      tool: input.tool,
      session: input.sessionID,
      directory,
      args: output.args ?? {},
    })
    if (answer.decision !== 'allow') throw new Error(answer.reason || 'cordon: the call was blocked')
    if (typeof answer.command === 'string') output.args.command = answer.command
  },
  'tool.execute.after': async (input, output) => {
    const isText = typeof output?.output === 'string'
    // A server's result is a list of parts, and each text of it is looked at.
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
