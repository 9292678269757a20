/** Hostile programs in every way to run code, as root and as a user: each is stopped, with the limit's name, and leaves nothing. */

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { COMPILED } from '../../compiled.ts'
import { enginesHere } from '../../contract/code/engines-here.ts'
import { runAside } from '../../contract/code/run-aside.ts'
import { asUser, eachUser, type User } from '../../users.ts'
import { type Hostile, IN_CONTAINERS, IN_PYTHON, IN_SCRIPTS, type Target, type Way } from './hostile.ts'

interface Came {
  readonly way: string
  readonly engine: string
  readonly name: string
  readonly status: string
  readonly isError: boolean
  readonly text: string
  readonly limit: string | null
  readonly milliseconds: number
  readonly left: readonly string[]
  readonly stages?: readonly string[]
  readonly groups?: readonly string[]
}

let base: string
let server: Server
let target: Target

beforeAll(async () => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-hostile-')))
  chmodSync(base, 0o755)
  const canary = join(base, 'canary')
  writeFileSync(canary, 'tweet-4711\n', { mode: 0o644 })
  server = createServer((socket) => {
    socket.on('error', () => {}).write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n')
    // A client that never closes does not keep the server.
    socket.destroySoon()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  target = { canary, port, mark: `7${process.pid}.2`, span: 'long' }
})
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve))
  rmSync(base, { recursive: true, force: true })
})

async function attack(ways: readonly Way[], user: User): Promise<readonly Came[]> {
  const home = join(base, `home-${user.uid}`)
  const root = join(home, 'project')
  mkdirSync(root, { recursive: true })
  for (const path of [home, root]) chownSync(path, user.uid, user.gid)
  const worker = join(import.meta.dirname, 'hostile-worker.ts')
  const own = { ...target, mark: `${target.mark}${user.uid}` }
  const words = asUser(user, [process.execPath, worker, JSON.stringify(ways), root, JSON.stringify(own)])
  const { PATH = '', DOCKER_HOST } = process.env
  const env = { PATH, HOME: home, ...COMPILED, ...(DOCKER_HOST !== undefined && { DOCKER_HOST }) }
  const { stdout, stderr, status } = await runAside(words, env)
  expect(status, stderr).toBe(0)
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Came)
}

const WAYS: readonly (Way & { readonly table: readonly Hostile[] })[] = [
  ...enginesHere().map((engine) => ({ way: 'container' as const, engine, table: IN_CONTAINERS })),
  { way: 'python', engine: 'os', table: IN_PYTHON },
  { way: 'script', engine: 'os', table: IN_SCRIPTS },
]

/** What an engine says that it does not hold here: gVisor without control groups. */
const NOT_HELD = /\[the limit of (memory|processes) is not enforced/g

eachUser(describe)('as $name', (user) => {
  // The daemon is root's.
  const ways = WAYS.filter(({ engine }) => engine !== 'docker' || user.uid === 0)
  let all: readonly Came[]
  beforeAll(async () => {
    all = await attack(
      ways.map(({ way, engine }) => ({ way, engine })),
      user,
    )
  })

  describe.each(ways)('$way in $engine', ({ way, engine, table }) => {
    test.each(table)('$name ($note)', ({ name, works, limits }) => {
      const result = all.find((one) => one.way === way && one.engine === engine && one.name === name)!
      const reported = JSON.stringify(result)
      expect(result.status, reported).toBe('done')
      expect(result.left, reported).toEqual([])
      const notHeld = [...result.text.matchAll(NOT_HELD)].map(([, limit]) => limit)
      if (limits.some((limit) => notHeld.includes(limit))) {
        expect([engine, user.uid === 0], reported).toEqual(['runsc', false])
        return
      }
      if (name !== 'outlives its call') expect(result.text, reported).not.toMatch(works)
      if (limits.length > 0) expect(limits, reported).toContain(result.limit)
    })
  })

  test('nothing is left', () => {
    const ends = all.filter(({ name }) => name === 'end')
    expect(ends.map(({ left }) => left)).toEqual(ways.map(() => []))
    expect(all.at(-1)).toMatchObject({ name: 'end of all', stages: [], groups: [] })
  })
})

describe('without the wall', () => {
  const free = () => ({ ...target, span: 'short' as const })
  const inBash = IN_CONTAINERS.filter(({ name }) => name !== 'outlives its call')
  test.each(inBash)('$name ($note)', async ({ code, works }) => {
    const cwd = mkdtempSync(join(base, 'control-'))
    const { stdout, stderr } = await runAside(
      ['bash', '-c', code(free())],
      { PATH: process.env.PATH ?? '', HOME: base },
      cwd,
    )
    expect(`${stdout.slice(-400)}\n${stderr.slice(0, 400)}`).toMatch(works)
  })
  const inPython = IN_PYTHON.filter(({ name }) => name !== 'outlives its call')
  test.each(inPython)('python $name ($note)', async ({ code, works }) => {
    const { stdout } = await runAside(['/usr/bin/python3', '-c', code(free())], { PATH: process.env.PATH ?? '' })
    expect(stdout.slice(-400)).toMatch(works)
  })
  test.each(IN_SCRIPTS)('node $name ($note)', async ({ code, works }) => {
    const text = JSON.stringify(code(free()))
    const script = `const { runInThisContext } = require("node:vm"); require("node:repl"); (async () => { const s = ${text}; const at = s.lastIndexOf("; "); const body = s.slice(0, at + 1) + " return (" + s.slice(at + 1) + ")"; const AsyncFunction = (async () => {}).constructor; process.stdout.write("\\n" + String(await new AsyncFunction(body)()).slice(-400)) })()`
    const { stdout } = await runAside([process.execPath, '-e', script], { PATH: process.env.PATH ?? '' })
    expect(stdout.slice(-400)).toMatch(works)
  })
  test('what outlives its call is there', () => {
    const { pid } = spawnAside(target.mark)
    expect(processIsThere(pid)).toBe(true)
    process.kill(pid, 'SIGKILL')
  })
})

function spawnAside(mark: string): { readonly pid: number } {
  const { stdout } = spawnSync('bash', ['-c', `setsid sleep ${mark} >/dev/null 2>&1 </dev/null & echo $!`], {
    encoding: 'utf8',
  })
  return { pid: Number(stdout) }
}

function processIsThere(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
