/** Working trees that agents create below their folders: projects like any other, with their own settings protected, and signed with the main one. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { worktreeFolders } from '../../../src/files/protected-names.ts'
import { Project } from '../../e2e/cordon.ts'

const TREE = '.claude/worktrees/w1'
let project: Project
beforeEach(() => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[permission]\nmode = "contained"\n',
    '.claude/settings.json': '{}\n',
    'a.txt': 'a\n',
  })
  git('init', '-q')
  git('config', 'user.name', 'a')
  git('config', 'user.email', 'a@example.org')
  git('add', '-A')
  git('commit', '-qm', '1')
  git('worktree', 'add', '-q', TREE)
  project.cordon(['sign', '--yes'])
})
afterEach(() => project.remove())

function git(...words: string[]): void {
  const env = { PATH: process.env.PATH, HOME: project.home, GIT_CONFIG_NOSYSTEM: '1' }
  const { status, stderr } = spawnSync('git', words, { cwd: project.directory, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
}

const at = (path: string) => join(project.directory, path)

describe.each([
  ['from the main checkout', '', `${TREE}/`],
  ['with the working tree as the root', TREE, ''],
])('%s', (_, root, tree) => {
  const run = (script: string) => project.cordon(['run', '--', 'sh', '-c', script], { cwd: at(root) })

  it('its files are written and committed', () => {
    const done = run(`mkdir ${tree}src; echo x > ${tree}src/x; cd ./${tree}; git add src; git commit -qm 2`)
    expect(done.code, done.err).toBe(0)
    expect(readFileSync(at(`${TREE}/src/x`), 'utf8')).toBe('x\n')
    const input = JSON.stringify({ path: at(`${TREE}/new.txt`), content: 'x' })
    const checked = project.cordon(['check', '--json', '--tool', 'write', '--input', input], { cwd: at(root) })
    expect(JSON.parse(checked.out)).toMatchObject({ decision: 'allow' })
  })

  it('its settings are not, nor are those around it', () => {
    const kept = ['.claude/settings.json', '.claude/hooks', '.mcp.json', '.vscode/tasks.json', '.envrc']
    for (const path of kept) {
      run(`mkdir -p $(dirname ${tree}${path}); echo evil > ${tree}${path}`)
      run(`echo evil > x; mkdir -p $(dirname ${tree}${path}); mv x ${tree}${path}`)
      expect(existsSync(at(`${TREE}/${path}`)) && readFileSync(at(`${TREE}/${path}`), 'utf8').includes('evil')).toBe(
        false,
      )
    }
    run(`echo evil > ${at('.claude/settings.json')}; mv ${at(TREE)}/a.txt ${at('.claude/commands')}`)
    expect([readFileSync(at('.claude/settings.json'), 'utf8'), existsSync(at('.claude/commands'))]).toEqual([
      '{}\n',
      false,
    ])
    const input = JSON.stringify({ path: at(`${TREE}/.claude/settings.json`), content: 'x' })
    const checked = project.cordon(['check', '--json', '--tool', 'write', '--input', input], { cwd: at(root) })
    expect(JSON.parse(checked.out)).toMatchObject({ decision: 'deny' })
  })
})

it('the manifest of the main checkout counts as signed there; another one, or a folder that only says so, does not', () => {
  expect(project.cordon(['run', '--', 'true'], { cwd: at(TREE) })).toMatchObject({ code: 0 })
  const forged = at('forged')
  mkdirSync(forged)
  writeFileSync(join(forged, '.git'), readFileSync(at(`${TREE}/.git`)))
  writeFileSync(join(forged, 'cordon.toml'), readFileSync(at('cordon.toml')))
  expect(project.cordon(['run', '--', 'true'], { cwd: forged }).code).toBe(125)
  writeFileSync(at(`${TREE}/cordon.toml`), 'schema_version = 1\n[permission]\nmode = "auto"\n')
  expect(project.cordon(['run', '--', 'true'], { cwd: at(TREE) }).code).toBe(125)
})

describe.each(worktreeFolders)('%s', (folder) => {
  it.each([
    ['in the project', () => at(`${folder}/worktrees/w2`)],
    ['at home', () => join(realpathSync(project.home), folder, 'worktrees/ab12/project')],
  ])('a working tree %s is a project, with its settings protected', (_, place) => {
    const tree = place()
    mkdirSync(at(folder), { recursive: true })
    git('worktree', 'add', '-q', '--detach', tree)
    const settings = worktreeFolders.map((name) => `${name}/evil`)
    const script = [
      'echo x > new; echo y > a.txt',
      ...settings.map((path) => `mkdir -p ${dirname(path)}; echo evil > ${path}`),
    ].join('\n')
    const done = project.cordon(['run', '--', 'sh', '-c', script], { cwd: tree })
    expect(readFileSync(join(tree, 'new'), 'utf8'), done.err).toBe('x\n')
    expect(readFileSync(join(tree, 'a.txt'), 'utf8')).toBe('y\n')
    expect(settings.filter((path) => existsSync(join(tree, path)))).toEqual([])
    project.cordon(['run', '--', 'sh', '-c', `echo evil > ${folder}/evil; mkdir ${folder}/hooks`])
    expect([existsSync(at(`${folder}/evil`)), existsSync(at(`${folder}/hooks`))]).toEqual([false, false])
  })
})

it('control: the folder .claude itself takes nothing new', () => {
  project.cordon([
    'run',
    '--',
    'sh',
    '-c',
    'echo evil > .claude/agents; mkdir .claude/other; ln -s /tmp .claude/worktrees/l',
  ])
  expect([
    existsSync(at('.claude/agents')),
    existsSync(at('.claude/other')),
    existsSync(at('.claude/worktrees/l')),
  ]).toEqual([false, false, false])
})
