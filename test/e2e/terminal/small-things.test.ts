/** Small things of every day at a real terminal: what a shell says, what is checked before it is typed, servers, signed commits. */

import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Project } from '../cordon.ts'
import { CTRL_C, CTRL_D, Person } from './person.ts'

let project: Project
let person: Person
beforeAll(async () => {
  project = new Project({
    'cordon.toml': 'schema_version = 1\n[sandbox.os]\ncommand_tools = ["git"]\n',
    'server.mjs':
      "import { createServer } from 'node:http'\ncreateServer((_, response) => response.end('from inside')).listen(Number(process.argv[2]))\n",
    'page.txt': 'from inside',
  })
  project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
  person = new Person(project)
  await person.atPrompt()
})
afterAll(async () => {
  await person.leaves()
  project.remove()
})

describe('a yes to a port carries bytes', () => {
  it.each([
    ['python on every address', (port: number) => `cordon run -- python3 -m http.server ${port}`, '/page.txt'],
    [
      'node on every address',
      (port: number) => `cordon run --read "$(dirname "$NODE")" -- "$NODE" server.mjs ${port}`,
      '/',
    ],
  ])('%s', async (_, command, path) => {
    const port = await freePort()
    person.line(command(port))
    await person.sees(`listens on port ${port}`)
    await person.answersWith('allow')
    await person.sees('serving:')
    expect(await (await fetch(`http://127.0.0.1:${port}${path}`)).text()).toBe('from inside')
    person.keys(CTRL_C)
    await person.atPrompt()
  })

  it('and so in a shell, which says that it is one', async () => {
    const port = await freePort()
    person.line('cordon shell')
    await person.sees('this shell is inside the sandbox; exit leaves it')
    await person.sees(/\n[^\n]*[$#] $/)
    person.line(`python3 -m http.server ${port} &`)
    await person.sees(`listens on port ${port}`)
    await person.answersWith('allow')
    await person.sees('serving:')
    expect(await (await fetch(`http://127.0.0.1:${port}/page.txt`)).text()).toBe('from inside')
    person.line('kill %1; exit')
    await person.atPrompt()
  })
})

describe('at a terminal,', () => {
  const manager = 'import multiprocessing as m; print(m.get_context("fork").Manager().list([4, 2]))'
  it.each([
    ['processes of one command talk by unix sockets', `cordon run -- python3 -c '${manager}'`, '\n[4, 2]'],
    [
      'a program that nvm installed is found',
      `mkdir -p ~/.nvm/versions/node/v1/bin; cd ~/.nvm/versions/node/v1/bin; printf '#!/bin/sh\necho from "$0"' > served; chmod +x served; cd - > /dev/null; PATH=~/.nvm/versions/node/v1/bin:$PATH cordon run -- served`,
      '\nfrom ',
    ],
    ['husky’s setting is refused', 'git init -q; cordon run -- git config core.hooksPath .husky/_', 'npx husky'],
    ['a place that does not exist is refused', 'cordon run --read /nonexistent-x -- true', 'does not exist'],
    ['a variable that is not set is refused', 'cordon run --env NOSUCH -- true', 'there is no such variable'],
  ])('%s', async (_, command, says) => {
    person.line(command)
    await person.sees(says)
    await person.atPrompt()
  })

  it('install shows what changes before it changes it', async () => {
    person.line('cordon install claude-code')
    await person.sees('[y/N')
    person.keys(CTRL_C)
    await person.atPrompt()
    expect(existsSync(join(project.home, '.claude/settings.json'))).toBe(false)
  })
})

it('import writes a manifest, says what is next, and what it took over applies once it is signed', async () => {
  const own = new Project({
    '.claude/settings.json':
      '{"permissions":{"allow":["Bash(npm test:*)"],"deny":["Bash(git push:*)","Read(./notes/**)"]}}',
    'notes/today.txt': 'private\n',
  })
  const newcomer = new Person(own)
  try {
    await newcomer.atPrompt()
    newcomer.line('cordon import claude-code --out cordon.toml')
    await newcomer.sees('wrote cordon.toml; read it, then put it in force: cordon sign')
    await newcomer.atPrompt()
    newcomer.line('cordon sign')
    await newcomer.sees('[y/N] ')
    newcomer.keys('y\r')
    await newcomer.sees(/signed \S+cordon\.toml/)
    await newcomer.atPrompt()
    newcomer.line('cordon run -- cat notes/today.txt; cordon run -- git push; echo "co""de $?"')
    const seen = await newcomer.sees(/code \d+/)
    expect(seen).not.toContain('private')
    expect(seen).toContain('git push:*')
    expect(seen).toContain('code 126')
  } finally {
    await newcomer.leaves()
    own.remove()
  }
})

it('a name that no secret can have is refused before its value is typed', async () => {
  person.line("cordon secrets set 'bad name'")
  const said = await person.atPrompt()
  expect(said).toContain('cannot name a secret')
  expect(said).not.toContain('The value of')
  person.line('cordon secrets set good')
  await person.sees('The value of good')
  person.keys(CTRL_D)
  expect(await person.atPrompt()).toContain('nothing was typed')
})

it('bundles are text for a terminal', () => {
  const { out } = project.cordon(['bundles', 'git'])
  expect(out).toMatch(/^git: Version control/)
  expect(out).toMatch(/\nHosts +github\.com/)
  expect(out).not.toMatch(/[|`]|##/)
})

describe('what a hook manager sets up is refused with its name and the remedy', () => {
  it.each([
    ['husky', 'mkdir -p .husky/_', '.husky'],
    ['husky, by its setting', 'git config core.hooksPath .husky/_', 'core.hooksPath in .git/config'],
    ['lefthook and pre-commit', 'echo x > .git/hooks/pre-commit', '.git/hooks'],
  ])('%s', (_, command, setting) => {
    execFileSync('git', ['init', '-q'], { cwd: project.directory })
    const { err } = project.cordon(['run', '--', 'sh', '-c', command], { env: { CORDON_KEYCHAIN: 'off' } })
    expect(err).toContain(
      `(${setting}). If this was husky, lefthook or pre-commit, set it up yourself, outside: npx husky`,
    )
  })

  it('not a refused remote', () => {
    const command = ['git', 'config', 'core.pager', 'evil']
    expect(project.cordon(['run', '--', ...command], { env: { CORDON_KEYCHAIN: 'off' } }).err).not.toContain('husky')
  })
})

describe('a signed commit', () => {
  const git = (...words: readonly string[]) =>
    spawnSync('git', words, {
      cwd: project.directory,
      env: { PATH: process.env.PATH, HOME: project.home },
      encoding: 'utf8',
    })
  const commits = (env: Record<string, string>) =>
    project.cordon(['run', '--', 'git', 'commit', '--allow-empty', '-m', 'x'], {
      env: { CORDON_KEYCHAIN: 'off', ...env },
    })
  const grants = (read: string, domain: string): void => {
    project.write(
      'cordon.toml',
      `schema_version = 1
[capabilities.allow.read]
paths = ["**", ${read}]
[sandbox.os]
command_tools = ["git"]
[capabilities.allow.commands]
patterns = [{ command = "git commit:*", domains = [${domain}] }]
`,
    )
    expect(project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off', SSH_AUTH_SOCK: SOCKET() } }).code).toBe(0)
  }
  const SOCKET = (): string => join(project.home, 'agent.sock')

  beforeAll(() => {
    mkdirSync(join(project.home, '.ssh'), { mode: 0o700 })
    mkdirSync(join(project.home, '.gnupg'), { mode: 0o700 })
    writeFileSync(
      join(project.home, '.gitconfig'),
      '[user]\nname = A\nemail = a@example.org\n[commit]\ngpgsign = true\n',
    )
    git('init', '-q')
  })

  it('by ssh: the remedy that is printed works, and the private key stays outside', () => {
    const key = join(project.home, '.ssh/signs')
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', key])
    git('config', '--global', 'gpg.format', 'ssh')
    git('config', '--global', 'user.signingkey', `${key}.pub`)
    const env = { SSH_AUTH_SOCK: SOCKET() }
    const agent = /SSH_AGENT_PID=(\d+)/.exec(
      execFileSync('ssh-agent', ['-s', '-a', SOCKET()], { encoding: 'utf8' }),
    )![1]
    try {
      execFileSync('ssh-add', ['-q', key], { env: { ...process.env, ...env } })
      const { err } = commits(env)
      expect(err).toContain('"~/.ssh/signs.pub"')
      const domain = /domains = \[(\{.*?\})\]/.exec(err)![1]!
      expect(domain).toMatch(/host = "unix:\$\{SSH_AUTH_SOCK\}", signs = "SHA256:/)
      grants('"~/.ssh/signs.pub"', domain)
      expect(commits(env).code).toBe(0)
      expect(git('cat-file', 'commit', 'HEAD').stdout).toContain('BEGIN SSH SIGNATURE')
      const look = project.cordon(['run', '--', 'ls', join(project.home, '.ssh')], { env: { CORDON_KEYCHAIN: 'off' } })
      expect(look.out).toBe('signs.pub\n')
    } finally {
      process.kill(Number(agent))
    }
  })

  it('by gpg, as well', () => {
    git('config', '--global', '--unset', 'gpg.format')
    git('config', '--global', '--unset', 'user.signingkey')
    const env = { ...process.env, HOME: project.home }
    const words = ['--batch', '--quiet', '--passphrase', '', '--quick-gen-key', 'A <a@example.org>', 'ed25519', 'sign']
    try {
      execFileSync('gpg', words, { env, stdio: 'pipe' })
      project.write('cordon.toml', 'schema_version = 1\n[sandbox.os]\ncommand_tools = ["git"]\n')
      project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
      const domain = /domains = \[(\{.*?\})\]/.exec(commits({}).err)![1]!
      const keys = execFileSync('gpg', ['-K', '--with-keygrip'], { env, encoding: 'utf8' })
      const grip = /Keygrip = (\w+)/.exec(keys)![1]!
      grants('"~/.gnupg/pubring.kbx", "~/.gnupg/trustdb.gpg"', domain.replace('KEYGRIP', grip))
      expect(commits({}).code).toBe(0)
      expect(git('verify-commit', 'HEAD').status).toBe(0)
    } finally {
      spawnSync('gpgconf', ['--kill', 'gpg-agent'], { env })
    }
  })
})

/** A port below those that the kernel hands out by itself. */
async function freePort(): Promise<number> {
  for (let port = 23_000 + (process.pid % 4000); ; port++) {
    const probe = createServer()
    const isFree = await new Promise<boolean>((resolve) => {
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (isFree) return port
  }
}
