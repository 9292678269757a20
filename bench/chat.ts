/** The chat: how soon its prompt is there beside bare Node, what streamed text costs, and how long a long talk takes to come back. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, type AgentTools } from '../src/chat/agent.ts'
import type { Model } from '../src/chat/model.ts'
import { openTranscript } from '../src/chat/transcript.ts'
import { EventStreamReader } from '../src/providers/wire.ts'
import { wires } from '../src/providers/wires/wires.ts'
import { MarkdownView } from '../src/surfaces/chat/view/markdown.ts'
import { painter } from '../src/surfaces/chat/view/style.ts'
import { thisMachine } from '../src/system/machine.ts'
import { median, printTable } from './measure.ts'

const CLI = join(import.meta.dirname, '../dist/cordon.cjs')
const ROUNDS = 21
/** A fast model sends so many while one frame is shown. */
const PIECES_A_FRAME = 10

function startUp(base: string): string[][] {
  const home = join(base, 'home')
  mkdirSync(join(home, '.config/cordon'), { recursive: true })
  const profile = { wire: 'openai-chat', base_url: 'http://127.0.0.1:9/v1', model: 'none' }
  writeFileSync(join(home, '.config/cordon/config.json'), JSON.stringify({ profile: 'x', profiles: { x: profile } }))
  const env = { PATH: process.env.PATH!, HOME: home, TERM: 'xterm', CORDON_KEYCHAIN: 'off' }
  const rows = [
    { name: 'node', argv: [process.execPath, '-e', '0'], shows: null },
    { name: 'chat', argv: [process.execPath, CLI, 'chat'], shows: '› ' },
  ]
  const program = join(import.meta.dirname, 'chat-start.py')
  const ran = spawnSync('python3', [program, String(ROUNDS), JSON.stringify(rows)], {
    cwd: base,
    env,
    encoding: 'utf8',
  })
  if (ran.status !== 0) throw new Error(ran.stderr)
  const times = JSON.parse(ran.stdout) as Record<'node' | 'chat', readonly number[]>
  const [node, chat] = [times.node, times.chat]
  const ratio = (of: (values: readonly number[]) => number) => (of(chat) / of(node)).toFixed(2)
  return [
    ['`node -e 0` until it has ended', `${median(node).toFixed(1)} ms`, ''],
    ['`cordon chat` until its prompt', `${median(chat).toFixed(1)} ms`, ''],
    ['relative to Node, median', ratio(median), '1.8'],
    ['relative to Node, best', ratio((values) => Math.min(...values)), '1.8'],
  ]
}

const STREAMED: Readonly<Record<string, string>> = {
  'prose and code': 'Some words of **prose** with `code` in it.\n\n```ts\nconst a = "text" // note\n```\n',
  'one line': 'words of one line without an end ',
  'wide letters': '漢字と言葉、そして。\n',
}

/** 1 MB as a provider streams it, read and rendered, with what is shown of half lines once a frame. */
function streaming(kind: string, sample: string): string[] {
  const text = sample.repeat(40_000).slice(0, 1024 * 1024)
  const pieces = text.match(/[\s\S]{1,24}/g)!
  const chunks = pieces.map((content) =>
    Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: { content } }] })}\n\n`),
  )
  const before = process.cpuUsage()
  const events = new EventStreamReader()
  const reader = wires['openai-chat'].reader()
  const view = new MarkdownView(painter(true), () => 100)
  let shown = 0
  for (const chunk of chunks)
    for (const event of events.take(chunk))
      for (const reported of reader.take(event)) {
        if (reported.type !== 'text') continue
        view.take(reported.text)
        if (++shown % PIECES_A_FRAME === 0) view.half(3)
      }
  view.end()
  const { user, system } = process.cpuUsage(before)
  return [
    `1 MB of ${kind} in ${pieces.length} pieces, processor time`,
    `${((user + system) / 1000).toFixed(0)} ms`,
    '1000 ms',
  ]
}

/** A session of 5,000 turns. */
function resuming(base: string): string[] {
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
    const agent = new Agent({
      restored: opened.restored,
      transcript: opened,
      model: () => ({ context: 200_000 }) as Model,
      system: () => '',
      report: () => {},
      tools: { offered: () => [] } as unknown as AgentTools,
    })
    if (!(agent.fullness > 0)) throw new Error('nothing was resumed')
    const took = performance.now() - started
    opened.close()
    return took
  })
  return ['a session of 5,000 turns resumed', `${median(times).toFixed(0)} ms`, '300 ms']
}

export function benchChat(): void {
  const base = mkdtempSync(join(tmpdir(), 'cordon-bench-chat-'))
  try {
    const streamed = Object.entries(STREAMED).map(([kind, sample]) => streaming(kind, sample))
    printTable('The chat', [['', 'measured', 'goal'], ...streamed, resuming(base), ...startUp(base)])
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 })
  }
}
