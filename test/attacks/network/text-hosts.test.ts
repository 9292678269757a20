/** A host of one command is not for the code of another (S3): what each text has, and how it runs. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { planText } from '../../../src/confine/text-plan.ts'
import { newSession } from '../../../src/project/answers.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { analyze } from '../../../src/shell/walk/analyze.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { thisMachine } from '../../../src/system/machine.ts'

const root = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-text-hosts-')))
afterAll(() => rmSync(root, { recursive: true, force: true }))

const EXT = '[remote "origin"]\n\turl = "ext::sh p.sh"\n'
const BARE = ['HEAD', 'objects/x', 'refs/x']
const FILES: Readonly<Record<string, string>> = {
  '.git/config': '[core]\n\tbare = false\n[credential]\n\thelper = store\n',
  'sub/a': '',
  ...Object.fromEntries(BARE.map((name) => [`shipped/${name}`, ''])),
  'shipped/config': EXT,
  'shipped/deep/a': '',
  'hostile/.git/config': EXT,
  'pointed/.git': 'gitdir: ../shipped\n',
  'module/.git': 'gitdir: ../.git/modules/module\n',
  'cloned/.git/config': '[core]\n\tbare = false\n[remote "origin"]\n\turl = https://github.com/a/b\n',
}
for (const [name, text] of Object.entries(FILES)) {
  mkdirSync(dirname(join(root, name)), { recursive: true })
  writeFileSync(join(root, name), text)
}
symlinkSync('shipped', join(root, 'link'))

const machine = thisMachine()
const object = {
  schema_version: 1,
  permission: { mode: 'contained' },
  capabilities: { allow: { commands: { patterns: [{ command: 'npm test:*', domains: ['test.example.org'] }] } } },
  sandbox: { os: { command_tools: ['git', { tool: 'npm', domains: ['packages.example.org'] }] } },
}
const outcome = await loadPolicy({ machine, files: machineFiles, root, choice: { kind: 'object', object } })
if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
const { loaded } = outcome

function plan(text: string, byProgram = false) {
  const session = newSession(loaded, machine)
  const analysis = analyze(text, { cwd: root, home: '/h', variables: { HOME: '/h', PWD: root } })
  return planText(text, 'facts' in analysis ? analysis.facts : null, {
    cwd: root,
    home: '/h',
    loaded,
    session,
    agreed: [],
    byProgram,
  })
}

/** The groups of a text: what each runs, and the first host that it has. */
const runs = (text: string, byProgram = false) =>
  plan(text, byProgram).groups.map(({ text: own, hosts }) => `${own} -> ${hosts[0]?.pattern.host ?? 'nothing'}`)

describe('attacks', () => {
  it.each([
    ['a script beside a local command', 'git status -s; bash x.sh', ['git status -s; bash x.sh -> nothing']],
    ['an interpreter beside one', 'git log -1; python3 -c "x"', ['git log -1; python3 -c "x" -> nothing']],
    ['a script beside a fetch', 'git fetch; bash x.sh', ['git fetch -> github.com', 'bash x.sh -> nothing']],
    ['a script fed by a fetch', 'git fetch | bash x.sh', ['git fetch | bash x.sh -> nothing']],
    ['a script in its output', 'git fetch "$(bash x.sh)"', ['git fetch "$(bash x.sh)" -> nothing']],
    ['an alias', 'git -c alias.fetch=!sh fetch', ['git -c alias.fetch=!sh fetch -> nothing']],
    [
      'an alias beside a fetch',
      'git fetch; git -c alias.x=!sh x',
      ['git fetch -> github.com', 'git -c alias.x=!sh x -> nothing'],
    ],
    [
      'a program of the environment',
      'git fetch; GIT_PAGER=./x git log',
      ['git fetch -> github.com', 'GIT_PAGER=./x git log -> nothing'],
    ],
    ['a program of the project', 'git fetch && ./build', ['git fetch -> github.com', './build -> nothing']],
    ['an unknown program', 'git fetch; sometool', ['git fetch -> github.com', 'sometool -> nothing']],
    ['a shell around it', 'bash -c "git fetch; ./x"', ['bash -c "git fetch; ./x" -> nothing']],
    ['in the background', 'bash x.sh & git fetch', ['bash x.sh & git fetch -> nothing']],
    ['tests with their own hosts', 'npm test; bash x.sh', ['npm test -> test.example.org', 'bash x.sh -> nothing']],
    ['a loop', 'while true; do git fetch; ./x; done', ['while true; do git fetch; ./x; done -> nothing']],
  ])('%s', (_, text, expected) => expect(runs(text)).toEqual(expected))

  it.each([
    ['data that bash evaluates', 'while read -r x; do git fetch; [[ $x -eq 1 ]]; done < f'],
    ['the same by a name', 'git fetch | read -r x; echo ${!x}'],
    ['a variable that names a program', 'git fetch | GREP=./g.sh zgrep x f.gz'],
    ['the same for comparing', 'git fetch | CMP=./g.sh zcmp a.gz b.gz'],
    ['a bare repository of the project', 'git -C shipped fetch'],
    ['below one', 'git -C shipped/deep fetch'],
    ['in it by cd', 'cd shipped && git fetch'],
    ['by a link', 'git -C link fetch'],
    ['by two options', 'git -C sub -C ../shipped fetch'],
    ['with gh, which runs git', 'cd shipped && gh pr checkout 1 && git fetch'],
    ['a repository with settings that run programs', 'git -C hostile fetch'],
    ['a file that names another repository', 'git -C pointed fetch'],
    ['a directory that is not known', 'cd "$X" && git fetch'],
    ['the same by an option', 'git -C "$X" fetch'],
    ['written in /tmp', 'mkdir /tmp/e; cat > /tmp/e/config <<E\nx\nE\ngit -C /tmp/e fetch'],
    ['copied to /tmp', 'cp -r shipped /tmp/e; git -C /tmp/e fetch'],
    ['unpacked there', 'tar xf a.tar -C /tmp && git -C /tmp/e fetch'],
    ['configured there', 'git clone https://github.com/a/b /tmp/e; git -C /tmp/e config a.b c; git -C /tmp/e fetch'],
    ['below what was cloned', 'git clone https://github.com/a/b /tmp/e; git -C /tmp/e/vendor/x fetch'],
    ['moved in the project', 'mv shipped y; git -C y fetch'],
  ])('git takes no settings from others: %s', (_, text) => {
    const plans = plan(text).groups.filter(({ text: own }) => /fetch/.test(own))
    expect(plans.map(({ hosts }) => hosts)).toEqual([[]])
  })

  it('says what a text went without, and why', () => {
    expect(plan('git fetch | bash x.sh').note).toMatch(/could not reach github\.com.*`bash x\.sh` runs code/)
    expect(plan('git fetch; bash x.sh').note).toBeNull()
    expect(plan('git fetch; bash x.sh').wholeNote).not.toBeNull()
  })
})

