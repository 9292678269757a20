/** The hook as a process, the way hosts run it: streams, exit codes, the sandbox behind the rewrite, approvals, installation. */

import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process'
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const CLI = process.env.CORDON_CLI ?? join(import.meta.dirname, '../../../dist/cordon.cjs')

const MANIFEST = `schema_version = 1
[permission]
mode = "contained"
[security]
redirects = "all"
[capabilities.deny.commands]
patterns = ["git push:*"]
`

/** Enough of `codex app-server` to ask which hooks it knows and trusts. */
const FAKE_CODEX = `#!/usr/bin/env node
const { existsSync, readFileSync } = require('node:fs')
const { createInterface } = require('node:readline')
const config = () => readFileSync(process.env.HOME + '/.codex/config.toml', 'utf8')
const hooksOf = (root) => {
  const file = root + '/.codex/hooks.json'
  if (!existsSync(file)) return []
  const { hooks } = JSON.parse(readFileSync(file, 'utf8'))
  return Object.entries(hooks).flatMap(([event, groups]) => groups.flatMap((group, g) => group.hooks.map((hook, h) => {
    const key = [file, event.replace(/(?!^)([A-Z])/g, '_$1').toLowerCase(), g, h].join(':')
    const currentHash = 'sha256:' + hook.command.length
    const trusted = config().includes('[hooks.state.' + JSON.stringify(key) + ']\\ntrusted_hash = ' + JSON.stringify(currentHash))
    return { key, currentHash, command: hook.command, enabled: true, trustStatus: trusted ? 'trusted' : 'untrusted' }
  })))
}
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line)
  if (id === undefined) return
  const result = method === 'hooks/list' ? { data: params.cwds.map((root) => ({ hooks: hooksOf(root) })) } : {}
  console.log(JSON.stringify({ id, result }))
})
`

let base = ''
let project = ''
/** A hook whose host goes on saying nothing: it waits for its deadline while the other tests run. */
let silent: ChildProcessByStdio<Writable, null, null>
let silentEnd: Promise<unknown>

