/** Contained mode with the manifest's defaults: what reaches out or cannot be undone asks, what does not runs; and what never makes a verdict weaker. */

import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { listPrograms } from '../../src/shell/tables/programs/registry.ts'
import { machineFiles } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'

interface Row {
  readonly command: string
  /** `ask-or-undo`: a local loss, which asks unless undo covers it. */
  readonly want: 'ask' | 'ask-or-undo' | 'allow'
  readonly note: string
}

const rows: readonly Row[] = readFileSync(new URL('./contained-own.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))

const manifest = {
  schema_version: 1,
  permission: { mode: 'contained' },
  security: { redirects: 'all', command_substitution: true, outside_roots: 'ask' },
  capabilities: { allow: { read: { paths: ['**'] } } },
}
const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })

async function decide(command: string, undo = false, more: object = {}, root = '/project'): Promise<string> {
  const line = { id: 1, tool: 'bash', input: { command }, root, manifest: { ...manifest, ...more }, undo }
  const answer = await checker.answer(JSON.stringify(line))
  return String(answer.decision ?? answer.error)
}

describe('contained mode', () => {
  it.each(rows)('$command ($want: $note)', async ({ command, want }) => {
    const decision = await decide(command)
    if (want === 'allow') expect(decision).toBe('allow')
    else expect(['ask', 'deny']).toContain(decision)
  })

  it.each(rows.filter(({ want }) => want === 'ask'))('$command asks with undo as well', async ({ command }) => {
    expect(['ask', 'deny']).toContain(await decide(command, true))
  })

  it.each(['rm -rf lib', 'git reset --hard', 'git checkout -- lib', 'find . -delete', "sqlite3 a.db 'DROP TABLE t'"])(
    '%s does not ask where undo covers it',
    async (command) => {
      expect([await decide(command), await decide(command, true)]).toEqual(['ask', 'allow'])
    },
  )
})

describe('temporary files', () => {
  it.each([
    ['rm -rf src', 'ask', 'a project in /tmp is not scratch'],
    ['rm -rf /tmp/p/src', 'ask', 'by its whole path'],
    ['rm -rf /tmp/./p', 'ask', 'all of it'],
    ['rm -rf /tmp/other', 'allow', 'what lies beside it is private'],
    ['rm -rf "$TMPDIR/other"', 'allow', 'the sandbox sets it'],
  ])('%s: %s (%s)', async (command, want) => {
    expect(await decide(command, false, {}, '/tmp/p')).toBe(want)
  })

  it('a folder that a write grant shows is not scratch space either', async () => {
    const allow = { read: { paths: ['**', '/tmp/kept/**'] }, write: { paths: ['**', '/tmp/kept/**'] } }
    expect(await decide('rm -rf /tmp/kept/a', false, { capabilities: { allow } })).toBe('ask')
  })

  it('TMPDIR is not known where the manifest takes it away', async () => {
    const capabilities = { allow: { read: { paths: ['**'] } }, deny: { commands: { env_vars: ['TMP*'] } } }
    expect(await decide('rm -rf "$TMPDIR/project/src"', false, { capabilities })).toBe('ask')
  })
})

describe('looking around on another machine', () => {
  const commands = { patterns: ['ssh web reads:kind'], default_domains: ['web'] }
  const answered = { capabilities: { allow: { read: { paths: ['**'] }, commands } } }
  it.each([
    ["ssh web 'ls /srv; docker compose ps'", 'allow', 'what was answered'],
    ["ssh web 'docker compose down'", 'ask', 'a change there'],
    ["ssh other 'ls /srv'", 'ask', 'another machine'],
    ["ssh -p 2222 web 'ls'", 'ask', 'another port'],
    ["ssh -o ProxyCommand='rm x' web ls", 'ask', 'a program that runs here'],
    ['ssh web "ls $(cat ~/.ssh/id_rsa)"', 'ask', 'a substitution that runs here'],
    ["ssh web 'cat x' > ~/notes", 'ask', 'a file here'],
    ['ssh web', 'ask', 'a session'],
  ])('%s: %s (%s)', async (command, want) => {
    expect(await decide(command, false, answered)).toBe(want)
  })
})

