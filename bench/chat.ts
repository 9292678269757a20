/** The chat: how soon its prompt is there beside bare Node, what streamed text costs, and how long a long talk takes to come back. */

import { spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EventStreamReader } from '../src/providers/event-stream.ts'
import { wires } from '../src/providers/wires/wires.ts'
import { openTranscript } from '../src/runtime/agent/transcript.ts'
import { MarkdownView } from '../src/surfaces/chat/view/markdown.ts'
import { painter } from '../src/surfaces/chat/view/style.ts'
import { thisMachine } from '../src/system/machine.ts'

const CLI = join(import.meta.dirname, '../dist/cordon.cjs')
const ROUNDS = 21

/** Milliseconds until a program at a terminal has shown something, or has ended. */
function timed(command: string, shows: string, cwd: string, env: Record<string, string>): Promise<number> {
  const started = performance.now()
  return new Promise((resolve) => {
    const child = spawn('script', ['-qfec', `exec ${command}`, '/dev/null'], { cwd, env: { ...env, SHELL: '/bin/sh' } })
    let text = ''
    const done = () => {
      resolve(performance.now() - started)
      child.kill('SIGKILL')
    }
    child.stdout.setEncoding('utf8').on('data', (piece: string) => {
      text += piece
      if (text.includes(shows)) done()
    })
    child.once('exit', done)
  })
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

async function startUp(base: string): Promise<void> {
  const home = join(base, 'home')
  mkdirSync(join(home, '.config/cordon'), { recursive: true })
  const profile = { wire: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', model: 'none' }
  writeFileSync(join(home, '.config/cordon/config.json'), JSON.stringify({ profile: 'x', profiles: { x: profile } }))
  const env = { PATH: process.env.PATH!, HOME: home, TERM: 'xterm', CORDON_KEYCHAIN: 'off' }
  const rows = {
    node: `'${process.execPath}' -e 'require("node:fs").writeSync(1, "› ")'`,
    chat: `'${process.execPath}' '${CLI}' chat`,
  }
  const times: Record<string, number[]> = { node: [], chat: [] }
  for (let round = 0; round < ROUNDS + 3; round++) {
    for (const [name, command] of Object.entries(rows)) {
      const took = await timed(command, '› ', base, env)
      if (round >= 3) times[name]!.push(took)
    }
  }
  // Both until the first sign is on the terminal: an ending process takes longer, and would flatter the prompt.
  const [node, chat] = [median(times.node!), median(times.chat!)]
  console.log(
    `prompt: ${chat.toFixed(1)} ms, node -e that shows as much: ${node.toFixed(1)} ms, ${(chat / node).toFixed(2)}x (at most 1.8x)`,
  )
}

/** 1 MB of Markdown and code, as a provider streams it, read and rendered. */
function streaming(): void {
  const text = 'Some words of **prose** with `code` in it.\n\n```ts\nconst a = "text" // note\n```\n'
    .repeat(13_000)
    .slice(0, 1024 * 1024)
  const pieces = text.match(/[\s\S]{1,24}/g)!
  const chunks = pieces.map((content) =>
    Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`),
  )
  const before = process.cpuUsage()
  const events = new EventStreamReader()
  const reader = wires['openai-chat'].reader()
  const view = new MarkdownView(painter(true), () => 100)
  let lines = 0
  for (const chunk of chunks)
    for (const event of events.take(chunk))
      for (const told of reader.take(event)) if (told.type === 'text') lines += view.take(told.text).length
  const { user, system } = process.cpuUsage(before)
  console.log(
    `1 MB streamed in ${pieces.length} pieces, ${lines} lines: ${((user + system) / 1000).toFixed(0)} ms of processor (at most 1000)`,
  )
}

/** A session of 5,000 turns. */
function resuming(base: string): void {
  const machine = { ...thisMachine(), stateDir: join(base, 'state') }
  const first = openTranscript(machine, 'bench', base)
  for (let turn = 0; turn < 5000; turn++) {
    first.add({ role: 'user', parts: [{ type: 'text', text: `turn ${turn}: ${'please look at this '.repeat(10)}` }] })
    first.add({
      role: 'assistant',
      wire: 'anthropic',
      parts: [
        { type: 'text', text: 'An answer of a few sentences. '.repeat(20) },
        { type: 'call', id: `c${turn}`, name: 'read', input: { path: 'a.ts' } },
      ],
    })
    first.add({
      role: 'results',
      results: [{ id: `c${turn}`, name: 'read', text: 'a line of a file\n'.repeat(30), isError: false }],
    })
  }
  first.close()
  const times = Array.from({ length: 7 }, () => {
    const started = performance.now()
    const opened = openTranscript(machine, 'bench', base)
    const took = performance.now() - started
    opened.close()
    return took
  })
  console.log(
    `5,000 turns resumed in ${median(times).toFixed(0)} ms (at most 300), ${readdirSync(join(base, 'state/chat')).length} files`,
  )
}

export async function benchChat(): Promise<void> {
  const base = mkdtempSync(join(tmpdir(), 'cordon-bench-chat-'))
  try {
    streaming()
    resuming(base)
    await startUp(base)
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
