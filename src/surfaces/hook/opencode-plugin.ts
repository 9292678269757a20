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
})
`
}

/** True for a plugin of ours, of any version. */
export function isOpencodePlugin(text: string): boolean {
  return text.startsWith(MARK)
}
