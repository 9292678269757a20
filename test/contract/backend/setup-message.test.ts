/** cordon-init against damaged setup messages: it refuses or obeys, and never crashes. */

import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createBwrapBackend } from '../../../src/sandbox/bwrap/backend.ts'
import { type InitMessage, MESSAGE_BYTES, parseMessage } from '../../../src/sandbox/bwrap/init-messages.ts'
import { NUMBERS } from '../../../src/sandbox/protocol.ts'
import { planIn } from '../../plan-in.ts'

const ROUNDS = 150

let project: string
let compiled: { program: string; args: readonly string[]; setupMessage: Buffer }

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
  project = mkdtempSync(join(tmpdir(), 'cordon-setup-'))
  writeFileSync(join(project, '.env'), 'secret')
  const {
    program,
    args,
    setupMessage: setup,
  } = createBwrapBackend().compile(planIn(project, ['/usr/bin/true'], { masks: [join(project, '.env')] }))
  compiled = { program, args, setupMessage: Buffer.from(setup as Uint8Array) }
})
afterAll(() => rmSync(project, { recursive: true, force: true }))

interface Answer {
  readonly code: number | null
  /** It ended before its setup message was written: Node then drops what it said. */
  readonly unheard: boolean
  readonly messages: readonly InitMessage[]
}

function give(setup: Buffer, groups: readonly string[] = [], starts = false): Promise<Answer> {
  const path = fileURLToPath(new URL(`../../../dist/native/cordon-init-${process.arch}`, import.meta.url))
  const init = openSync(path, 'r')
  const nothing = openSync('/dev/null', 'r+')
  const stdio = ['ignore', 'ignore', 'ignore', 'pipe', init, nothing, nothing, nothing] as const
  const bubblewrap = [compiled.program, ...compiled.args]
  const [program, ...args] = groups.length > 0 ? [path, 'enter', ...groups, '--', ...bubblewrap] : bubblewrap
  const child = spawn(program!, args, { stdio: [...stdio], env: {} })
  closeSync(init)
  closeSync(nothing)
  const control = child.stdio[3] as Socket
  const chunks: Buffer[] = []
  let unheard = false
  control
    .on('error', () => {
      unheard = true
    })
    .on('data', (chunk) => chunks.push(chunk))
  // An end, so that a message that promises more than it contains is not waited for. A command starts only while its parent exists.
  if (starts) {
    control.once('data', () => control.end())
    control.write(setup)
  } else control.end(setup)
  return new Promise((resolve) =>
    child.once('close', (code) => {
      const bytes = Buffer.concat(chunks)
      const messages: InitMessage[] = []
      for (let at = 0; at + MESSAGE_BYTES <= bytes.length; at += MESSAGE_BYTES) {
        const message = parseMessage(bytes.subarray(at, at + MESSAGE_BYTES))
        if (message) messages.push(message)
      }
      resolve({ code, messages, unheard: unheard && messages.length === 0 })
    }),
  )
}

const refusal = { kind: 'failed', step: NUMBERS.step.ORDERS }

/** The setup message without some records, with its length corrected. */
function without(types: string): Buffer {
  const { setupMessage: setup } = compiled
  const kept: Buffer[] = []
  for (let at = 12; at < setup.length; ) {
    const length = setup.readUInt32LE(at + 1)
    if (!types.includes(String.fromCharCode(setup[at]!))) kept.push(setup.subarray(at, at + 5 + length))
    at += 5 + length
  }
  return framed(Buffer.concat(kept))
}

function framed(body: Buffer): Buffer {
  const head = Buffer.from(compiled.setupMessage.subarray(0, 12))
  head.writeUInt32LE(body.length, 8)
  return Buffer.concat([head, body])
}

function record(type: string, payload: Uint8Array | string): Buffer {
  const bytes = Buffer.from(payload as string)
  const head = Buffer.alloc(5)
  head[0] = type.charCodeAt(0)
  head.writeUInt32LE(bytes.length, 1)
  return Buffer.concat([head, bytes])
}

const before = (extra: Buffer): Buffer => framed(Buffer.concat([extra, compiled.setupMessage.subarray(12)]))

test('nothing starts when a control group cannot be joined', async () => {
  let answer: Answer
  do answer = await give(compiled.setupMessage, [join(project, 'missing/cgroup.procs')])
  while (answer.unheard)
  expect(answer.code).toBe(125)
  expect(answer.messages).toEqual([expect.objectContaining({ kind: 'failed', step: NUMBERS.step.JOIN })])
})

