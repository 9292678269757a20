/** Variables that a project sets for programs of a host do not redirect the hook, and the agent cannot write their files. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const DIST = join(import.meta.dirname, '../../../dist')
const CLIENT = join(DIST, 'native', `cordon-client-${process.arch}`)
const CLI = join(DIST, 'cordon.cjs')

let base = ''
let project = ''
let home = ''

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-environment-'))
  project = join(base, 'project')
  home = join(base, 'home')
  for (const folder of [project, home, join(base, 'forged')]) mkdirSync(folder)
  writeFileSync(join(base, 'node'), '#!/bin/sh\nenv\n', { mode: 0o755 })
})

afterAll(() => rmSync(base, { recursive: true, force: true }))

function run(words: readonly string[], env: Readonly<Record<string, string>>, input = ''): string {
  const [program = '', ...args] = words
  const around = { PATH: process.env.PATH ?? '', HOME: home, CORDON_KEYCHAIN: 'off', CORDON_RESIDENT: 'off' }
  const ran = spawnSync(program, args, { cwd: project, env: { ...around, ...env }, input, encoding: 'utf8' })
  return ran.stdout + ran.stderr
}

describe('variables of a project', () => {
  const seen = (words: readonly string[], variable: string): boolean => {
    const [name = '', value = ''] = variable.split('=')
    const shown = run([CLIENT, ...words, join(base, 'node'), CLI, 'hook', 'x'], { [name]: value }, '{}')
    return shown.split('\n').includes(variable)
  }

  it.each([
    ['has Node load a file', 'NODE_OPTIONS=--trace-exit'],
    ['has Node look for modules', 'NODE_PATH=/nowhere'],
    ['has every program load a library', 'LD_LIBRARY_PATH=/nowhere'],
    ['has OpenSSL load a library', 'OPENSSL_CONF=/nowhere'],
    ['has Node believe an authority', 'NODE_EXTRA_CA_CERTS=/nowhere'],
    ['has Node believe everybody', 'NODE_TLS_REJECT_UNAUTHORIZED=0'],
    ['names other keys', 'CORDON_TRUSTED_KEYS=/nowhere'],
    ['names another home', 'HOME=/nowhere'],
    ['names another place of keys', 'XDG_CONFIG_HOME=/nowhere'],
    ['names another place of signatures', 'XDG_STATE_HOME=/nowhere'],
  ])('what %s does not reach an installed hook, and reached one before', (_, variable) => {
    expect(seen(['--with', `HOME=${home}`], variable)).toBe(false)
    expect(seen([], variable)).toBe(true)
  })

  it('the environment at the time of the install is used', () => {
    expect(seen(['--with', `HOME=${home}`, '--with', 'XDG_STATE_HOME=/own'], 'XDG_STATE_HOME=/own')).toBe(true)
    expect(seen(['--with', `HOME=${home}`], `HOME=${home}`)).toBe(true)
  })

  it('a manifest signed by somebody else in their own home does not apply', () => {
    const forged = { HOME: join(base, 'forged') }
    const wide = 'schema_version = 1\n[permission]\nmode = "contained"\n'
    writeFileSync(join(project, 'cordon.toml'), wide)
    expect(run([process.execPath, CLI, 'sign', '--yes'], forged)).toContain('signed')
    const call = JSON.stringify({
      ...{ hook_event_name: 'PreToolUse', session_id: 's1234567', cwd: project, permission_mode: 'default' },
      ...{ tool_name: 'Write', tool_input: { file_path: join(project, 'a.txt'), content: 'x' } },
    })
    const words = [process.execPath, CLI, 'hook', 'claude-code', '--root', project]
    expect(run([CLIENT, '--with', `HOME=${home}`, ...words], forged, call)).toContain('"deny"')
    expect(run([CLIENT, ...words], forged, call)).not.toContain('"deny"')
  })

  it('a wrapped command has them, in the sandbox alone', () => {
    expect(run([process.execPath, CLI, 'sign', '--yes'], {})).toContain('signed')
    const input = call('claude-code', 'echo "<$NODE_ENV>"; env | grep -c CORDON_PASSED')
    const said = JSON.parse(run(installed('claude-code'), {}, input)).hookSpecificOutput.updatedInput.command as string
    expect(run(['/bin/sh', '-c', said], { NODE_OPTIONS: '--require=/nowhere.js', XDG_STATE_HOME: '/nowhere' })).toMatch(
      /^<>\n0\n/,
    )
  })
})

const installed = (host: string): readonly string[] => [
  ...[CLIENT, '--with', `HOME=${home}`, process.execPath, CLI, 'hook', host, '--root', project],
]

function call(host: string, command: string): string {
  if (host === 'cline')
    return JSON.stringify({
      ...{ taskId: 't1', hookName: 'tool_call', workspaceRoots: [project] },
      tool_call: { id: 'c', name: 'run_commands', input: { commands: [command] } },
    })
  return JSON.stringify({
    ...{ hook_event_name: 'PreToolUse', session_id: 's1234567', cwd: project, permission_mode: 'default' },
    ...{ tool_name: host === 'qwen' ? 'run_shell_command' : 'Bash', tool_input: { command } },
  })
}

describe('files of variables', () => {
  const wrapped = (host: string): string => {
    writeFileSync(join(project, 'make.py'), 'open(".e" + "nv", "w").write("LD_LIBRARY_PATH=.")\n')
    const answer = run(installed(host), {}, call(host, 'python3 make.py'))
    return /[\w/.-]*cordon-run [0-9a-f]{12}\S* 'python3 make.py'/.exec(answer)?.[0] ?? answer
  }

  it.each([
    ['qwen', false],
    ['cline', false],
    ['claude-code', true],
  ])('a command of %s makes one: %s', (host, created) => {
    rmSync(join(project, '.env'), { force: true })
    run(['/bin/sh', '-c', wrapped(host)], {})
    expect(existsSync(join(project, '.env'))).toBe(created)
  })

  it('a file tool does not', () => {
    const input = { file_path: join(project, 'deep/.env'), content: 'x' }
    const asked = JSON.stringify({ ...JSON.parse(call('qwen', '')), tool_name: 'write_file', tool_input: input })
    expect(run(installed('qwen'), {}, asked)).toContain('"deny"')
    const other = JSON.stringify({ ...JSON.parse(call('claude-code', '')), tool_name: 'Write', tool_input: input })
    expect(run(installed('claude-code'), {}, other)).not.toContain('"deny"')
  })
})
