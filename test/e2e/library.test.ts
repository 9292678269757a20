/** The published library, as a program that installed it has it: the compiled files, with the sandbox beside them. */

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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

const [FIRST] = readFileSync('docs/guides/library.md', 'utf8').match(/(?<=```ts\n)[\s\S]*?(?=```)/)!

describe('the library', () => {
  let project: Project
  beforeAll(() => {
    project = new Project({ 'a.txt': 'plain\n' })
  })
  afterAll(() => project.remove())

  it('does what the first lines of its document show', () => {
    const program = FIRST.replace("'cordon'", JSON.stringify(LIBRARY)).replace('npm test', 'cat a.txt')
    const ran = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    })
    // Without a manifest a command asks, and no one is there.
    expect(ran.stdout, ran.stderr).toMatch(/^refused .*ask/)
  })

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
