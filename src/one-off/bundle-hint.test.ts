import { describe, expect, it, test } from 'vitest'
import { SandboxFault } from '../sandbox/backend.ts'
import type { BundleChoice } from '../sandbox/bundles/bundle.ts'
import { explainMissing, explainOffline } from './bundle-hint.ts'
import { agentWithoutBundle } from './run-typed.ts'

const choice = (tool: string, wrappers: readonly string[] = []): BundleChoice => ({
  tool,
  fetch: null,
  install: null,
  defaultDomains: true,
  wrappers,
})

describe('a command that failed without network', () => {
  test.each([
    ['npm install', [], 'Add "npm" to command_tools', 'nobody named the bundle'],
    [
      '.venv/bin/pip install x',
      [choice('pip')],
      'wrappers = [".venv/bin/pip"]',
      'one in the project is another program',
    ],
    ['npm install', [choice('npm')], null, 'the bundle applied, so that is not it'],
    ['.venv/bin/pip install x', [choice('pip', ['.venv/bin/pip'])], null, 'named by hand'],
    ['python -m pip install x', [choice('python'), choice('pip')], 'call that instead', 'a module is not a program'],
    ['npm test', [], null, 'it fetches nothing'],
    ['frobnicate install', [], null, 'no bundle is for it'],
    ['bash -c install', [choice('npm')], null, 'a shell has no bundle'],
    ['bash -c npm_install', [choice('npm')], null, 'another word'],
  ])('%s', (command, chosen, said, _note) => {
    const reported = explainOffline(command.split(' '), chosen)
    expect(reported).toEqual(said === null ? null : expect.stringContaining(said))
  })
})

test.each([
  ['claude -p go', [], 'cordon run --tool claude-code -- claude', 'an agent by its program'],
  ['pi', [choice('claude-code')], 'cordon run --tool pi -- pi', 'another one has its bundle'],
  ['pi', [choice('pi')], null, 'it has its bundle'],
  ['npm test', [], null, 'a tool is not an agent'],
  ['./claude', [], null, 'somebody else’s program of that name'],
] as const)('an agent without its bundle: %s (%#)', (command, chosen, said, _note) => {
  const reported = agentWithoutBundle(command.split(' '), chosen)
  expect(reported).toEqual(said === null ? null : expect.stringContaining(said))
})

it.each([
  ['npm install', 'cordon run -- npm install', 'one command needs no shell'],
  ['cd web && npm ci', 'cordon run --tool npm', 'several do'],
])('a shell hides the bundle of what it starts: %s', (text, said, _note) => {
  expect(explainOffline(['bash', '-c', text], [choice('npm')])).toContain(said)
})

const missing = new SandboxFault('command-not-found', 'not found', { remedy: 'Look.' })
const outside = {
  path: '/usr/bin:/home/u/.cargo/bin',
  exists: (path: string) => ['/home/u/.cargo/bin/cargo', '/p/build.sh', '.venv/bin/pip'].includes(path),
  hidden: 'It is hidden.',
}

test.each([
  { command: ['cargo', 'build'], said: 'Add "cargo"', note: 'only its bundle shows it' },
  { command: ['/p/build.sh'], said: 'It is hidden.', note: 'no bundle is for it' },
  { command: ['.venv/bin/pip'], said: 'It is hidden.', note: 'a bundle would not show what its link points to' },
  { command: ['claude'], said: 'not installed', note: 'an agent that is not there: its bundle would not help' },
  { command: ['ls -la'], said: 'cordon run -- ls -la', note: 'one word with a blank' },
  { command: ['ls | wc'], said: "cordon run -- sh -c 'ls | wc'", note: 'one word that wants a shell' },
  { command: ['./nothing.sh'], said: 'does not exist outside', note: 'a slip' },
])('a program that is not found: $command ($note)', ({ command, said }) => {
  expect(explainMissing(missing, command, [], outside)).toMatchObject({
    code: 'command-not-found',
    remedy: expect.stringContaining(said),
  })
})

it('leaves other faults alone', () => {
  const other = new SandboxFault('sandbox-failed', 'broken')
  expect(explainMissing(other, ['cargo'], [], outside)).toBe(other)
})
