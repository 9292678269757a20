/** Programs that a person installed below the home: shown with what they need, read-only, and nothing else with them. */

import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../../e2e/cordon.ts'

let project: Project
let env: Record<string, string>

/** A script below the home; `$H` in it is that. */
function script(path: string, text: string): void {
  file(path, text)
  chmodSync(join(project.home, path), 0o755)
}
function file(path: string, text: string): void {
  mkdirSync(dirname(join(project.home, path)), { recursive: true })
  writeFileSync(join(project.home, path), text.replaceAll('$H', project.home))
}
function link(path: string, target: string): void {
  mkdirSync(dirname(join(project.home, path)), { recursive: true })
  symlinkSync(target.replaceAll('$H', project.home), join(project.home, path))
}
/** A program that interprets, and is not an other's. */
function shell(path: string): void {
  mkdirSync(dirname(join(project.home, path)), { recursive: true })
  copyFileSync('/bin/sh', join(project.home, path))
  chmodSync(join(project.home, path), 0o755)
}

const ON_PATH = ['.nvm/versions/v1/bin', '.npm-global/bin', '.pyenv/shims', '.cargo/bin', '.asdf/shims', '.bun/bin']

beforeAll(() => {
  project = new Project()
  env = {
    CORDON_KEYCHAIN: 'off',
    PATH: [...ON_PATH, '.local/bin']
      .map((folder) => join(project.home, folder))
      .join(':')
      .concat(':/usr/bin:/bin'),
  }
  // pipx, with an interpreter that is pyenv's.
  shell('.pyenv/versions/3/bin/python')
  link('.local/share/pipx/venvs/grey/bin/python', '$H/.pyenv/versions/3/bin/python')
  script('.local/share/pipx/venvs/grey/bin/grey', '#!$H/.local/share/pipx/venvs/grey/bin/python\necho "pipx: $0"\n')
  link('.local/bin/grey', '../share/pipx/venvs/grey/bin/grey')
  script('.pyenv/shims/pyshim', '#!/bin/sh\nexec "$H/.pyenv/versions/3/bin/python" -c "echo pyenv"\n')
  file('.pyenv/.env', 'TOKEN=pyenv\n')
  // A virtual environment by a pyenv that is not in its usual place.
  shell('opt/pyenv/versions/3/bin/python')
  file('opt/pyenv/private', 'PRIVATE\n')
  for (const [venv, target] of Object.entries({
    '.venv': '$H/opt/pyenv/versions/3/bin/python',
    bad: '$H/.ssh/sh',
    other: '$H/code/mine/alone',
  })) {
    const inProject = join(project.directory, venv)
    mkdirSync(join(inProject, 'bin'), { recursive: true })
    writeFileSync(join(inProject, 'pyvenv.cfg'), '')
    symlinkSync(target.replace('$H', project.home), join(inProject, 'bin/python'))
    writeFileSync(join(inProject, 'bin/tests'), `#!${inProject}/bin/python\necho "venv: $0"\n`, { mode: 0o755 })
  }
  writeFileSync(join(project.directory, 'starts-tests'), 'exec .venv/bin/tests\n')
  // npm's global folder, with nvm's node.
  shell('.nvm/versions/v1/bin/nodeish')
  script('.npm-global/lib/tool/cli', '#!/usr/bin/env nodeish\necho npm\n')
  link('.npm-global/bin/tool', '../lib/tool/cli')
  file('.npm-global/.npmrc', '//r/:_authToken=npm\n')
  // cargo, beside its credentials.
  file('.rustup/toolchains/t/lib', 'toolchain\n')
  script('.cargo/bin/crate', '#!/bin/sh\necho "cargo: $(cat $H/.rustup/toolchains/t/lib)"\n')
  script('.cargo/bin/steals', '#!/bin/sh\ncat $H/.cargo/credentials.toml\n')
  file('.cargo/credentials.toml', 'PRIVATE\n')
  script('.asdf/installs/x/1/bin/x', '#!/bin/sh\necho asdf\n')
  script('.asdf/shims/x', '#!/bin/sh\nexec $H/.asdf/installs/x/1/bin/x\n')
  script('.bun/bin/bunish', '#!/bin/sh\necho bun\n')
  // One program of a folder that the command did not name.
  script('code/mine/alone', '#!/bin/sh\necho "alone: $(cat $H/code/mine/beside 2>&1)"\n')
  file('code/mine/beside', 'PRIVATE\n')
  link('.local/bin/alone', '$H/code/mine/alone')
  script('.local/bin/writes', '#!/bin/sh\necho evil > "$H/.local/bin/grey2" || echo kept\n')
  // What a link must not open.
  script('.ssh/id_rsa', 'PRIVATE\n')
  script('.local/bin/others', '#!/bin/sh\n# PRIVATE\n')
  link('.local/bin/key', '$H/.ssh/id_rsa')
  script('.local/bin/.env', 'PRIVATE\n')
  script('.local/bin/bad', '#!$H/.ssh/sh\n')
  shell('.ssh/sh')
  script('.local/state/cordon/keys/own', 'PRIVATE\n')
  chmodSync(join(project.home, '.local/state/cordon'), 0o700)
  link('.local/bin/own', '$H/.local/state/cordon/keys/own')
})
afterAll(() => project.remove())

const run = (...command: string[]) => project.cordon(['run', '--', ...command], { env })

