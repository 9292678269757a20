import { describe, expect, it, test } from 'vitest'
import type { BundleChoice } from '../../sandbox/bundles/bundle.ts'
import { SandboxFault } from '../../sandbox/sandbox-fault.ts'
import { explainMissing, explainOffline } from './bundle-hint.ts'

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
    ['python -m pip install x', [choice('python'), choice('pip')], 'call that instead', 'a module is no program'],
    ['npm test', [], null, 'it fetches nothing'],
    ['frobnicate install', [], null, 'no bundle is for it'],
    ['bash -c install', [choice('npm')], null, 'a shell has no bundle'],
  ])('%s', (command, chosen, said, _note) => {
    const told = explainOffline(command.split(' '), chosen)
    expect(told).toEqual(said === null ? null : expect.stringContaining(said))
  })
})

it('a program that only its bundle shows is found by naming that', () => {
  const missing = new SandboxFault('command-not-found', 'not found', { remedy: 'Look.' })
  expect(explainMissing(missing, ['cargo', 'build'], [])).toMatchObject({
    code: 'command-not-found',
    remedy: expect.stringContaining('Add "cargo"'),
  })
  expect(explainMissing(missing, ['frobnicate'], [])).toBe(missing)
  const other = new SandboxFault('sandbox-failed', 'broken')
  expect(explainMissing(other, ['cargo'], [])).toBe(other)
})
