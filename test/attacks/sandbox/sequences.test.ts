/** Attacks over several commands: none gets anything as root or as an ordinary user, and each works in a sandbox without the protection. */

import { execFile, execFileSync, spawn } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { type AddressInfo, connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { asUser, eachUser, NEEDS_ROOT, ROOT, type User } from '../../users.ts'
import { controlArguments } from './control.ts'
import { buildProber } from './fixture.ts'
import { SEQUENCES, type Sequence } from './sequences.ts'

const run = promisify(execFile)
const TIMEOUT = 240_000

beforeAll(() => {
  execFileSync(fileURLToPath(new URL('../../../native/build.sh', import.meta.url)))
})

interface World {
  readonly root: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
  remove(): void
}

function makeWorld(user: User, { home, manifest }: Pick<Sequence, 'home' | 'manifest'>): World {
  // Not in /tmp: the sandbox has its own.
  const root = realpathSync(mkdtempSync('/var/tmp/cordon-sequence-'))
  const project = join(root, 'project')
  for (const name of ['project', 'outside', 'home']) mkdirSync(join(root, name))
  if (manifest !== undefined) writeFileSync(join(root, 'manifest.toml'), manifest)
  // The person has confirmed that this home is a project.
  mkdirSync(join(root, 'home/state/cordon'), { recursive: true, mode: 0o700 })
  if (home) writeFileSync(join(root, 'home/state/cordon/confirmed-roots'), `${project}\0`, { mode: 0o600 })
  for (const name of ['', 'project', 'outside', 'home', 'home/state', 'home/state/cordon'])
    chownSync(join(root, name), user.uid, user.gid)
  if (home) chownSync(join(root, 'home/state/cordon/confirmed-roots'), user.uid, user.gid)
  return {
    root,
    project,
    env: {
      PATH: '/usr/bin:/bin',
      LC_ALL: 'C.UTF-8',
      HOME: home ? project : join(root, 'home'),
      XDG_STATE_HOME: join(root, 'home/state'),
      OUTSIDE: join(root, 'outside'),
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@example.com',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@example.com',
      GIT_EDITOR: 'true',
    },
    remove: () => {
      execFileSync('chmod', ['-R', 'u+rwx', root])
      execFileSync('rm', ['-rf', root])
    },
  }
}

/** Runs bash as a user on the host, in the project. What it says is the answer, whatever its code. */
async function onHost(
  user: User,
  { project, env }: World,
  script: string,
  words: readonly string[] = [],
): Promise<string> {
  const [program, ...args] = asUser(user, ['bash', '-c', script, 'bash', ...words])
  const options = { cwd: project, env, timeout: TIMEOUT, encoding: 'utf8' as const }
  return run(program!, args, options).then(
    ({ stdout, stderr }) => stdout + stderr,
    (error: { stdout: string; stderr: string }) => error.stdout + error.stderr,
  )
}

/** A command that never ran proves nothing. */
const RAN = '\n:; echo RAN; echo RAN >&2'

/** Plays a sequence through; `wrap` gives the words that run bash inside. Returns what shows that it came through. */
async function play(user: User, sequence: Sequence, wrap: (world: World) => readonly string[]): Promise<string[]> {
  const world = makeWorld(user, sequence)
  try {
    await onHost(user, world, sequence.before ?? '')
    const said: string[] = []
    for (const [at, command] of sequence.commands.entries()) {
      const streams = at === sequence.commands.length - 1 ? (sequence.streams ?? '') : ''
      if (command.startsWith('host:')) await onHost(user, world, command.slice(5))
      else {
        said.push(await onHost(user, world, `"$@" ${streams}`, [...wrap(world), 'bash', '-c', command + RAN]))
        expect(said.at(-1)).toMatch(sequence.refused ?? /^RAN$/m)
      }
    }
    said.push(await onHost(user, world, sequence.after ?? ''))
    return said.filter((text) => /^TOPSECRET$|ESCAPED/m.test(text))
  } finally {
    world.remove()
  }
}

eachUser(describe)('as $name', (user) => {
  const cordon = ({ root }: World, { manifest }: Sequence) => [
    ...[process.execPath, CLI, 'run'],
    ...(manifest === undefined ? [] : ['--manifest', join(root, 'manifest.toml')]),
    '--',
  ]

  test.concurrent.each(SEQUENCES)('stopped: $name', { timeout: TIMEOUT }, async (sequence) => {
    expect(await play(user, sequence, (world) => cordon(world, sequence))).toEqual([])
  })
})

/** To leave out the protection takes root. */
describe('controls', NEEDS_ROOT, () => {
  test.concurrent.each(SEQUENCES)('works without protection: $name', { timeout: TIMEOUT }, async (sequence) => {
    const plain = ({ root }: World) => ['bwrap', ...controlArguments('open', root), '--']
    expect(await play(ROOT, sequence, plain)).not.toEqual([])
  })
})

eachUser(describe)('an internet socket as input, as $name', (user) => {
  let world: World
  let prober: string
  const servers: Server[] = []
  const listen = async () => {
    const server = createServer((socket) => socket.on('error', () => {}))
    servers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()))
    return (server.address() as AddressInfo).port
  }

  beforeAll(() => {
    world = makeWorld(user, {})
    prober = buildProber(world.project)
  })
  afterAll(() => {
    for (const server of servers) server.close()
    world.remove()
  })

  /** What the prober says of connecting its input, a connection to one port, to another one. */
  async function reconnect(words: readonly string[]): Promise<string> {
    const [from, to] = [await listen(), await listen()]
    const socket = connect(from, '127.0.0.1')
    await new Promise((resolve) => socket.once('connect', resolve))
    const [program, ...args] = asUser(user, [...words, prober, 'reconnect', String(to)])
    const child = spawn(program!, args, { cwd: world.project, env: world.env, stdio: [socket, 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk) => (said += chunk))
    await new Promise((resolve) => child.once('close', resolve))
    socket.destroy()
    return said
  }

  test('stopped: it points to where it was connected, and nowhere else', async () => {
    expect(await reconnect([process.execPath, CLI, 'run', '--'])).toMatch(/^88$/m)
  })

  test('works without protection', async () => {
    expect(await reconnect(['bwrap', ...controlArguments('open', world.root), '--'])).toMatch(/^ok$/m)
  })
})
