import { expect, it, vi } from 'vitest'
import { ProgressRelay } from './server.ts'

it('relays the first ten, few after them, and always the last', () => {
  vi.useFakeTimers()
  try {
    const told: unknown[] = []
    const relay = new ProgressRelay(
      (given) => told.push(given.progress),
      () => Date.now(),
    )
    for (let progress = 1; progress <= 50; progress++) relay.take({ progress })
    const first = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    expect(told).toEqual(first)
    vi.advanceTimersByTime(100)
    expect(told).toEqual([...first, 50])
    relay.take({ progress: 51 })
    relay.take({ progress: 52 })
    relay.end()
    expect(told).toEqual([...first, 50, 52])
    vi.advanceTimersByTime(1000)
    expect(told).toEqual([...first, 50, 52])
  } finally {
    vi.useRealTimers()
  }
})

it('a flooding server is relayed ten times a second', () => {
  vi.useFakeTimers()
  try {
    let told = 0
    const relay = new ProgressRelay(
      () => {
        told++
      },
      () => Date.now(),
    )
    for (let at = 0; at < 1000; at++) {
      relay.take({ progress: at })
      vi.advanceTimersByTime(10)
    }
    expect(told).toBeGreaterThanOrEqual(109)
    expect(told).toBeLessThanOrEqual(112)
  } finally {
    vi.useRealTimers()
  }
})
