import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { probeSandbox, reapProbes } from './probe.ts'

let place: string

beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), 'cordon-reap-'))
})

afterEach(() => rmSync(place, { recursive: true, force: true }))

describe('the folders of probes that were killed', () => {
  const now = Date.now()

  function put(name: string, ageMs: number): string {
    const path = join(place, name)
    mkdirSync(join(path, 'project'), { recursive: true })
    writeFileSync(join(path, 'project/.env'), 'secret')
    utimesSync(path, (now - ageMs) / 1000, (now - ageMs) / 1000)
    return path
  }

  it('are removed by the next probe; what may still run, or is not ours, stays', () => {
    const old = put('cordon-probe-old', 61_000)
    const young = put('cordon-probe-young', 5_000)
    const other = put('cordon-else', 61_000)
    const link = join(place, 'cordon-probe-link')
    symlinkSync(other, link)
    reapProbes(place, now + 10_000)
    expect([old, young, other, link].map((path) => existsSync(path))).toEqual([false, true, true, true])
  })
})

it('a probe without a place for its files says so, and runs nothing', async () => {
  const before = process.env.TMPDIR
  onTestFinished(() => {
    if (before === undefined) delete process.env.TMPDIR
    else process.env.TMPDIR = before
  })
  process.env.TMPDIR = join(place, 'missing')
  const launch = () => Promise.reject(new Error('launched'))
  const support = await probeSandbox(
    { name: 'bwrap', launch } as never,
    () => null,
    () => false,
  )
  expect(support.usable).toBe(false)
  expect(support.assurances[0]).toMatchObject({
    detail: expect.stringContaining('/missing (ENOENT)'),
    remedy: expect.stringContaining('TMPDIR'),
  })
})