describe('a program of an installer runs, with what it links to', () => {
  it.each([
    ['grey', 'pipx: '],
    ['pyshim', 'pyenv'],
    ['tool', 'npm'],
    ['crate', 'cargo: toolchain'],
    ['x', 'asdf'],
    ['bunish', 'bun'],
    ['alone', 'alone: cat: '],
  ])('%s', (program, said) => {
    expect(run(program).out).toContain(said)
  })

  it('in a shell, behind a wrapper, by its path', () => {
    const { out } = run('sh', '-c', `grey; timeout 9 tool && ${project.home}/.cargo/bin/crate; ~/.asdf/shims/x`)
    expect(out.split('\n')).toEqual([expect.stringContaining('pipx'), 'npm', 'cargo: toolchain', 'asdf', ''])
  })

  it.each([
    ['by its path', ['.venv/bin/tests'], {}],
    ['in a shell', ['sh', '-c', 'cd . && .venv/bin/tests'], {}],
    ['activated', ['tests'], { activated: true }],
    ['started by a script', ['sh', 'starts-tests'], {}],
  ])('a virtual environment, %s', (_, command, { activated = false }: { activated?: boolean }) => {
    const PATH = activated ? `${project.directory}/.venv/bin:${env.PATH}` : env.PATH!
    const moved = { ...env, PATH, PYENV_ROOT: join(project.home, 'opt/pyenv') }
    expect(project.cordon(['run', '--', ...command], { env: moved }).out).toContain('venv: ')
    // Without the variable nothing says that the folder is an installer's.
    const said = project.cordon(['run', '--', ...command], { env: { ...env, PATH } })
    expect(said).toMatchObject({ code: 127, out: '' })
    if (command[0] !== 'tests' && command.at(-1) !== 'starts-tests')
      expect(said.err).toContain('cordon run --read ~/opt/pyenv/versions/3 …')
  })

  it('under a hook', () => {
    const call = { tool_name: 'Bash', tool_input: { command: 'grey && crate' }, cwd: project.directory }
    const input = JSON.stringify({ ...call, hook_event_name: 'PreToolUse', session_id: 's' })
    const said = project.cordon(['hook', 'claude-code', '--root', project.directory], { input, env })
    const { command } = JSON.parse(said.out).hookSpecificOutput.updatedInput
    const ran = spawnSync('bash', ['-c', command], {
      cwd: project.directory,
      env: { ...env, HOME: project.home },
      encoding: 'utf8',
    })
    expect(ran.stdout).toMatch(/pipx: .*\ncargo: toolchain\n/)
  })

  it('init says so', () => {
    expect(project.cordon(['init', '--print', '--json'], { env }).out).toContain(
      'programs of yours (~/.local/bin, cargo,',
    )
  })
})

describe('nothing else is shown with it', () => {
  const secret = (path: string): string =>
    `cat ${project.home}/${path} 2>&1; ls -A ${project.home}/${dirname(path)} 2>&1`

  it.each([
    ['credentials beside the programs, read by one of them', () => 'steals'],
    ['credentials beside the programs', () => `crate; ${secret('.cargo/credentials.toml')}`],
    ['settings of npm beside its programs', () => `tool; ${secret('.npm-global/.npmrc')}`],
    ['a secret beside the programs', () => `pyshim; ${secret('.pyenv/.env')}`],
    ['a secret among the programs', () => `grey; cat ${project.home}/.local/bin/.env`],
    ['another program in a folder of the person', () => `grey; cat ${project.home}/.local/bin/oth*`],
    ['what lies beside a single program', () => `alone; ${secret('code/mine/beside')}`],
    ['a key that a link names', () => `key; cat ${project.home}/.local/bin/key; ${secret('.ssh/id_rsa')}`],
    ['a key that a word names', () => `grey ${project.home}/.ssh/id_rsa; ${secret('.ssh/id_rsa')}`],
    ['an interpreter among the secrets', () => `bad; ${secret('.ssh/id_rsa')}`],
    ['a secret that an environment names', () => `bad/bin/tests; ${secret('.ssh/id_rsa')}`],
    ['a folder that an environment names', () => `other/bin/tests; ${secret('code/mine/beside')}`],
    ['Cordon’s own state', () => `own; cat ${project.home}/.local/bin/own; ${secret('.local/state/cordon/keys/own')}`],
  ])('%s', (_, command) => {
    const { out, err } = run('sh', '-c', command())
    expect(out + err).not.toMatch(/PRIVATE|TOKEN=|_authToken/)
  })

  it('to a command that names none of them', () => {
    expect(run('ls', '-A', project.home).out).not.toMatch(/\.cargo|\.pyenv|\.nvm/)
  })

  it('the control: without the sandbox a program reads what is beside it', () => {
    expect(spawnSync(join(project.home, '.cargo/bin/steals'), { encoding: 'utf8' }).stdout).toBe('PRIVATE\n')
  })

  it.each([
    ['beside the parts of the installer', 'opt/pyenv'],
    ['by a variable that names the home', ''],
    ['by a variable that names a folder above the programs', '.local'],
  ])('%s', (_, place) => {
    const moved = { ...env, PYENV_ROOT: join(project.home, place), N_PREFIX: join(project.home, place) }
    const text = `.venv/bin/tests; grey; ${secret('opt/pyenv/private')}; ${secret('code/mine/beside')}; cat ${project.home}/.local/bin/oth*`
    const { out, err } = project.cordon(['run', '--', 'sh', '-c', text], { env: moved })
    expect(out + err).not.toMatch(/PRIVATE/)
  })

  it('and it cannot be changed', () => {
    expect(run('writes').out + run('writes').err).toMatch(/temporary home|Read-only/)
    expect(existsSync(join(project.home, '.local/bin/grey2'))).toBe(false)
    const wide = project.cordon(
      ['run', '--write', join(project.home, '.cargo'), '--', 'sh', '-c', 'crate; echo evil > ~/.cargo/bin/crate'],
      { env },
    )
    expect(wide.code).not.toBe(0)
  })
})
