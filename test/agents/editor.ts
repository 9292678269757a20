/** An editor that drives an agent over the Agent Client Protocol: it says yes to everything, and reads and writes files for the agent as editors do. */

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

/** A prompt of the editor's person. */
export interface EditorTurn {
  /** The mode that they switch to before it, by its id or the last part of it. */
  readonly mode?: string
}

interface Message {
  readonly id?: number | string
  readonly method?: string
  readonly params?: Readonly<Record<string, unknown>>
  readonly result?: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

const CAPABILITIES = { fs: { readTextFile: true, writeTextFile: true }, terminal: false }

/** One conversation, a prompt for each turn; what both sides said. */
export async function driveByEditor<Turn extends EditorTurn>(
  words: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  turns: readonly Turn[],
  begins: (turn: Turn) => void,
  limitMs = 600_000,
): Promise<string> {
  const [program = '', ...args] = words
  const child = spawn(program, args, { cwd, env, stdio: 'pipe', detached: true })
  const waiting = new Map<number, (answer: Message) => void>()
  let said = ''
  const send = (message: object): void => {
    said += `> ${JSON.stringify(message)}\n`
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  }
  const ended = new Promise<void>((resolve) => {
    child.on('close', () => resolve())
    child.on('error', () => resolve())
  })
  child.stdin.on('error', () => {})
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text
  })
  createInterface({ input: child.stdout }).on('line', (line) => {
    said += `< ${line}\n`
    const message = parsed(line)
    if (message === null) return
    if (message.method === undefined) waiting.get(Number(message.id))?.(message)
    else if (message.id !== undefined) send({ id: message.id, ...served(message) })
  })
  let asked = 0
  const ask = (method: string, params: object): Promise<Readonly<Record<string, unknown>>> => {
    const id = ++asked
    const answer = new Promise<Message>((resolve) => waiting.set(id, resolve))
    send({ id, method, params })
    return Promise.race([answer, ended.then((): Message => ({ error: 'it ended' }))]).then(({ result, error }) => {
      if (error !== undefined) throw new Error(`${method}: ${JSON.stringify(error)}`)
      return result ?? {}
    })
  }
  const timer = setTimeout(() => kill(child.pid), limitMs)
  try {
    await ask('initialize', { protocolVersion: 1, clientCapabilities: CAPABILITIES })
    const { sessionId, modes } = await ask('session/new', { cwd, mcpServers: [] })
    for (const turn of turns) {
      const { mode } = turn
      begins(turn)
      if (mode !== undefined) await ask('session/set_mode', { sessionId, modeId: idOf(mode, modes) })
      await ask('session/prompt', { sessionId, prompt: [{ type: 'text', text: 'go' }] })
    }
  } catch (error) {
    said += String(error)
  } finally {
    clearTimeout(timer)
    kill(child.pid)
    await ended
  }
  return said
}

function kill(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // It has gone.
  }
}

function parsed(line: string): Message | null {
  try {
    return JSON.parse(line) as Message
  } catch {
    return null
  }
}

/** What an editor gives an agent that asks it. */
function served({ method, params = {} }: Message): object {
  try {
    switch (method) {
      case 'session/request_permission': {
        const options = params.options as readonly { readonly optionId: string; readonly kind: string }[]
        const yes = options.find(({ kind }) => kind === 'allow_once') ?? options[0]!
        return { result: { outcome: { outcome: 'selected', optionId: yes.optionId } } }
      }
      case 'fs/read_text_file':
        return { result: { content: readFileSync(String(params.path), 'utf8') } }
      case 'fs/write_text_file':
        writeFileSync(String(params.path), String(params.content))
        return { result: null }
      default:
        return { error: { code: -32601, message: `${method} is not known` } }
    }
  } catch (error) {
    return { error: { code: -32603, message: String(error) } }
  }
}

/** Some name modes by addresses. */
function idOf(wanted: string, modes: unknown): string {
  const { availableModes = [] } = (modes ?? {}) as { readonly availableModes?: readonly { readonly id: string }[] }
  return availableModes.find(({ id }) => id === wanted || id.endsWith(`#${wanted}`))?.id ?? wanted
}
