/** An interpreter that lies: what comes out of a sandbox is not believed, whatever it says, and never ends Cordon. */

import { describe, expect, test } from 'vitest'
import type { CallAnswer, OutsideFrame } from '../../../src/code/frame.ts'
import { type InsideIo, type Program, startInterpreter } from '../../../src/code/interpreter.ts'

interface Inside {
  readonly say: (line: string | object) => Promise<void>
  readonly heard: OutsideFrame[]
  readonly io: InsideIo
}

/** An interpreter whose inside is this function, begun with each program; it ends when asked to. */
function lying(play: (inside: Inside, frame: Extract<OutsideFrame, { kind: 'run' }>) => void) {
  return startInterpreter(
    (io) =>
      new Promise((resolve) => {
        const heard: OutsideFrame[] = []
        const say = (line: string | object) =>
          new Promise<void>((done) =>
            io.stdout.write(Buffer.from(typeof line === 'string' ? line : `${JSON.stringify(line)}\n`), () => done()),
          )
        io.stdin.on('data', (chunk: Buffer) => {
          for (const line of chunk.toString().split('\n').filter(Boolean)) {
            const frame = JSON.parse(line) as OutsideFrame
            heard.push(frame)
            if (frame.kind === 'run') play({ say, heard, io }, frame)
          }
        })
        io.signal.addEventListener('abort', () => resolve({ exitCode: 137, notes: [] }))
      }),
  )
}

const DONE = { kind: 'done', value: 'true', error: null, limit: null, files: [] }
const never = () => new Promise<never>(() => {})

function program(more: Partial<Program> = {}): Program {
  return {
    code: '',
    tools: [],
    limits: { milliseconds: 20_000, memoryBytes: 1, outputBytes: 1000, calls: 100 },
    call: async () => ({ ok: true, text: 'called' }),
    signal: new AbortController().signal,
    ...more,
  }
}

