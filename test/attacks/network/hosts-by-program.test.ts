/**
 * Hosts belong to the program that they were granted to (N9). One text runs git, which has the host, and code that no one read: each row is a
 * way for that code to reach the host. The same rows with the host granted to every program are their control.
 */

import { execFileSync, spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

const ASK = './caller plain PORT NAME'
const GIT = 'git ls-remote http://127.0.0.1:PORT/from-git'

/** Lines of a script; `NAME` belongs to the row. `closed`: the route does not exist inside, even with a grant. */
const ROWS: readonly { readonly name: string; readonly line: string; readonly closed?: true }[] = [
  { name: 'beside', line: ASK },
  { name: 'called-git', line: `exec -a git ${ASK}` },
  {
    name: 'path',
    line: `mkdir -p bin; printf '#!/bin/sh\\n${ASK}\\n' > bin/git; chmod +x bin/git; PATH=$PWD/bin:$PATH git x`,
  },
  { name: 'copy', line: 'cp $(command -v git) ./git; ./git ls-remote http://127.0.0.1:PORT/attack-NAME' },
  { name: 'alias', line: `git -c alias.x='!${ASK}' x` },
  { name: 'ext', line: `git -c protocol.ext.allow=always ls-remote 'ext::${ASK}'` },
  { name: 'pager', line: `export GIT_PAGER='${ASK}; cat'; script -qec 'git -p log -1' /dev/null` },
  { name: 'editor', line: `GIT_EDITOR='${ASK};:' git -c user.name=a -c user.email=a@b commit --allow-empty` },
  {
    name: 'hook',
    line: `mkdir -p hooks; printf '#!/bin/sh\\n${ASK}\\n' > hooks/post-checkout; chmod +x hooks/post-checkout; git -c core.hooksPath=$PWD/hooks checkout -q -B other`,
  },
  { name: 'fsmonitor', line: `printf '#!/bin/sh\\n${ASK}\\n' > fs; chmod +x fs; git -c core.fsmonitor=$PWD/fs status` },
  {
    name: 'textconv',
    line: `echo 'a diff=x' > attributes; printf b > a; git -c core.attributesFile=$PWD/attributes -c diff.x.textconv='${ASK};cat' diff a`,
  },
  { name: 'external-diff', line: `printf c > a; GIT_EXTERNAL_DIFF='${ASK};:' git diff a` },
  { name: 'ssh-command', line: `GIT_SSH_COMMAND='${ASK};:' git ls-remote ssh://git@127.0.0.1/a` },
  {
    name: 'remote-helper',
    line: `mkdir -p helpers; printf '#!/bin/sh\\n${ASK}\\n' > helpers/git-remote-http; chmod +x helpers/*; GIT_EXEC_PATH=$PWD/helpers ${GIT}`,
  },
  { name: 'credential-helper', line: `git -c credential.helper='!${ASK};:' ls-remote http://127.0.0.1:PORT/login` },
  {
    name: 'askpass',
    line: `printf '#!/bin/sh\\n${ASK}\\n' > ask; chmod +x ask; GIT_ASKPASS=$PWD/ask git ls-remote http://127.0.0.1:PORT/login`,
  },
  { name: 'upload-pack', line: `git ls-remote --upload-pack='${ASK};git-upload-pack' .` },
  { name: 'preload', line: `ASKED_AT=PORT ASKED_FOR=NAME LD_PRELOAD=$PWD/caller.so ${GIT}` },
  { name: 'audit', line: `ASKED_AT=PORT ASKED_FOR=NAME LD_AUDIT=$PWD/caller.so ${GIT}` },
  { name: 'without-randomization', line: `setarch -R ${GIT} & setarch -R ${ASK}; wait`, closed: true },
  { name: 'limit', line: './caller limit PORT NAME' },
  { name: 'source', line: `${GIT}; ./caller source PORT NAME`, closed: true },
  { name: 'no-port', line: './caller no-port PORT NAME' },
  { name: 'any', line: './caller any PORT NAME', closed: true },
  { name: 'mapped', line: './caller mapped PORT NAME', closed: true },
  { name: 'any-mapped', line: './caller any-mapped PORT NAME', closed: true },
  { name: 'fast-open', line: './caller fast-open PORT NAME', closed: true },
  { name: 'fast-open-later', line: './caller fast-open-later PORT NAME' },
  { name: 'bound-again', line: './caller bound-again PORT NAME' },
  { name: 'thread', line: `./caller thread PORT NAME ${GIT}` },
  { name: 'shared-memory', line: `./caller shared-memory PORT NAME ${GIT}` },
  { name: 'fork', line: './caller fork PORT NAME' },
  { name: 'fork-below', line: `git -c alias.x='!./caller fork PORT NAME' x` },
  { name: 'numbers', line: `./caller numbers PORT NAME ${GIT}` },
]

const worlds: SessionWorld[] = []
const arrived = new Set<string>()
let server: Server
let port = 0

beforeAll(async () => {
  server = createServer((request, response) => {
    arrived.add(request.url ?? '')
    response.statusCode = request.url?.startsWith('/login') ? 401 : 404
    if (response.statusCode === 401) response.setHeader('WWW-Authenticate', 'Basic realm="x"')
    response.end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  port = (server.address() as AddressInfo).port
})
afterAll(async () => {
  for (const world of worlds) await world.close()
  await new Promise((resolve) => server.close(resolve))
})

/** What arrives when a command and the script run as one text. */
async function run(
  domains: object,
  script: string,
  first = 'git ls-remote http://127.0.0.1:PORT/control',
): Promise<{ readonly seen: ReadonlySet<string>; readonly text: string; readonly end: object }> {
  const world = openSessionWorld()
  worlds.push(world)
  const source = join(import.meta.dirname, 'caller.c')
  execFileSync('cc', ['-O1', '-pthread', '-w', '-o', join(world.root, 'caller'), source])
  execFileSync('cc', ['-O1', '-pthread', '-w', '-shared', '-fPIC', '-o', join(world.root, 'caller.so'), source])
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: world.root })
  git('init', '-q')
  world.file('a', 'a')
  git('add', 'a')
  git('commit', '-qm', 'a')
  world.file('script.sh', script.replaceAll('PORT', String(port)))
  const object = {
    schema_version: 1,
    permission: { mode: 'contained' },
    http: { allow_private_hosts: true },
    ...domains,
  }
  arrived.clear()
  const session = (await world.open({ manifest: { object } })).openSession()
  const result = await session.call('bash', { command: `${first.replaceAll('PORT', String(port))}; bash script.sh` })
  return {
    seen: new Set(arrived),
    text: JSON.stringify(result),
    end: world.auditLines().find(({ type }) => type === 'end') ?? {},
  }
}

const SCRIPT = ROWS.map(({ name, line }) => `(${line.replaceAll('NAME', name)}) </dev/null >/dev/null 2>&1`).join('\n')
const hosts = () => [`127.0.0.1:${port}`]
const attacks = (seen: ReadonlySet<string>) =>
  [...seen].map((path) => path.split('/')[1]!).filter((name) => name.startsWith('attack-'))

/** Each tool, with its words and what it asks for. */
interface Tool {
  readonly tool: string
  readonly line: string
  readonly asks: RegExp
  /** Words with which a program ends well that is new enough. */
  readonly probe?: readonly string[]
}
const TOOLS: readonly Tool[] = [
  { tool: 'npm', line: 'npm view --fetch-retries=0 --registry=http://127.0.0.1:PORT/ tool', asks: /^\/tool/ },
  {
    tool: 'pip',
    line: 'pip download --retries 0 --index-url http://127.0.0.1:PORT/simple tool',
    asks: /^\/simple\/tool/,
  },
  {
    tool: 'cargo',
    line: 'cargo search --index sparse+http://127.0.0.1:PORT/ tool',
    asks: /^\/config\.json/,
    // Debian's of 2022 has no registries over HTTP; what has this command has them.
    probe: ['remove', '--help'],
  },
  { tool: 'go', line: 'go list -m http.test/tool@latest', asks: /http\.test\/tool/ },
  { tool: 'curl', line: 'curl -s http://127.0.0.1:PORT/tool', asks: /^\/tool/ },
  { tool: 'wget', line: 'wget -t1 -qO- http://127.0.0.1:PORT/tool', asks: /^\/tool/ },
]

describe('a tool', () => {
  // A session of a test has another home: what is installed in this one is not there.
  const isThere = ({ tool, probe }: Tool) => {
    const { stdout, status } = spawnSync('which', [tool], { encoding: 'utf8' })
    return status === 0 && !stdout.startsWith(homedir()) && (!probe || spawnSync(tool, probe).status === 0)
  }
  it.each(TOOLS.filter(isThere))(
    '$tool has its hosts, and a script that it is run by or runs beside has not',
    async ({ tool, line, asks }) => {
      const commands = { patterns: [{ command: `${tool}:*`, domains: hosts() }] }
      const env = tool === 'go' ? `GOFLAGS=-mod=mod GONOSUMDB=* GONOSUMCHECK=1 GOPROXY=http://127.0.0.1:${port} ` : ''
      const { seen, text } = await run(
        { capabilities: { allow: { commands } } },
        './caller plain PORT beside',
        env + line,
      )
      expect(
        [...seen].filter((path) => asks.test(path)),
        text,
      ).not.toEqual([])
      expect(attacks(seen)).toEqual([])
    },
    60_000,
  )
})

describe('a host of git', () => {
  it('is not there for what git starts, nor for what runs beside it', async () => {
    const { seen, text, end } = await run(
      { sandbox: { os: { command_tools: [{ tool: 'git', domains: hosts() }] } } },
      SCRIPT,
    )
    expect(attacks(seen)).toEqual([])
    expect([...seen].filter((path) => path.startsWith('/control'))).not.toEqual([])
    expect([...seen].filter((path) => path.startsWith('/from-git'))).not.toEqual([])
    expect(text).toMatch(/is not granted, and you did not allow it/)
    expect(end).toMatchObject({ host_programs: { '127.0.0.1': expect.arrayContaining(['git-remote-http', 'caller']) } })
  }, 180_000)

  it('is there for each of them where every program has it: the control', async () => {
    const { seen } = await run({ capabilities: { allow: { commands: { default_domains: hosts() } } } }, SCRIPT)
    const names = new Set(attacks(seen))
    expect(
      ROWS.filter(({ name, closed }) => names.has(`attack-${name}`) === (closed ?? false)).map(({ name }) => name),
    ).toEqual([])
  }, 180_000)
})
