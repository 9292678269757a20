/** The whole CLI with macOS as its platform and a substitute for sandbox-exec: it works, or nothing runs. */

import { spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { COMPILED } from '../../compiled.ts'
import { CLI } from '../../e2e/cordon.ts'
import { readProfile } from './evaluator.ts'

const STAND_IN = join(import.meta.dirname, 'stand-in')
/** The built program; the environment makes it one of another system, the process that starts it. */
const WORDS = [CLI]
/** A terminal around a program. */
const PTY = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))'

let base: string
let project: string
beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-darwin-')))
  project = join(base, 'home/project')
  mkdirSync(project, { recursive: true })
  writeFileSync(join(project, '.env'), 'TOKEN=tweet-4711\n')
  standIn('good')
})
afterEach(() => {
  hurried = null
  rmSync(base, { recursive: true, force: true })
})

const LOG = () => join(base, 'log')

function standIn(mode: string): void {
  mkdirSync(join(base, 'bin'), { recursive: true })
  const program = join(base, 'bin/sandbox-exec')
  const script = join(STAND_IN, 'sandbox-exec.ts')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${script}' '${LOG()}' ${mode} "$@"\n`)
  // The script of macOS takes a file, then the words of the command.
  writeFileSync(join(base, 'bin/script'), `#!/bin/sh\nshift 2\nexec python3 -c '${PTY}' "$@"\n`)
  for (const name of ['sandbox-exec', 'script']) chmodSync(join(base, 'bin', name), 0o755)
}

/** Instead of the unified log: one refusal of the command in question, and one that another program forged. */
function logProgram(mode: string): void {
  const program = join(base, 'bin/log')
  const entry = (processID: number, path: string) =>
    JSON.stringify({
      processID,
      processImagePath: '/kernel',
      senderImagePath: '/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox',
      eventMessage: `Sandbox: cat(7) deny(1) file-read-data ${path}\nMARK`,
    })
  const lines = [entry(0, `${project}/.env`), entry(7, `${project}/forged`), '{"count":2,"finished":1}']
  writeFileSync(`${program}.lines`, `${lines.join('\n')}\n`)
  const answer = {
    good: `mark=$(printf %s "$*" | grep -o 'cordon-[0-9a-f]*'); sed "s/MARK/$mark/" '${program}.lines'`,
    fail: `cat '${program}.lines'; echo 'log: Could not open local log store' >&2; exit 64`,
    odd: 'head -c 2000000 /dev/zero',
    hang: 'exec sleep 60',
  }[mode]
  writeFileSync(program, `#!/bin/sh\nprintf '%s\\n' "$*" >> '${LOG()}.asked'\n${answer}\n`)
  chmodSync(program, 0o755)
}

const environment = () => ({
  PATH: process.env.PATH ?? '',
  HOME: join(base, 'home'),
  TMPDIR: base,
  CORDON_PLATFORM: 'darwin',
  CORDON_STAND_IN: join(base, 'bin'),
  CORDON_RESIDENT: 'off',
  ...COMPILED,
  NODE_OPTIONS: `--import=${join(STAND_IN, 'platform.ts')}`,
  ...(hurried !== null && { CORDON_HURRY: hurried }),
})
/** The limit of the stand-in that is not waited for, in milliseconds. */
let hurried: string | null = null

function cordon(...args: string[]) {
  const ran = spawnSync(process.execPath, [...WORDS, ...args], {
    cwd: project,
    env: environment(),
    encoding: 'utf8',
  })
  return { code: ran.status, out: ran.stdout, err: ran.stderr }
}

const launched = (): string[][] =>
  readFileSync(LOG(), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))

function manifest(text: string): void {
  writeFileSync(join(project, 'cordon.toml'), `schema_version = 1\n${text}`)
  expect(cordon('sign', '--yes').code).toBe(0)
}