describe('where connections are judged by program', () => {
  it.each([
    ['a script beside a fetch', 'git fetch; bash x.sh', true],
    ['a script fed by a fetch', 'git fetch | bash x.sh', true],
    ['a fetch in a shell', 'bash -c "git fetch; ./x"', true],
    ['a bare repository of the project', 'git -C shipped fetch', true],
    ['data that bash evaluates', 'while read -r x; do git fetch; [[ $x -eq 1 ]]; done < f', true],
    ['a fetch alone', 'git fetch', false],
  ])('git has its hosts for itself: %s', (_, text, relies) => {
    const { groups } = plan(text, true)
    expect(groups).toMatchObject([{ text, relies, limited: { programs: ['git'] } }])
    expect(groups[0]!.limited!.own(['git', 'fetch'])[0]?.pattern.host).toBe('github.com')
    expect(groups[0]!.limited!.own(['git', 'status'])).toEqual([])
  })

  it.each([
    ['npm looks for code in the home', 'npm ci; bash x.sh', ['npm ci -> packages.example.org', 'bash x.sh -> nothing']],
    ['so it has none of a shell', 'bash -c "npm ci"', ['bash -c "npm ci" -> nothing']],
    ['a grant for tests is for what they run', 'npm test', ['npm test -> test.example.org']],
  ])('%s', (_, text, expected) => expect(runs(text, true)).toEqual(expected))

  it('hosts of a grant for the project’s own code are for all of it', () => {
    expect(plan('npm test', true).groups[0]!.limited).toBeUndefined()
    expect(plan('npm ci', true).groups[0]!.limited?.programs).toEqual(['npm'])
  })
})

describe('controls', () => {
  it.each([
    ['a fetch', 'git fetch', ['git fetch -> github.com']],
    [
      'understood neighbours',
      'cd sub && git pull && git log -1 | head',
      ['cd sub && git pull && git log -1 | head -> github.com'],
    ],
    ['neighbours that have the same', 'npm ci; npm audit', ['npm ci; npm audit -> packages.example.org']],
    ['tests alone', 'npm test', ['npm test -> test.example.org']],
    [
      'an installation and tests',
      'npm ci && npm test',
      ['npm ci -> packages.example.org', 'npm test -> test.example.org'],
    ],
    [
      'a directory passed on',
      'cd sub && npm ci && npm test',
      ['cd sub -> nothing', 'npm ci -> packages.example.org', 'npm test -> test.example.org'],
    ],
    ['a submodule', 'git -C module fetch', ['git -C module fetch -> github.com']],
    ['a clone in the project', 'git -C cloned fetch', ['git -C cloned fetch -> github.com']],
    [
      'a clone in /tmp',
      'cd /tmp && git clone https://github.com/a/b && git -C b fetch',
      ['cd /tmp && git clone https://github.com/a/b && git -C b fetch -> github.com'],
    ],
    [
      'a clone in a new folder',
      'mkdir -p /tmp/w/x && cd /tmp/w/x && git clone https://github.com/a/b .',
      ['mkdir -p /tmp/w/x && cd /tmp/w/x && git clone https://github.com/a/b . -> github.com'],
    ],
    ['local work', 'git commit -m x', ['git commit -m x -> nothing']],
  ])('%s', (_, text, expected) => expect(runs(text)).toEqual(expected))
})
