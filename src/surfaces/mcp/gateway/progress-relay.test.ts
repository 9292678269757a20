import { expect, it, vi } from 'vitest'
import { ProgressRelay } from './server.ts'

it('relays the first ten, few after them, and always the last', () => {
  vi.useFakeTimers()
  try {
    const reported: unknown[] = []
    const relay = new ProgressRelay(
      (given) => reported.push(given.progress),
      () => Date.now(),
    )
    for (let progress = 1; progress <= 50; progress++) relay.take({ progress })
    const first = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    expect(reported).toEqual(first)
    vi.advanceTimersByTime(100)
    expect(reported).toEqual([...first, 50])
    relay.take({ progress: 51 })
    relay.take({ progress: 52 })
    relay.end()
    expect(reported).toEqual([...first, 50, 52])
    vi.advanceTimersByTime(1000)
    expect(reported).toEqual([...first, 50, 52])
  } finally {
    vi.useRealTimers()
  }
})

it('a flooding server is relayed ten times a second', () => {
  vi.useFakeTimers()
  try {
    let reported = 0
    const relay = new ProgressRelay(
      () => {
        reported++
      },
      () => Date.now(),
    )
    for (let at = 0; at < 1000; at++) {
      relay.take({ progress: at })
      vi.advanceTimersByTime(10)
    }
    expect(reported).toBeGreaterThanOrEqual(109)
    expect(reported).toBeLessThanOrEqual(112)
  } finally {
    vi.useRealTimers()
  }
})