describe('cordon run', () => {
  it('writes in the project, and neither reads a secret nor leaves', () => {
    writeFileSync(join(base, 'home/outside'), 'outside-4711')
    const ran = cordon(
      'run',
      '--',
      'sh',
      '-c',
      'echo new > out; cat .env ../outside; touch ../new; echo "$TMPDIR"; echo t > "$TMPDIR/t" && echo scratch',
    )
    expect(readFileSync(join(project, 'out'), 'utf8')).toBe('new\n')
    expect(`${ran.out}${ran.err}`).not.toContain('4711')
    expect(existsSync(join(base, 'home/new'))).toBe(false)
    const [temporary, scratch] = ran.out.trim().split('\n')
    expect([temporary?.startsWith(`${base}/cordon-`), scratch]).toEqual([true, 'scratch'])
    expect(existsSync(temporary!)).toBe(false)
    // The probe first, then the command, each by -p and a profile that both readings understand.
    const words = launched()
    expect(words.map(([option, , separator]) => [option, separator])).toEqual([
      ['-p', '--'],
      ['-p', '--'],
    ])
    for (const [, profile] of words) expect(() => readProfile(profile!)).not.toThrow()
  })

  describe('what the kernel logged', () => {
    const refused = () => cordon('run', '--', 'sh', '-c', 'echo failed >&2; exit 1')

    it('of a command that failed is reported as observed, and of no other', () => {
      logProgram('good')
      expect(refused().err).toContain(`observed: ${project}/.env was not read: the sandbox refused it`)
      expect(refused().err).not.toContain('forged')
      expect(cordon('run', '--', 'true').err).not.toContain('observed')
      const asked = readFileSync(`${LOG()}.asked`, 'utf8').trim().split('\n')
      expect(asked).toHaveLength(2)
      expect(asked[0]).toMatch(/^show --style ndjson --last \d+s --predicate sender == "Sandbox" AND /)
      expect(asked[0]).not.toBe(asked[1])
    })

    it.each(['fail', 'odd', 'hang', 'missing'])(
      'is not reported where the log does %s, and nothing else changes',
      (mode) => {
        if (mode !== 'missing') logProgram(mode)
        hurried = mode === 'hang' ? '2000' : null
        const ran = refused()
        expect([ran.code, ran.err.includes('failed\n'), ran.err.includes('observed')]).toEqual([1, true, false])
      },
    )
  })

  it('passes streams, status and signals on', () => {
    const ran = spawnSync(process.execPath, [...WORDS, 'run', '--', 'sh', '-c', 'cat; echo e >&2; exit 7'], {
      cwd: project,
      env: environment(),
      encoding: 'utf8',
      input: 'in',
    })
    expect([ran.status, ran.stdout]).toEqual([7, 'in'])
    expect(ran.stderr).toContain('e\n')
  })

  it('has a terminal that was opened outside, and no other', () => {
    const inner = 'test -t 0 && test -t 1 && echo at-a-terminal; cat .env; exit 5'
    const words = ['-c', PTY, process.execPath, ...WORDS, 'run', '--', 'sh', '-c', inner]
    const ran = spawnSync('python3', words, { cwd: project, env: environment(), encoding: 'utf8' })
    expect([ran.status, ran.stdout.includes('at-a-terminal')], ran.stdout + ran.stderr).toEqual([5, true])
    expect(ran.stdout).not.toContain('4711')
  })

  it('ends at its time limit, with all of its group', () => {
    manifest('[capabilities.allow.read]\npaths = ["**"]\n[limits]\ncommand_timeout = 1\n')
    const ran = cordon('run', '--', 'sh', '-c', 'sleep 60 & sleep 60')
    expect(ran.code).toBe(137)
    expect(ran.err).toMatch(/1 second|time limit|timed out/)
  })

  it('reaches a granted host by the one port, with its own token', async () => {
    const server = createServer((_, response) => response.end('reached'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      manifest(
        `[capabilities.allow.read]\npaths = ["**"]\n[capabilities.allow.commands]\npatterns = ["curl:*", "printenv http_proxy"]\ndefault_domains = ["127.0.0.1:${port}"]\n[http]\nallow_private_hosts = true\n`,
      )
      const ran = await aside('run', '--', 'curl', '-s', `http://127.0.0.1:${port}/`)
      expect(ran.out, JSON.stringify(ran)).toBe('reached')
      const { out } = await aside('run', '--', 'printenv', 'http_proxy')
      expect(out).toMatch(/^http:\/\/cordon:[\w-]{32}@127\.0\.0\.1:\d+\n$/)
    } finally {
      server.close()
    }
  })
})

/** Without blocking this process, whose server is asked. */
function aside(...args: string[]): Promise<{ code: number | null; out: string; err: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [...WORDS, ...args], { cwd: project, env: environment() })
    let [out, err] = ['', '']
    child.stdout.on('data', (text) => (out += text))
    child.stderr.on('data', (text) => (err += text))
    child.on('close', (code) => resolve({ code, out, err }))
  })
}