test('bubblewrap and its init join every control group', async () => {
  const groups = ['first', 'second'].map((name) => join(project, name))
  for (const group of groups) writeFileSync(group, '')
  const { messages } = await give(compiled.setupMessage, groups, true)
  expect(messages.map(({ kind }) => kind)).toContain('ready')
  // Each process is written over the one before it: bubblewrap's child comes last.
  const [first, second] = groups.map((group) => readFileSync(group, 'utf8'))
  expect(first).toMatch(/^\d+$/)
  expect(second).toBe(first)
})

test.each([
  { name: 'no filter', make: () => without('s') },
  { name: 'no ids', make: () => without('i') },
  { name: 'no working directory', make: () => without('c') },
  { name: 'no command', make: () => without('a') },
  { name: 'no end', make: () => without('z') },
  { name: 'nothing', make: () => Buffer.alloc(0) },
  { name: 'half of it', make: () => compiled.setupMessage.subarray(0, compiled.setupMessage.length >> 1) },
  { name: 'another magic', make: () => Buffer.concat([Buffer.from('CORDON2\n'), compiled.setupMessage.subarray(8)]) },
  { name: 'more than the limit', make: () => Buffer.from('CORDON1\n\xff\xff\xff\xff', 'latin1') },
  { name: 'an unknown record', make: () => before(record('?', 'x')) },
  { name: 'a second directory', make: () => before(record('c', '/tmp\0')) },
  { name: 'a relative mask', make: () => before(record('m', '\0relative\0')) },
  { name: 'a text with a NUL inside', make: () => before(record('a', 'a\0b\0')) },
  { name: 'a text without an end', make: () => before(record('e', 'A=1')) },
  { name: 'unknown flags', make: () => before(record('m', '\x08/etc/passwd\0')) },
  {
    name: 'a limit that does not exist',
    make: () => before(record('l', Uint8Array.from([99, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]))),
  },
  { name: 'a filter of odd size', make: () => before(record('s', 'abc')) },
  { name: 'a terminal for no stream', make: () => before(record('t', '\0\0\0\0\0')) },
  { name: 'a listener without a channel', make: () => before(record('n', '\x38\x0c')) },
  { name: 'servers without a channel', make: () => before(record('d', '\xb8\x0b')) },
  { name: 'a server without a port', make: () => before(record('d', '\0\0')) },
  { name: 'half a port', make: () => before(record('d', 'abc')) },
  { name: 'more servers than it accepts', make: () => before(record('d', 'ab'.repeat(65))) },
  {
    name: 'bytes after the end',
    make: () => framed(Buffer.concat([compiled.setupMessage.subarray(12), record('a', 'x\0')])),
  },
])('refused: $name', async ({ make }) => {
  const { code, messages } = await give(make())
  expect(code).toBe(125)
  // If there was nothing to read, the parent has ended, and nobody hears of it.
  if (messages.length > 0) expect(messages[0]).toMatchObject(refusal)
})

test('a whole setup message is obeyed until the control channel closes', async () => {
  const { messages } = await give(compiled.setupMessage, [], true)
  expect(messages[0]).toMatchObject({ kind: 'ready' })
})

/** The places of the filter's own instructions: any others make calls fail at random, and with them whatever runs under it. */
function filterPlaces(): readonly [from: number, to: number] {
  const { setupMessage: setup } = compiled
  for (let at = 12; at < setup.length; at += 5 + setup.readUInt32LE(at + 1))
    if (setup[at] === 's'.charCodeAt(0)) return [at + 5, at + 5 + setup.readUInt32LE(at + 1)]
  throw new Error('the setup message has no filter')
}

test('damaged setup messages never crash the init', async () => {
  // A fixed sequence: a failure can be run again.
  let seed = 12345
  const random = (below: number) => {
    seed = (Math.imul(seed, 1103515245) + 12345) & 0x7fffffff
    return seed % below
  }
  const [from, to] = filterPlaces()
  for (let round = 0; round < ROUNDS; round++) {
    const damaged = Buffer.from(compiled.setupMessage)
    for (let i = 0; i <= random(4); i++) {
      const at = 12 + random(damaged.length - 12 - (to - from))
      damaged[at < from ? at : at + to - from] = random(256)
    }
    const { code, messages } = await give(damaged)
    // A damaged limit may end the command; a fault of memory or of logic (ILL, ABRT, BUS, FPE, SEGV) of the init is a defect.
    const reported = messages.some((message) => message.kind === 'ended' && message.signal === (code ?? 0) - 128)
    if (!reported)
      expect([4, 6, 7, 8, 11], `round ${round}: ${JSON.stringify(messages)}`).not.toContain((code ?? 0) - 128)
  }
})
