import { expect, it } from 'vitest'
import { limitHit } from './engine.ts'

const rows = [
  {
    name: 'the clock',
    ending: { exitCode: 137, stopped: 'time' as const },
    counted: [],
    hit: { limit: 'time', certainty: 'observed' },
  },
  {
    name: 'the clock, after forks that failed',
    ending: { exitCode: 137, stopped: 'time' as const },
    counted: ['processes' as const],
    hit: { limit: 'processes', certainty: 'observed' },
  },
  {
    name: 'forks that failed, and all is well',
    ending: { exitCode: 0 },
    counted: ['processes' as const],
    hit: { limit: 'processes', certainty: 'observed' },
  },
  {
    name: 'the kernel killed for memory',
    ending: { exitCode: 137 },
    counted: ['memory' as const],
    hit: { limit: 'memory', certainty: 'observed' },
  },
  {
    name: 'killed, nobody counted',
    ending: { exitCode: 137 },
    counted: [],
    hit: { limit: 'memory', certainty: 'inferred' },
  },
  {
    name: 'said that memory ran out',
    ending: { exitCode: 1, said: 'Out of memory!' },
    counted: [],
    hit: { limit: 'memory', certainty: 'inferred' },
  },
  {
    name: 'said that a fork failed',
    ending: { exitCode: 1, said: 'bash: fork: retry: Resource temporarily unavailable' },
    counted: [],
    hit: { limit: 'processes', certainty: 'inferred' },
  },
  {
    name: 'a file too large',
    ending: { exitCode: 153 },
    counted: [],
    hit: { limit: 'file size', certainty: 'observed' },
  },
  { name: 'its own failure', ending: { exitCode: 3, said: 'no such thing' }, counted: [], hit: null },
  { name: 'all is well', ending: { exitCode: 0, said: 'Out of memory' }, counted: [], hit: null },
]

it.each(rows)('$name', ({ ending, counted, hit }) => {
  const { exitCode, stopped = null, said = '' } = ending as { exitCode: number; stopped?: 'time' | null; said?: string }
  expect(limitHit({ exitCode, stopped, stderr: { bytes: Buffer.from(said) } }, counted)).toEqual(hit)
})