describe('what does not hold closes', () => {
  it.each([
    { mode: 'fail', note: 'a profile that is not taken', says: /did not take the profile/ },
    { mode: 'open', note: 'a sandbox that stops nothing', says: /an attack from inside succeeded/ },
    { mode: 'hang', note: 'one that never starts', says: /the probe ended/ },
    { mode: 'quiet', note: 'one that ends at once, and says nothing', says: /did not take the profile \(exit 0\)/ },
  ])('$note', ({ mode, says }) => {
    standIn(mode)
    hurried = mode === 'hang' ? '10000' : null
    const ran = cordon('run', '--', 'sh', '-c', 'echo new > out')
    expect([ran.code, ran.out, existsSync(join(project, 'out'))]).toEqual([125, '', false])
    expect(ran.err).toMatch(says)
  })

  it('one that is missing', () => {
    rmSync(join(base, 'bin/sandbox-exec'))
    const ran = cordon('run', '--', 'sh', '-c', 'echo new > out')
    expect([ran.code, existsSync(join(project, 'out'))]).toEqual([125, false])
  })
})

it('doctor and --plan say what has no equal', () => {
  const doctor = cordon('doctor', '--json')
  const report = JSON.stringify(JSON.parse(doctor.out))
  for (const word of ['seatbelt', 'process isolation', 'degraded']) expect(report).toContain(word)
  const plan = cordon('run', '--plan', '--', 'true')
  expect(plan.out).toMatch(/DEGRADED {2}process isolation/)
  expect(plan.out).toMatch(/ABSENT {4}limit: memory|ABSENT.*limit: memory/)
})

it('a hook decides and wraps as on Linux', () => {
  manifest(
    '[permission]\nmode = "auto_accept"\n[capabilities.allow.read]\npaths = ["**"]\n[capabilities.allow.commands]\npatterns = ["cp:*", "cat:*"]\n',
  )
  writeFileSync(join(project, 'a.txt'), 'text of a')
  const ask = (command: string) => {
    const ran = spawnSync(process.execPath, [...WORDS, 'hook', 'claude-code'], {
      cwd: project,
      env: { ...environment(), CLAUDE_PROJECT_DIR: project },
      encoding: 'utf8',
      input: JSON.stringify({
        hook_event_name: 'PreToolUse',
        session_id: 's',
        transcript_path: join(base, 't'),
        cwd: project,
        tool_name: 'Bash',
        tool_input: { command },
        tool_use_id: 'u',
      }),
    })
    return { code: ran.status, out: ran.stdout, err: ran.stderr }
  }
  writeFileSync(join(base, 't'), '{}\n')
  expect(ask('cat .env')).toMatchObject({ out: expect.stringMatching(/deny|ask/) })
  // What it puts instead of the command runs there as well, and nothing of it outside.
  const { hookSpecificOutput } = JSON.parse(ask('cp a.txt out && cat out').out)
  const { command } = hookSpecificOutput.updatedInput
  const ran = spawnSync('sh', ['-c', command], { cwd: project, env: environment(), encoding: 'utf8' })
  expect(ran.stdout, ran.stderr).toBe('text of a')
  expect(readFileSync(join(project, 'out'), 'utf8')).toBe('text of a')
  expect(launched().length).toBe(2)
})

it('a session runs commands and file tools', () => {
  writeFileSync(join(project, 'a.txt'), 'text of a')
  const calls = [
    { tool: 'bash', input: { command: 'cat a.txt' } },
    { tool: 'write', input: { path: 'b.txt', content: 'text of b' } },
    { tool: 'bash', input: { command: 'cat .env b.txt' } },
    { tool: 'read', input: { path: '.ENV' } },
  ]
  const ran = spawnSync(process.execPath, [join(STAND_IN, 'session.ts'), project, JSON.stringify(calls)], {
    cwd: project,
    env: environment(),
    encoding: 'utf8',
  })
  const results = ran.stdout.trim().split('\n')
  expect(results, ran.stderr).toHaveLength(4)
  expect(results[0]).toContain('text of a')
  expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('text of b')
  expect(ran.stdout).not.toContain('4711')
})

it('a character that the bash of macOS does not write is not judged as if it did', () => {
  const ran = cordon('check', '--', "$'\\u006cs' src")
  expect(ran.code, ran.out).toBe(4)
})

it('a rule is not passed by another spelling of a name', () => {
  manifest(
    '[capabilities.allow.read]\npaths = ["**"]\n[capabilities.deny.read]\npaths = ["private/**", "Caf\u00e9/**"]\n',
  )
  for (const path of ['PRIVATE/x', 'CAFE\u0301/x']) {
    const ran = cordon('check', '--tool', 'read', '--input', JSON.stringify({ path }))
    expect(ran.code, `${path}: ${ran.out}${ran.err}`).toBe(4)
  }
})
