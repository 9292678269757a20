import { describe, expect, it } from 'vitest'
import type { Prompter } from './prompter.ts'
import { QuestionQueue } from './question-queue.ts'

const prompter: Prompter = { name: 'test', ask: async () => ({ kind: 'deny' }) }
const never = new AbortController().signal

/** Work that ends when asked to, and says when it began and whether it was withdrawn. */
function heldWork() {
  const { promise, resolve } = Promise.withResolvers<string>()
  const state = { begun: 0, withdrawn: false }
  return {
    state,
    end: resolve,
    work: (_: Prompter, signal: AbortSignal) => {
      state.begun++
      signal.addEventListener('abort', () => {
        state.withdrawn = true
      })
      return promise
    },
  }
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

describe('questions', () => {
  it('come one after the other, also of several sessions', async () => {
    const queue = new QuestionQueue(prompter)
    const [first, second] = [heldWork(), heldWork()]
    const one = queue.open().take('a', never, first.work)
    const two = queue.open().take('b', never, second.work)
    await turn()
    expect([first.state.begun, second.state.begun]).toEqual([1, 0])
    first.end('yes')
    expect(await one).toBe('yes')
    await turn()
    expect(second.state.begun).toBe(1)
    second.end('no')
    expect(await two).toBe('no')
  })

  it('that are the same are one in a session, and not between sessions', async () => {
    const queue = new QuestionQueue(prompter)
    const [mine, theirs] = [queue.open(), queue.open()]
    const [first, second] = [heldWork(), heldWork()]
    const same = [mine.take('a', never, first.work), mine.take('a', never, second.work)]
    const other = theirs.take('a', never, second.work)
    first.end('yes')
    expect(await Promise.all(same)).toEqual(['yes', 'yes'])
    second.end('no')
    expect(await other).toBe('no')
    expect([first.state.begun, second.state.begun]).toEqual([1, 1])
  })

  it('are withdrawn when all that asked have gone, and not before', async () => {
    const questions = new QuestionQueue(prompter).open()
    const [one, two] = [new AbortController(), new AbortController()]
    const { state, work } = heldWork()
    const asked = [questions.take('a', one.signal, work), questions.take('a', two.signal, work)]
    await turn()
    one.abort(new Error('gone'))
    await expect(asked[0]).rejects.toThrow('gone')
    expect(state.withdrawn).toBe(false)
    two.abort(new Error('gone too'))
    await expect(asked[1]).rejects.toThrow('gone too')
    expect(state.withdrawn).toBe(true)
  })

  it('of somebody who has gone already are never put', async () => {
    const questions = new QuestionQueue(prompter).open()
    const { state, work } = heldWork()
    await expect(questions.take('a', AbortSignal.abort(new Error('gone')), work)).rejects.toThrow('gone')
    await turn()
    expect(state.begun).toBe(0)
  })

  it('that fail do not hold up the next', async () => {
    const questions = new QuestionQueue(prompter).open()
    const failing = questions.take('a', never, () => Promise.reject(new Error('broken')))
    await expect(failing).rejects.toThrow('broken')
    expect(await questions.take('a', never, async () => 'again')).toBe('again')
  })
})
