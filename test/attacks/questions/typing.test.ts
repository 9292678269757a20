/** A person typing to an agent at a real terminal, while the agent's commands ask for hosts: nothing they type is a yes. */

import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

const PTY = join(import.meta.dirname, '../../e2e/terminal/pty-host.py')
const WORKER = join(import.meta.dirname, 'typing-worker.ts')
// Ctrl-D: a no, without asking about the command as Ctrl-C does.
const END = '\u0004'
const PAUSE = '\u001d'
const OFF = { env: { CORDON_KEYCHAIN: 'off' } }

let project: Project
beforeEach(() => {
  project = new Project({ 'cordon.toml': 'schema_version = 1\n' })
  project.cordon(['sign', '--yes'], OFF)
})
afterEach(() => project.remove())

/** Types each text at its own question, and ends it; what every question came to. */
async function typed(texts: readonly string[]): Promise<string[]> {
  const child = spawn('python3', [PTY, '40', '100', process.execPath, WORKER, String(texts.length)], {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, TERM: 'xterm', CORDON_KEYCHAIN: 'off' },
    stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
  })
  let seen = ''
  let sent = 0
  child.stdout!.on('data', (chunk: Buffer) => {
    seen += chunk.toString('utf8')
    for (const asked = seen.split('ASKED').length - 1; sent < asked; sent++) child.stdin!.write(texts[sent]! + END)
  })
  await new Promise((resolve) => child.once('close', resolve))
  return [...seen.matchAll(/ANSWER (\w+)/g)].map(([, answer]) => answer!)
}

const granted = () => JSON.parse(project.cordon(['grants', '--json'], OFF).out) as object[]

it('1,000 random texts at 170 ms a key grant nothing, for once or for longer', async () => {
  const word = fc.constantFrom(
    'please',
    'allow',
    'session',
    'hour',
    'always',
    'yes',
    'y',
    'a',
    's',
    'fix the bug',
    'ok',
  )
  const text = fc.oneof(
    fc.array(word, { minLength: 1, maxLength: 5 }).map((all) => `${all.join(' ')}\r`),
    fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => all.join('\r')),
    fc.string({ minLength: 1, maxLength: 30 }),
  )
  const texts = fc.sample(text, { numRuns: 1000, seed: 20261118 })
  // Twenty of them while one question is shown: none of them ends it.
  const sittings = Array.from({ length: 50 }, (_, index) => texts.slice(index * 20, index * 20 + 20).join(''))
  const manifest = readFileSync(join(project.directory, 'cordon.toml'), 'utf8')
  const answers = await typed(sittings)
  expect(answers).toHaveLength(sittings.length)
  expect(answers.filter((answer) => answer !== 'false')).toEqual([])
  expect(granted()).toEqual([])
  expect(readFileSync(join(project.directory, 'cordon.toml'), 'utf8')).toBe(manifest)
})

it('the control: a word typed after a pause is an answer, a single key is not', async () => {
  expect(await typed([`${PAUSE}allow\r`, `${PAUSE}y`, `${PAUSE}a`, `${PAUSE}hour\r`])).toEqual([
    'true',
    'false',
    'false',
    'true',
  ])
  expect(granted()).toMatchObject([{ kind: 'host', value: 'h3.evil.example', scope: 'time' }])
})