describe('looking around on another machine with a key', () => {
  const key = '/home/dev/.ssh/ci'
  const commands = { patterns: [`ssh -i ${key} web reads:kind`], default_domains: ['web'] }
  const answered = { capabilities: { allow: { read: { paths: ['**'] }, commands } } }
  it.each([
    ["ssh -i ~/.ssh/ci web 'cd /srv && docker compose ps'", 'allow', 'what was answered'],
    ['ssh -i ~/.ssh/ci -o ConnectTimeout=3 -o StrictHostKeyChecking=accept-new web ls', 'allow', 'harmless settings'],
    ["sleep 5 && ssh -i ~/.ssh/ci web 'ls' | grep x", 'allow', 'with programs that run no code of others'],
    [`ssh -i ${key} web ls; cat ${key}`, 'ask', 'the key, read by another command'],
    [`cat ${key}`, 'ask', 'the key alone'],
    ['ssh -i ~/.ssh/ci web ls; ./x.sh', 'ask', 'a script that could read the key'],
    ['ssh -i ~/.ssh/ci web ls | python3 x.py', 'ask', 'another one'],
    ['ssh -i ~/.ssh/ci web ls; bash -c "cat ~/.ssh/ci"', 'ask', 'a shell'],
    ["ssh -i ~/.ssh/ci web 'rm x'", 'ask', 'a change there'],
    ['ssh -i ~/.ssh/other web ls', 'ask', 'another key'],
    ['ssh -i ~/.ssh/ci -i ~/.ssh/other web ls', 'ask', 'a second key'],
    ['ssh -i ~/.ssh/ci other ls', 'ask', 'another machine'],
    ['ssh -i ~/.ssh/ci -F ~/.ssh/ci web ls', 'ask', 'the key as a configuration, which prints it'],
    ['ssh -i ~/.ssh/ci -o IdentityAgent=x web ls', 'ask', 'a setting that is not harmless'],
    ['ssh -i ~/.ssh/ci -o StrictHostKeyChecking=no web ls', 'ask', 'any machine that says it is this one'],
    ['ssh -i ~/.ssh/ci web ls < ~/.ssh/ci', 'ask', 'the key as input'],
    ['scp -i ~/.ssh/ci x web:', 'ask', 'another program'],
  ])('%s: %s (%s)', async (command, want) => {
    expect(await decide(command, false, answered)).toBe(want)
  })
})

describe('what never makes a verdict weaker', () => {
  const dangerous = ['git reset --hard', 'git clean --force', 'git branch --delete --force x', 'git push --force']
  const shortened = dangerous.flatMap((command) => {
    const at = command.indexOf('--')
    const word = command.slice(at).split(' ')[0] ?? ''
    const lengths = Array.from({ length: word.length - 3 }, (_, index) => index + 3)
    return lengths.map((length) => command.slice(0, at) + word.slice(0, length) + command.slice(at + word.length))
  })
  it.each(shortened)('an abbreviation: %s', async (command) => {
    expect(await decide(command)).toBe('ask')
  })

  const wrappers = [
    'env',
    'nice -n 1',
    'timeout 5',
    'command',
    'nohup',
    'stdbuf -o0',
    'setsid',
    'time',
    "bash -c '",
    'xargs',
  ]
  it.each(wrappers.flatMap((wrapper) => dangerous.map((command) => ({ wrapper, command }))))(
    'another wrapper: $wrapper $command',
    async ({ wrapper, command }) => {
      expect(
        await decide(`${wrapper}${wrapper.endsWith("'") ? '' : ' '}${command}${wrapper.endsWith("'") ? "'" : ''}`),
      ).toBe('ask')
    },
  )

  it.each([
    "git -c alias.x='reset --hard' x",
    "git config alias.x 'reset --hard' && git x",
    "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.x GIT_CONFIG_VALUE_0='reset --hard' git x",
    `GIT_CONFIG_PARAMETERS="'alias.x'='reset --hard'" git x`,
  ])('an equal setting: %s', async (command) => {
    expect(['ask', 'deny']).toContain(await decide(command))
  })
})

describe('--help', () => {
  const names = listPrograms()
    .filter(([name, row]) => /^[a-z][\w.-]*$/.test(name) && row.wraps === undefined)
    .flatMap(([name, row]) => [name, ...Object.keys(row.subcommands ?? {}).map((sub) => `${name} ${sub}`)])
  it(`never asks (${names.length} programs and subcommands)`, async () => {
    const asked: string[] = []
    for (const name of names) if ((await decide(`${name} --help`)) !== 'allow') asked.push(name)
    expect(asked).toEqual([])
  })

  it.each(['gh pr create --title --help --body x', 'cargo yank --version 1 x', 'ssh h rm -rf x --help'])(
    'does not help as a value or behind another command: %s',
    async (command) => expect(await decide(command)).toBe('ask'),
  )
})

describe('a kind of change that was granted', () => {
  const capabilities = {
    allow: {
      read: { paths: ['**'] },
      commands: { patterns: ['git push origin:kind', 'gh pr comment:kind'] },
    },
  }
  it.each([
    ['allow', 'git push -u origin feat/x', 'another branch'],
    ['allow', 'git push', 'origin without its name'],
    ['ask', 'git push --force origin feat/x', 'forced'],
    ['ask', 'git push --forc origin feat/x', 'forced, shortened'],
    ['ask', 'git push origin +feat/x', 'forced by a plus'],
    ['ask', 'git push origin :feat/x', 'deletes'],
    ['ask', 'git push other feat/x', 'another remote'],
    ['ask', 'git push https://github.com/x/y feat', 'an address'],
    ['ask', 'git -c remote.origin.push=+a:b push', 'a setting that forces'],
    ['ask', "git -c core.sshCommand='git push --force' push", 'a setting that runs something'],
    ['ask', 'git push origin "$x"', 'nobody knows what'],
    ['allow', 'gh pr comment 5 --body hello', 'another comment'],
    ['ask', 'gh pr comment 5 -R other/repo --body hello', 'another repository'],
    ['ask', 'gh pr merge 5', 'another verb'],
  ])('%s: %s (%s)', async (expected, command) => {
    expect(await decide(command, false, { capabilities })).toBe(expected)
  })
})