beforeAll(() => {
  base = mkdtempSync(join(tmpdir(), 'cordon-hook-process-'))
  project = join(base, 'project')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  writeFileSync(join(project, '.env'), 'TOKEN=hunter2\n')
  signed(MANIFEST)
  silent = spawn(process.execPath, [CLI, 'hook', 'codex', '--root', project], {
    env: environment(),
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  silent.stdin.write('{')
  silentEnd = new Promise((resolve) => silent.on('close', resolve))
})

afterAll(() => {
  silent.kill('SIGKILL')
  rmSync(base, { recursive: true, force: true })
})

interface Ran {
  readonly code: number | null
  readonly out: string
  readonly err: string
}

function environment(): Record<string, string> {
  return { PATH: process.env.PATH ?? '', HOME: join(base, 'home') }
}

function cordon(args: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): Ran {
  const run = spawnSync(process.execPath, [CLI, ...args], {
    cwd: project,
    env: { ...environment(), ...env },
    input,
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  return { code: run.status, out: run.stdout, err: run.stderr }
}

function signed(manifest: string): void {
  writeFileSync(join(project, 'cordon.toml'), manifest)
  expect(cordon(['sign', '--yes']).code).toBe(0)
}

const call = (tool_name: string, tool_input: object): string =>
  JSON.stringify({
    hook_event_name: 'PreToolUse',
    session_id: 's1',
    cwd: project,
    permission_mode: 'bypassPermissions',
    tool_name,
    tool_input,
  })
const hook = (input: string): Ran => cordon(['hook', 'codex', '--root', project], input)

describe('the process', () => {
  it('prints one line of JSON and nothing else', () => {
    const { code, out, err } = hook(call('Bash', { command: 'git push' }))
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(out.trim().split('\n')).toHaveLength(1)
    expect(JSON.parse(out).hookSpecificOutput.permissionDecision).toBe('deny')
  })

  it.each([
    ['nothing', ''],
    ['garbage', 'xx'],
    ['bytes that are no text', '\udcff'],
    ['more than it takes', `"${'x'.repeat(65 * 1024 * 1024)}"`],
  ])('blocks on %s', (_, input) => {
    const { code, out, err } = hook(input)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain('cordon:')
  })

  it('blocks for a host that nobody knows', () => {
    expect(cordon(['hook', 'copilot', '--root', project], '{}')).toMatchObject({ code: 2, out: '' })
  })

  it('blocks on an invalid option', () => {
    expect(cordon(['hook', 'codex', '--manifest', 'x'], call('Bash', { command: 'ls' }))).toMatchObject({
      code: 2,
      out: '',
    })
  })

  it('blocks where its state cannot be used', () => {
    const run = spawnSync(process.execPath, [CLI, 'hook', 'codex', '--root', project], {
      env: { ...environment(), XDG_STATE_HOME: '/dev/null' },
      input: call('apply_patch', { command: '*** Begin Patch\n*** Add File: x\n+x\n*** End Patch' }),
      encoding: 'utf8',
    })
    expect(run.stdout === '' ? run.status : JSON.parse(run.stdout).hookSpecificOutput.permissionDecision).toSatisfy(
      (answer) => answer === 2 || answer === 'deny',
    )
  })
})

describe('the rewrite', () => {
  const rewritten = (command: string): string =>
    JSON.parse(hook(call('Bash', { command })).out).hookSpecificOutput.updatedInput.command
  const run = (command: string, cwd = project): Ran => {
    const ran = spawnSync('/bin/bash', ['-c', command], { cwd, env: environment(), encoding: 'utf8' })
    return { code: ran.status, out: ran.stdout, err: ran.stderr }
  }
  /** The command that a person is asked about in the host's dialog, in the form that it has once they say yes. */
  const asked = (command: string, cwd = project): string => {
    const input = { ...JSON.parse(call('Bash', { command })), cwd, permission_mode: 'default' }
    const { out } = cordon(['hook', 'claude-code', '--root', project], JSON.stringify(input))
    const { permissionDecision, updatedInput } = JSON.parse(out).hookSpecificOutput
    expect(permissionDecision).toBe('ask')
    return updatedInput.command
  }

  it('carries the yes of a host’s dialog to that very command, once', () => {
    const command = asked('cat .env')
    expect(run(command)).toMatchObject({ code: 0, out: 'TOKEN=hunter2\n' })
    // Without a yes the file is a mask.
    const refused = { out: '' }
    expect(run(command)).toMatchObject(refused)
    const again = asked('cat .env')
    expect(run(again.replace('.env', './.env'))).toMatchObject(refused)
    expect(run(again.replace(/\.[0-9a-f]{8} /, ' '))).toMatchObject(refused)
    expect(run(again)).toMatchObject({ code: 0, out: 'TOKEN=hunter2\n' })
  })

  it('takes a root that is named from where the hook runs', () => {
    const rewrittenBy = (root: string): string =>
      JSON.parse(cordon(['hook', 'claude-code', '--root', root], call('Bash', { command: 'ls' })).out)
        .hookSpecificOutput.updatedInput.command
    expect(rewrittenBy('.')).toBe(rewrittenBy(project))
  })

  it('opens what was asked about in a folder of the project', () => {
    const folder = join(project, 'deeper')
    mkdirSync(folder)
    writeFileSync(join(folder, '.env'), 'TOKEN=deeper\n')
    expect(run(asked('cat .env', folder), folder)).toMatchObject({ code: 0, out: 'TOKEN=deeper\n' })
    rmSync(folder, { recursive: true })
  })

  it('opens nothing that a link points to only since the person was asked', () => {
    const link = join(project, 'docs')
    const point = (to: string): void => {
      rmSync(link, { force: true })
      symlinkSync(join(base, 'home', to), link)
    }
    for (const name of ['notes', 'private']) {
      mkdirSync(join(base, 'home', name))
      writeFileSync(join(base, 'home', name, 'a.txt'), `${name}\n`)
    }
    signed(MANIFEST.replace('[security]', '[security]\noutside_roots = "ask"'))
    point('notes')
    expect(run(asked('cat docs/a.txt'))).toMatchObject({ code: 0, out: 'notes\n' })
    const command = asked('cat docs/a.txt')
    point('private')
    expect(run(command)).toMatchObject({ code: 1, out: '' })
    rmSync(link)
    signed(MANIFEST)
  })

  it('runs the command with its streams and its exit code', () => {
    expect(run(`echo in | ${rewritten("cat; printf '%s' \"it's\"; exit 7")}`)).toMatchObject({
      code: 7,
      out: "in\nit's",
    })
  })

  it('says what went with the private home', () => {
    writeFileSync(join(project, 'leave.sh'), 'echo x > ~/.aliases\n')
    const { code, err } = run(rewritten('bash ./leave.sh'))
    expect([code, err]).toEqual([0, expect.stringContaining('~/.aliases went to a temporary home')])
  })

  it('runs it in the sandbox', () => {
    writeFileSync(join(project, 'peek.sh'), 'cat .env; echo x > /etc/cordon-peek; echo seen\n')
    const { out } = run(rewritten('bash ./peek.sh'))
    expect(out).not.toContain('hunter2')
    expect(out).toContain('seen')
    expect(existsSync('/etc/cordon-peek')).toBe(false)
  })

  it('judges again: a denied command in our form is refused', () => {
    const forged = rewritten('true').replace(/'true'$/, "'git push'")
    expect(run(forged).code).toBe(126)
  })

  it('applies a patch that a command is, by the rules of files', () => {
    const patch = (path: string): string =>
      `apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: ${path}\n+$(touch ran) \`x\`\n*** End Patch\nEOF\n`
    expect(run(rewritten(patch('patched.txt')))).toMatchObject({
      code: 0,
      out: expect.stringContaining('A patched.txt'),
    })
    expect(readFileSync(join(project, 'patched.txt'), 'utf8')).toBe('$(touch ran) `x`\n')
    expect(existsSync(join(project, 'ran'))).toBe(false)
    // It is there already: nothing is changed.
    expect(run(rewritten(patch('patched.txt'))).code).toBe(1)
    expect(hook(call('Bash', { command: patch('../outside.txt') })).out).toContain('"permissionDecision":"deny"')
    expect(hook(call('Bash', { command: patch('.git/hooks/post-commit') })).out).toContain(
      '"permissionDecision":"deny"',
    )
    const forged = rewritten(patch('fine.txt')).replace('fine.txt', '../outside.txt')
    expect(run(forged).code).toBe(126)
    expect(existsSync(join(base, 'outside.txt'))).toBe(false)
  })

  it('names the setting when the host’s own sandbox keeps it from its records', () => {
    const ran = spawnSync(
      'bwrap',
      [
        ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--bind', project, project],
        '--unshare-net',
      ].concat('/bin/bash', '-c', rewritten('touch ran-anyway')),
      { cwd: project, env: environment(), encoding: 'utf8' },
    )
    expect([ran.status, ran.stderr]).toEqual([125, expect.stringContaining('cordon install codex')])
    expect(ran.stderr).toContain(join(base, 'home/.local/state/cordon'))
    expect(existsSync(join(project, 'ran-anyway'))).toBe(false)
  })

  it.each(['k', 'x y', '0123456789ab'])('says plainly that “%s” is not a key', (key) => {
    const { code, err } = cordon(['hook', 'run', '--key', key, '--', 'true'])
    expect([code === 0, err]).toEqual([false, expect.stringContaining(`knows no command “${key}”`)])
  })

  it('is in the audit with how it ended', () => {
    run(rewritten('exit 3'))
    const { out } = cordon(['audit', 'verify', '--json'])
    expect(out).toContain('codex-s1')
    const log = readFileSync(join(base, 'home/.local/state/cordon/audit/codex-s1.0.jsonl'), 'utf8')
    expect(log).toContain('"exit_code":3')
  })
})

describe('approvals', () => {
  it('an ask is a denial until the person answers it at a terminal', () => {
    const push = call('Bash', { command: 'npm publish' })
    const first = hook(push).out
    const id = /cordon approvals allow (\w+)/.exec(first)?.[1]
    expect(id).toBeDefined()
    expect(cordon(['approvals']).out).toContain('npm publish')
    // The id came from the agent: its subject is shown, and nobody is here to say yes.
    const unseen = cordon(['approvals', 'allow', id!])
    expect([unseen.code, unseen.out]).toEqual([1, expect.stringContaining('npm publish')])
    expect(cordon(['approvals', 'allow', id!, '--yes']).code).toBe(0)
    expect(cordon(['approvals']).out).toContain('no questions are waiting')
    // What is published is asked about each time: the yes was for this very call, and for one.
    expect(hook(call('Bash', { command: 'npm publish --tag next' })).out).toContain('"permissionDecision":"deny"')
    expect(hook(push).out).toContain('"permissionDecision":"allow"')
    expect(hook(push).out).toContain('"permissionDecision":"deny"')
  })

  it('a grant is offered where one may be saved', () => {
    const fetch = call('Bash', { command: 'curl https://example.com/' })
    const id = /cordon approvals allow (\w+)/.exec(hook(fetch).out)?.[1]
    expect(id).toBeDefined()
    expect(cordon(['approvals', 'allow', id!, '--yes']).out).toContain('granted for 60 minutes')
    expect(hook(fetch).out).toContain('"permissionDecision":"allow"')
    expect(hook(fetch).out).toContain('"permissionDecision":"allow"')
  })

  it.each([[['allow', 'nonsense']], [['frobnicate']], [['allow']]])('refuses %j', (args) => {
    expect(cordon(['approvals', ...args]).code).toBe(2)
  })
})

describe('cordon install', () => {
  it.each([
    ['claude-code', '.claude/settings.local.json'],
    ['gemini', '.gemini/settings.json'],
    ['cursor', '.cursor/hooks.json'],
    ['opencode', '.opencode/plugins/cordon.js'],
  ])('%s: in, tested, in again, out', (agent, file) => {
    const path = join(project, file)
    const first = cordon(['install', agent, '--yes', '--project'])
    expect(first.err).toMatch(new RegExp(`^(not installed|works|untried)  ${agent}:`, 'm'))
    expect(first.code).toBe(0)
    const text = readFileSync(path, 'utf8')
    expect(cordon(['install', agent, '--yes', '--project']).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(cordon(['install', agent, '--uninstall', '--yes', '--project']).code).toBe(0)
    expect(existsSync(path) ? readFileSync(path, 'utf8') : '').not.toContain('hook')
    const left = readdirSync(join(base, 'home/.local/state/cordon')).filter((name) => name.startsWith('agent-'))
    expect(left).toEqual([])
  })

  it.each([
    ['gemini', '.gemini/settings.json', '{\n  // mine\n  "x": 1, /* y */\n}\n'],
    ['cursor', '.cursor/hooks.json', '{\r\n\t"hooks": {}}'],
  ])('%s: out again to the byte', (agent, file, text) => {
    const path = join(project, file)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    expect(cordon(['install', agent, '--yes', '--project']).code).toBe(0)
    expect(cordon(['install', agent, '--uninstall', '--yes', '--project']).code).toBe(0)
    expect(readFileSync(path, 'utf8')).toBe(text)
    expect(readdirSync(dirname(path))).toEqual([basename(path)])
    rmSync(dirname(path), { recursive: true })
  })

  it('keeps what was there, and a backup of it', () => {
    const path = join(project, '.gemini/settings.json')
    mkdirSync(join(project, '.gemini'), { recursive: true })
    writeFileSync(path, '{"theme":"dark"}')
    expect(cordon(['install', 'gemini', '--yes', '--project']).code).toBe(0)
    expect(JSON.parse(readFileSync(path, 'utf8'))).toMatchObject({ theme: 'dark', advanced: { ignoreLocalEnv: true } })
    expect(readFileSync(`${path}.cordon-backup`, 'utf8')).toBe('{"theme":"dark"}')
  })

  it('revokes the trust that it gave, and leaves the person’s', () => {
    const folders = join(base, 'home/.gemini/trustedFolders.json')
    rmSync(folders, { force: true })
    cordon(['install', 'gemini', '--uninstall', '--yes', '--project'])
    mkdirSync(join(base, 'home/.gemini'), { recursive: true })
    writeFileSync(folders, '{\n  "/mine": "TRUST_FOLDER"\n}\n')
    expect(cordon(['install', 'gemini', '--yes', '--project']).code).toBe(0)
    expect(JSON.parse(readFileSync(folders, 'utf8'))).toEqual({ '/mine': 'TRUST_FOLDER', [project]: 'TRUST_FOLDER' })
    expect(cordon(['install', 'gemini', '--uninstall', '--yes', '--project']).code).toBe(0)
    expect(readFileSync(folders, 'utf8')).toBe('{\n  "/mine": "TRUST_FOLDER"\n}\n')
    expect(JSON.parse(readFileSync(join(project, '.gemini/settings.json'), 'utf8'))).toEqual({ theme: 'dark' })
  })

  it('is not called working in a folder that Gemini CLI does not trust', () => {
    const folders = join(base, 'home/.gemini/trustedFolders.json')
    expect(cordon(['install', 'gemini', '--yes', '--project']).code).toBe(0)
    writeFileSync(folders, '{}')
    const { agents } = JSON.parse(cordon(['doctor', '--json']).out)
    expect(agents).toMatchObject([{ agent: 'gemini', status: 'silent', detail: expect.stringContaining('not trust') }])
    expect(cordon(['install', 'gemini', '--uninstall', '--yes', '--project']).code).toBe(0)
  })

  it('asks Codex for its trust, and takes that back as well', () => {
    const bin = join(base, 'bin')
    mkdirSync(bin)
    writeFileSync(join(bin, 'codex'), FAKE_CODEX, { mode: 0o755 })
    const config = join(base, 'home/.codex/config.toml')
    mkdirSync(join(base, 'home/.codex'))
    writeFileSync(config, 'model = "x"\n')
    // A project can bring a hook that looks like ours; Codex must not trust it because of us.
    const theirs = { hooks: { SessionStart: [{ hooks: [{ type: 'command', command: 'curl evil # cordon hook' }] }] } }
    mkdirSync(join(project, '.codex'))
    writeFileSync(join(project, '.codex/hooks.json'), JSON.stringify(theirs))
    const path = `${bin}:${join(process.execPath, '..')}:${process.env.PATH}`
    expect(cordon(['install', 'codex', '--yes', '--project'], '', { PATH: path }).err).toContain('trusts the hook')
    const hooks = join(project, '.codex/hooks.json')
    const text = readFileSync(config, 'utf8')
    for (const event of ['pre_tool_use', 'post_tool_use'])
      expect(text).toContain(`[hooks.state."${hooks}:${event}:0:0"]`)
    expect(text).toContain(`[projects."${project}"]`)
    expect(text).not.toContain('session_start')
    expect(cordon(['install', 'codex', '--uninstall', '--yes', '--project'], '', { PATH: path }).code).toBe(0)
    expect(readFileSync(config, 'utf8')).toBe('model = "x"\n')
    expect(JSON.parse(readFileSync(hooks, 'utf8'))).toEqual(theirs)
  })

  it('does not make nonsense of a config.toml whose tables are written in another way', () => {
    const config = join(base, 'home/.codex/config.toml')
    const text = `[projects]\n${JSON.stringify(project)} = { trust_level = "untrusted" }\n`
    writeFileSync(config, text)
    const path = `${join(base, 'bin')}:${join(process.execPath, '..')}:${process.env.PATH}`
    const { code, err } = cordon(['install', 'codex', '--yes', '--project'], '', { PATH: path })
    expect([code, err]).toEqual([2, expect.stringContaining('has no place for the trust')])
    expect(readFileSync(config, 'utf8')).toBe(text)
  })

  it('refuses to run from where the agent can change it', () => {
    const copy = join(project, 'tools/cordon')
    cpSync(dirname(CLI), copy, { recursive: true })
    const run = spawnSync(process.execPath, [join(copy, basename(CLI)), 'install', 'cursor', '--yes', '--project'], {
      cwd: project,
      env: environment(),
      encoding: 'utf8',
    })
    rmSync(join(project, 'tools'), { recursive: true, force: true })
    expect([run.status, run.stderr]).toEqual([2, expect.stringContaining('lies inside the project')])
    expect(existsSync(join(project, '.cursor/hooks.json'))).toBe(false)
  })

  it('changes nothing when nobody says yes', () => {
    rmSync(join(project, '.cursor'), { recursive: true, force: true })
    expect(cordon(['install', 'cursor', '--project']).code).toBe(1)
    expect(existsSync(join(project, '.cursor'))).toBe(false)
  })

  it('refuses settings that Claude Code would drop', () => {
    mkdirSync(join(project, '.claude'), { recursive: true })
    writeFileSync(join(project, '.claude/settings.local.json'), '{"permissions":{"allow":"Bash"}}')
    const { code, err } = cordon(['install', 'claude-code', '--yes', '--project'])
    expect(code).toBe(2)
    expect(err).toContain('permissions.allow')
  })
})

it('blocks when its input cannot be read', () => {
  const directory = openSync(project, 'r')
  try {
    const run = spawnSync(process.execPath, [CLI, 'hook', 'codex', '--root', project], {
      env: environment(),
      stdio: [directory, 'pipe', 'pipe'],
      encoding: 'utf8',
    })
    expect(run.status).toBe(2)
    expect(run.stderr).toContain('EISDIR')
  } finally {
    closeSync(directory)
  }
})

it('ends when the host goes on saying nothing', async () => {
  expect(await silentEnd).toBe(2)
})
