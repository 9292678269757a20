import { expect, it, vi } from 'vitest'
import { ProgressRelay } from './progress-relay.ts'

it('tells the first, few in between, and always the last', () => {
  vi.useFakeTimers()
  try {
    const told: unknown[] = []
    const relay = new ProgressRelay(
      (given) => told.push(given.progress),
      () => Date.now(),
    )
    for (let progress = 1; progress <= 50; progress++) relay.take({ progress })
    expect(told).toEqual([1])
    vi.advanceTimersByTime(100)
    expect(told).toEqual([1, 50])
    relay.take({ progress: 51 })
    relay.take({ progress: 52 })
    relay.end()
    expect(told).toEqual([1, 50, 52])
    vi.advanceTimersByTime(1000)
    expect(told).toEqual([1, 50, 52])
  } finally {
    vi.useRealTimers()
  }
})
