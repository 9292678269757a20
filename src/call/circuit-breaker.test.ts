import { beforeEach, describe, expect, it } from 'vitest'
import { CallRate, CircuitBreaker } from './admission.ts'

let now = 0
let breaker: CircuitBreaker
beforeEach(() => {
  now = 0
  breaker = new CircuitBreaker({ failures: 3, cooldown: 30 }, () => now)
})

const call = (outcome: 'good' | 'bad' | 'neither') => {
  const admission = breaker.admit()
  if ('openFor' in admission) return admission.openFor
  breaker.note(admission, outcome)
  return null
}

describe('the circuit breaker', () => {
  it('opens after a run, not after as many with a good one between', () => {
    expect([call('bad'), call('bad'), call('good'), call('bad'), call('bad')]).toEqual([null, null, null, null, null])
    expect([call('bad'), call('good')]).toEqual([null, 30])
  })

  it('does not count what says nothing about the agent', () => {
    expect([call('bad'), call('neither'), call('bad'), call('neither'), call('neither'), call('bad')]).not.toContain(30)
    expect(call('good')).toBe(30)
  })

  it('is not kept open by calls that it turned away', () => {
    for (let count = 0; count < 3; count++) call('bad')
    now = 29_000
    expect(call('bad')).toBe(1)
    now = 30_000
    expect(call('good')).toBeNull()
    expect(call('good')).toBeNull()
  })

  it('lets one probe through; a bad one opens it again', () => {
    for (let count = 0; count < 3; count++) call('bad')
    now = 30_000
    const probe = breaker.admit()
    expect(probe).toEqual({ probe: true })
    expect(breaker.admit()).toEqual({ openFor: 30 })
    breaker.note({ probe: true }, 'bad')
    now = 59_000
    expect(call('good')).toBe(1)
  })

  it('is not closed by a call that was under way when it opened', () => {
    const early = breaker.admit()
    for (let count = 0; count < 3; count++) call('bad')
    if ('probe' in early) breaker.note(early, 'good')
    expect(call('good')).toBe(30)
  })
})

describe('the rate of calls', () => {
  it('lets so many through in any minute, and says when the next may come', () => {
    const rate = new CallRate(() => now)
    expect([rate.take(2), rate.take(2), rate.take(2)]).toEqual([null, null, 60])
    now = 45_000
    expect(rate.take(2)).toBe(15)
    now = 60_001
    expect([rate.take(2), rate.take(2), rate.take(2)]).toEqual([null, null, 60])
    expect(rate.take(null)).toBeNull()
  })
})
