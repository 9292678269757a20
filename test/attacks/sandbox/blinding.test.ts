/** Attacks on the scan after a command that ran without the broker: whatever is in the way, the plant is removed. */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { pinsOf, protectTree } from '../../../src/sandbox/protect/protect.ts'
import { SecretTree } from '../../../src/sandbox/protect/tree.ts'
import { takeBaseline } from '../../../src/sandbox/quarantine/baseline.ts'
import { type QuarantineFinding, settleRun } from '../../../src/sandbox/quarantine/quarantine.ts'
import { removeTree } from '../../users.ts'

let base: string
let root: string

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-blinding-')))
  root = join(base, 'project')
  mkdirSync(root)
  writeFileSync(join(root, 'AGENTS.md'), 'one\n')
  bash('git init -q && git config core.hooksPath .hooks && git config include.path ../later.inc')
})
afterEach(() => removeTree(base))

function bash(script: string): void {
  const env = { PATH: process.env.PATH ?? '', HOME: base, GIT_CONFIG_NOSYSTEM: '1' }
  execFileSync('bash', ['-c', script], { cwd: root, env, stdio: 'ignore' })
}

/** What is found after a script changed the project. */
function settle(script: string): readonly QuarantineFinding[] {
  const own = {
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    manifestPath: join(root, 'cordon.toml'),
  }
  const tree = new SecretTree([root])
  tree.refresh()
  const baseline = takeBaseline(tree, { home: base, named: [], own })
  bash(script)
  const findings = settleRun(tree, baseline, own.stateDir)
  tree.close()
  return findings
}

const PLANT = 'echo evil > .envrc; git config core.fsmonitor ./evil;'

const blinds: readonly [name: string, script: string][] = [
  ['a commondir that cannot be read', 'mkdir -p s/.git && echo x > s/.git/commondir && chmod 000 s/.git/commondir'],
  ['a commondir that is a pipe', 'mkdir -p s/.git && mkfifo s/.git/commondir'],
  [
    'a path as long as the kernel takes',
    'd=$(printf "%0200d" 0); for i in $(seq 19); do mkdir $d && cd $d; done; mkdir -p .git/rebase-merge s/.git; echo x > s/.git/commondir; cd - >/dev/null',
  ],
  [
    '4 MB of line ends in a pointer',
    'mkdir s && (printf "gitdir: x"; head -c 4000000 /dev/zero | tr "\\\\0" "\\\\n"; printf y) > s/.git',
  ],
  [
    '8,000 links',
    "mkdir l && touch l/t && python3 -c \"import os; [os.symlink('t', f'l/{i}.key') for i in range(8000)]\"",
  ],
  [
    '140 bare repositories with 4 MB of settings each',
    'head -c 4000000 /dev/zero | tr "\\\\0" "\\\\n" > big; for i in $(seq 140); do mkdir -p b$i/objects b$i/refs; touch b$i/HEAD; ln big b$i/config; done',
  ],
  ['a folder that nobody may enter', 'mkdir -p c/d && echo x > c/d/.envrc && chmod 000 c/d c'],
]

describe('whatever is put in the way', () => {
  test.each(blinds)('%s', (_, blind) => {
    // The script changes the folder it is in: what is planted comes first.
    const findings = settle(`${PLANT} ${blind}`)
    expect(existsSync(join(root, '.envrc')), JSON.stringify(findings.slice(0, 5))).toBe(false)
    expect(execFileSync('git', ['config', '--local', '--list'], { cwd: root, encoding: 'utf8' })).not.toContain(
      'fsmonitor',
    )
  })
})

test('an existing folder of hooks is pinned, wherever core.hooksPath puts it', () => {
  mkdirSync(join(root, '.hooks'))
  const own = {
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    manifestPath: join(root, 'cordon.toml'),
  }
  const facts = { home: base, named: [], own, write: [root] }
  const tree = new SecretTree([root])
  tree.refresh()
  expect(pinsOf(protectTree(tree, facts), facts)).toContainEqual({
    path: join(root, '.hooks'),
    mode: 'read-only',
    kind: 'directory',
  })
  tree.close()
})

describe('ways into git', () => {
  const ways: readonly [name: string, script: string, planted: string][] = [
    ['a hook where core.hooksPath points', 'mkdir .hooks && echo evil > .hooks/pre-commit', '.hooks/pre-commit'],
    ['a file that the configuration includes', 'printf "[core]\\n\\tfsmonitor = ./evil\\n" > later.inc', 'later.inc'],
    [
      'a commondir whose name ends in a blank',
      'mkdir -p "c " s/.git && git init -q --bare "c " && echo "../../c " > s/.git/commondir && git -C "c " config core.fsmonitor ./evil',
      '',
    ],
    ['a commondir before anything else', 'mkdir -p s/x && echo ../../../outside > s/x/commondir', 's/x/commondir'],
  ]

  test.each(ways)('%s', (_, script, planted) => {
    const findings = settle(script)
    expect(
      findings.filter(({ action }) => action === 'moved' || action === 'reverted').length,
      JSON.stringify(findings),
    ).toBeGreaterThan(0)
    const text =
      planted !== '' && existsSync(join(root, planted)) ? execFileSync('cat', [join(root, planted)]).toString() : ''
    expect(text).not.toContain('evil')
  })
})

test('a changed instruction to agents is reported and stays', () => {
  const findings = settle('echo two > AGENTS.md; mkdir -p .github/workflows && echo on > .github/workflows/a.yml')
  expect(findings.map(({ action }) => action)).toEqual(['told', 'told'])
  expect(
    findings
      .map(({ message }) => message)
      .sort()
      .reverse()
      .join('\n'),
  ).toMatch(/AGENTS\.md changed.*\n.*workflows\/a\.yml changed/)
  expect(existsSync(join(root, '.github/workflows/a.yml'))).toBe(true)
})

test('control: work that plants nothing leaves nothing to say', () => {
  expect(settle('echo x > file; git init -q nested; mkdir -p a/b')).toEqual([])
  rmSync(join(root, 'nested'), { recursive: true })
})
