/**
 * Speaks with a real model server in each of its protocols: llama.cpp with random weights, so that it is about protocol and loop
 * and never about what is said. `npm test -- models`.
 */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { askModel, type Transport } from '../src/providers/ask-model.ts'
import type { AssistantMessage, Message, ProviderEvent, WireName } from '../src/providers/conversation.ts'
import { wires } from '../src/providers/wires/wires.ts'
import { builtInSpecs } from '../src/tools/built-in/registry.ts'
import { ChatWorld } from '../test/e2e/chat/chat-world.ts'
import { findServer, startServer } from '../test/model-server/llama-server.ts'
import { randomModel } from '../test/model-server/random-model.ts'

const ROUNDS = 5
const FORCED: Readonly<Partial<Record<WireName, object>>> = {
  'openai-chat': { tool_choice: 'required', parallel_tool_calls: false },
  'openai-responses': { tool_choice: 'required', parallel_tool_calls: false },
  anthropic: { tool_choice: { type: 'any', disable_parallel_tool_use: true } },
}
const ADD = {
  name: 'add',
  description: 'Adds.',
  input: { type: 'object', properties: { a: { type: 'integer' }, b: { type: 'integer' } }, required: ['a', 'b'] },
}

const problems: string[] = []
const must = (contains: boolean, what: string): void => {
  if (contains) return
  problems.push(what)
  console.log(`not so: ${what}`)
}

const transport: Transport = async ({ url, headers, body, signal }) => {
  const answer = await fetch(url, { method: 'POST', headers, body, signal, redirect: 'manual' })
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: answer.body! }
}

function ask(url: string, wire: WireName, messages: readonly Message[], forced: boolean, signal: AbortSignal) {
  const endpoint = { wire: wires[wire], baseUrl: url, key: null, headers: {} }
  const request = {
    model: 'random',
    system: 'You add.',
    messages,
    tools: [ADD],
    maxTokens: 400,
    capped: true,
    extra: { ...(forced ? FORCED[wire] : {}) },
  }
  const options = { transport, signal, retries: 0, sleep: async () => {}, random: Math.random, now: Date.now }
  return askModel(endpoint, request, options)
}

const user = (text: string): Message => ({ role: 'user', parts: [{ type: 'text', text }] })

/** Text, forced calls with their results, and a cancelled answer. */
async function speaks(url: string, wire: WireName): Promise<void> {
  let calls = 0
  let texts = 0
  for (let round = 0; round < ROUNDS; round++) {
    for (const forced of [false, true]) {
      const at = `${wire}, ${forced ? 'forced' : 'free'}, round ${round}`
      const asked = [user(`add ${round} and 3`)]
      const first = await whole(ask(url, wire, asked, forced, AbortSignal.timeout(60_000)), at)
      if (!first) continue
      texts++
      const created = first.parts.filter((part) => part.type === 'call')
      calls += created.length
      for (const { name, input, problem } of created) {
        const fits = name === 'add' && Number.isInteger(input.a) && Number.isInteger(input.b)
        must(problem !== undefined || fits, `${at}: a call that fits nothing: ${name} ${JSON.stringify(input)}`)
      }
      if (created.length === 0) continue
      // What it called goes back to it with the results, in its own form.
      const results = created.map(({ id, name }) => ({ id, name, text: '5', isError: false }))
      const next = [...asked, first, { role: 'results' as const, results }, user('and now?')]
      await whole(ask(url, wire, next, false, AbortSignal.timeout(60_000)), `${at}, with results`)
    }
  }
  must(calls >= ROUNDS, `${wire}: only ${calls} calls in ${ROUNDS} forced rounds`)
  const stop = new AbortController()
  let cancelled = false
  try {
    for await (const _ of ask(url, wire, [user('say much')], true, stop.signal)) stop.abort()
  } catch {
    cancelled = stop.signal.aborted
  }
  must(cancelled, `${wire}: an answer could not be cancelled`)
  console.log(`${wire}: ${texts} answers, ${calls} calls, one cancelled`)
}

/** The whole answer; what went wrong is written down. */
async function whole(events: AsyncGenerator<ProviderEvent>, at: string): Promise<AssistantMessage | null> {
  try {
    let said = ''
    for await (const event of events) {
      if (event.type === 'text') said += event.text
      if (event.type !== 'done') continue
      const { message, usage } = event
      const text = message.parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('')
      must(said === text, `${at}: what was streamed is not what was said`)
      must(usage.output > 0 && usage.input + usage.cacheRead > 0, `${at}: nothing was counted`)
      return message
    }
    must(false, `${at}: no end`)
  } catch (error) {
    must(false, `${at}: ${error instanceof Error ? error.message : String(error)}`)
  }
  return null
}

/** The built program with the same server: whatever it calls is decided, and whatever it says does nothing to the terminal. */
async function works(url: string, wire: WireName): Promise<void> {
  const profile = { wire, base_url: url, model: 'random', max_tokens: 4000, context: 131_072, body: FORCED[wire] }
  const config = { profile: 'real', profiles: { real: profile } }
  const world = await ChatWorld.open(() => ({ text: '' }), { config, files: { 'a.txt': 'a\n' } })
  try {
    for (const args of [[], ['--resume']]) {
      const ran = await world.cordon(['chat', ...args, '-p', 'go on', '--json', '--max-turns', '3'])
      const answer = JSON.parse(ran.out || '{}') as {
        end?: string
        turns?: number
        calls?: { status: string }[]
        problem?: string
      }
      const good = ['done', 'max-turns', 'length'].includes(answer.end ?? '')
      must(
        good && ran.code === (answer.end === 'done' ? 0 : 1),
        `${wire}: cordon chat ended with ${ran.code}: ${ran.out}${ran.err}`,
      )
      const statuses = (answer.calls ?? []).map(({ status }) => status).join(' ')
      console.log(
        `${wire}: cordon chat${args.length > 0 ? ' resumed' : ''}: ${answer.end} after ${answer.turns} answers; calls: ${statuses || 'none'}`,
      )
    }
    const chat = world.chat()
    await chat.ready()
    await chat.send('say something')
    await chat.until((screen) => /● |problem|limit of its length|asking again/.test(screen.text) || screen.isAlternate)
    must(chat.screen.unknown.length === 0, `${wire}: this reached the terminal: ${chat.screen.unknown.join(' ')}`)
  } finally {
    await world.close()
  }
}

const known = Object.keys(FORCED) as WireName[]
/** Protocols that are named; without any all of them. */
const wanted = known.filter((wire) => process.argv.includes(wire))
const found = findServer()
if ('missing' in found) {
  console.log(`not run, and that is a failure: ${found.missing}`)
  process.exit(1)
}
const place = mkdtempSync(join(tmpdir(), 'cordon-model-'))
const model = join(place, 'model.gguf')
writeFileSync(model, randomModel(7, JSON.stringify(builtInSpecs)))
const server = await startServer(found.command(model))
try {
  for (const wire of wanted.length > 0 ? wanted : known) {
    await speaks(server.url, wire)
    await works(server.url, wire)
  }
} finally {
  await server.stop()
  rmSync(place, { recursive: true, force: true })
}
process.exitCode = problems.length > 0 ? 1 : 0