describe('frames of a liar', () => {
  const harmless = [
    { name: 'no JSON', line: 'not json\n' },
    { name: 'a JSON of another kind', line: '[1]\nnull\n"x"\n5\n' },
    { name: 'an unknown kind', line: '{"kind":"exit","run":0}\n' },
    { name: 'a call of another run', line: '{"kind":"call","run":99,"id":1,"tool":"read","input":{}}\n' },
    { name: 'a run that is not a number', line: '{"kind":"call","run":"0","id":1,"tool":"read"}\n' },
    { name: 'a run beyond numbers', line: '{"kind":"call","run":1e999,"id":1,"tool":"read"}\n' },
    { name: 'a call without a tool', line: '{"kind":"call","run":0,"id":1,"tool":{"toString":null}}\n' },
    { name: 'an end of another run', line: '{"kind":"done","run":7,"value":"forged"}\n' },
    { name: 'a prototype', line: '{"kind":"done","__proto__":{"run":0,"value":"forged"}}\n' },
    { name: 'a stream that there is not', line: '{"kind":"out","run":0,"stream":"__proto__","text":"x"}\n' },
    { name: 'bytes that are no text', line: '\u{fffd}\u0000\n' },
  ]
  test.each(harmless)('$name is nothing', async ({ line }) => {
    const called: string[] = []
    const interpreter = lying(({ say }, { run }) => void say(line).then(() => say({ ...DONE, run })))
    const result = await interpreter.run(
      program({
        call: async (tool) => {
          called.push(tool)
          return { ok: true, text: '' }
        },
      }),
    )
    expect({ ...result, called }).toMatchObject({ value: 'true', error: null, calls: 0, called: [], stdout: '' })
    await interpreter.end()
  })

  test('a line without an end ends the interpreter, not Cordon', async () => {
    const interpreter = lying(({ say }) => {
      const piece = 'x'.repeat(1024 * 1024)
      void (async () => {
        for (let index = 0; index < 50; index++) await say(piece)
      })()
    })
    expect(await interpreter.run(program())).toMatchObject({ value: null })
    expect(interpreter.alive).toBe(false)
    await interpreter.end()
  })

  test('a call that fails in Cordon itself is an answer, and ends nothing', async () => {
    const answers: CallAnswer[] = []
    const interpreter = lying(({ say, io }, { run }) => {
      io.stdin.on('data', (chunk: Buffer) => {
        const frame = JSON.parse(chunk.toString().trim().split('\n')[0]!) as OutsideFrame
        if (frame.kind !== 'answer') return
        answers.push(frame.value)
        void say({ ...DONE, run })
      })
      void say({ kind: 'call', run, id: 1, tool: 'read', input: {} })
    })
    const call = () => Promise.reject(new RangeError('Maximum call stack size exceeded'))
    expect(await interpreter.run(program({ call }))).toMatchObject({ value: 'true' })
    expect(answers).toEqual([{ text: 'Maximum call stack size exceeded', code: 'failed' }])
    await interpreter.end()
  })

  test('calls in one breath are few at a time, and no more than there may be', async () => {
    let [now, most, count] = [0, 0, 0]
    const interpreter = lying(({ say }, { run }) => {
      const calls = Array.from(
        { length: 500 },
        (_, id) => `${JSON.stringify({ kind: 'call', run, id, tool: 'read', input: {} })}\n`,
      )
      void say(calls.join(''))
    })
    const result = await interpreter.run(
      program({
        call: async () => {
          count += 1
          now += 1
          most = Math.max(most, now)
          await new Promise((resolve) => setImmediate(resolve))
          now -= 1
          return { ok: true, text: '' }
        },
      }),
    )
    expect({ limit: result.limit, most, count }).toEqual({ limit: 'calls', most: 16, count: 100 })
    await interpreter.end()
  })

  test('calls of a program that said it was done do not run', async () => {
    let count = 0
    const interpreter = lying(({ say }, { run }) => {
      const calls = Array.from(
        { length: 40 },
        (_, id) => `${JSON.stringify({ kind: 'call', run, id, tool: 'write', input: {} })}\n`,
      )
      void say(`${calls.slice(0, 16).join('')}${JSON.stringify({ ...DONE, run })}\n${calls.slice(16).join('')}`)
    })
    const aborted: AbortSignal[] = []
    await interpreter.run(
      program({
        call: (_, __, signal) => {
          count += 1
          aborted.push(signal)
          return never()
        },
      }),
    )
    await new Promise((resolve) => setImmediate(resolve))
    expect({ count, aborted: aborted.every(({ aborted }) => aborted) }).toEqual({ count: 16, aborted: true })
    await interpreter.end()
  })

  const files = [
    { name: 'a path', file: '../../etc/cron.d/x' },
    { name: 'an absolute path', file: '/etc/cron.d/x' },
    { name: 'a hidden name', file: '.bashrc' },
    { name: 'a name with a line', file: 'a\nb' },
    { name: 'a name with an escape', file: '\u001b[2Ja' },
    { name: 'nothing', file: '' },
  ]
  test.each(files)('a file named by $name is not handed on', async ({ file }) => {
    const good = { name: 'good.txt', base64: 'Zw==' }
    const interpreter = lying(
      ({ say }, { run }) =>
        void say({ ...DONE, run, files: [{ name: file, base64: 'eA==' }, good, good, null, 5, {}] }),
    )
    const { files: handed } = await interpreter.run(program())
    expect(handed.map(({ name }) => name)).toEqual(['good.txt'])
    await interpreter.end()
  })

  test('output without an end is cut, and ends the program', async () => {
    const interpreter = lying(({ say }, { run }) => {
      const line = { kind: 'out', run, stream: 'stdout', text: 'x'.repeat(10_000) }
      void (async () => {
        for (let index = 0; index < 20; index++) await say(line)
      })()
    })
    const result = await interpreter.run(program())
    expect({ limit: result.limit, kept: result.stdout.length }).toEqual({ limit: 'output', kept: 1000 })
    await interpreter.end()
  })
})
