/** The source that our plugins share. It only imports Node's modules, and every failure blocks. */

import { ANSWER_SECONDS } from './hook-command.ts'

/** The beginning of a plugin: `judge(call)` and `look(result)`; the words run `cordon hook HOST`. */
export function pluginSource(words: readonly string[]): string {
  return `import { spawn } from 'node:child_process'

const [PROGRAM, ...ARGUMENTS] = ${JSON.stringify(words)}

/** Cordon's answer about a call; invalid answers are reasons to block. */
function judge(call) {
  return new Promise((resolve) => {
    const block = (why) => resolve({ decision: 'deny', reason: \`cordon: \${why}, so the call was blocked; cordon doctor says why. If Cordon was removed, delete its plugin from this agent.\` })
    let out = ''
    let err = ''
    const child = spawn(PROGRAM, ARGUMENTS, { stdio: ['pipe', 'pipe', 'pipe'] })
    child.stdout.setEncoding('utf8')
    child.stderr.setEncoding('utf8')
    const timer = setTimeout(() => { child.kill('SIGKILL'); block('the call could not be judged in time') }, ${(ANSWER_SECONDS + 10) * 1000})
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

/** Cordon's note about a result; null for an invalid answer, because the tool already ran. */
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
`
}

/** The words that run Cordon for a host's plugin. */
export function pluginWords(host: string, root: string | null, cordon: readonly string[]): readonly string[] {
  return [...cordon, 'hook', host, ...(root === null ? [] : ['--root', root])]
}
