/** The proxy seen from inside a real sandbox, as root and as an ordinary user: the wire rows again, every other way out, its end. */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { asUser, eachUser } from '../../users.ts'
import type { LayoutReport } from './proxy-sandbox.ts'
import { corpusRows, wireRows } from './wire-rows.ts'

const SANDBOX = fileURLToPath(new URL('./proxy-sandbox.ts', import.meta.url))
const run = promisify(execFile)

eachUser(describe)('as $name', (user) => {
  let report: LayoutReport
  beforeAll(async () => {
    const [program, ...args] = asUser(user, [process.execPath, SANDBOX])
    const options = { maxBuffer: 64 * 1024 * 1024, timeout: 280_000, env: { PATH: process.env.PATH } }
    report = JSON.parse((await run(program!, args, options)).stdout) as LayoutReport
  })

  it('is that user', () => expect(report.uid).toBe(user.uid))

  it.each([...corpusRows, ...wireRows])('wire row $id from inside, $expect: $why', (row) => {
    expect(report.verdicts[row.id]).toBe(row.expect)
  })

  it('has no other way out', () => {
    expect(report.escapes.filter((line) => / OUT$/.test(line))).toEqual([])
    expect(report.escapes.length, report.escapes.join('\n')).toBe(20)
  })

  it('leaves no proxy: what an ended command left behind is dead, and its connections with it', () => {
    expect(report.during.open).toBe(1)
    expect(report.afterwards).toMatchObject({ open: 0, upstream: 0 })
    expect(report.left.filter((open) => open !== 0)).toEqual([])
  })
})
