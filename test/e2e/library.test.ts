/** The published library, as a program that installed it has it: the compiled files, with the sandbox beside them. */

import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from './cordon.ts'

const LIBRARY = new URL('../../dist/lib/index.js', import.meta.url).href
const PROGRAM = `
import { createCordon } from ${JSON.stringify(LIBRARY)}
const object = { schema_version: 1, capabilities: { allow: { commands: { patterns: ['cat:*'] } } } }
const cordon = await createCordon({ project: process.cwd(), manifest: { object } })
const session = await cordon.openSession({ agent: 'build' })
const ran = await session.call('bash', { command: 'cat a.txt; echo $?' })
console.log(JSON.stringify({ status: ran.status, text: ran.output?.text ?? ran.error }))
await session.close()
`

describe('the library', () => {
  let project: Project
  beforeAll(() => {
    project = new Project({ 'a.txt': 'plain\n' })
  })
  afterAll(() => project.remove())

  it('runs a command in the sandbox', () => {
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', PROGRAM], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    })
    expect(ran.stderr).toBe('')
    const { status, text } = JSON.parse(ran.stdout)
    expect(status).toBe('done')
    expect(text).toContain('plain\n0')
  })
})
