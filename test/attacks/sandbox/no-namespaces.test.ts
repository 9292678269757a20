/** `cordon run` where a container's default settings refuse namespaces (O9): what works there, and what stays out of reach. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { asUser, eachUser, giveTo, removeTree } from '../../users.ts'

const HERE = import.meta.dirname
const PYTHON = '/usr/bin/python3'

/** Plays the rest of the machine: a server, and a socket in the project. */
const OUTSIDE = `
import json, os, socket, sys, threading
base = sys.argv[1]
tcp = socket.create_server(('127.0.0.1', 0))
unix = socket.socket(socket.AF_UNIX)
unix.bind(base + '/project/host.sock')
unix.listen()
names = {'secret': 'outside/secret', 'target': 'outside/target', 'shown': 'shown/file'}
far = {name: os.path.join(base, path) for name, path in names.items()}
with open(base + '/project/far.json', 'w') as file:
    json.dump({**far, 'pid': os.getpid(), 'port': tcp.getsockname()[1]}, file)
print('ready', flush=True)
def serve(server):
    while True:
        server.accept()[0].close()
for server in (tcp, unix):
    threading.Thread(target=serve, args=(server,), daemon=True).start()
threading.Event().wait()
`

/** What these answer; every other one ends in an error. */
const ANSWERS: Readonly<Record<string, string>> = {
  'every address': '127.0.0.1',
  'every address, unbound': '127.0.0.1',
  'shared memory': 'refused',
  'its own server': 'own',
  'its own socket': 'own',
  'a path that changes while it is opened': 'never',
  'a path that changes while its mode is set': 'never',
  'an address that changes while it is connected to': 'never',
}

eachUser(describe)('as $name', (user) => {
  let base: string
  let server: ChildProcess
  beforeAll(async () => {
    base = mkdtempSync('/var/tmp/cordon-bare-')
    for (const name of ['project', 'home', 'tmp', 'outside', 'shown']) mkdirSync(join(base, name))
    const write = (path: string, text: string) => writeFileSync(join(base, path), text)
    write('outside/secret', 'TOPSECRET\n')
    write('outside/target', 'untouched\n')
    write('shown/file', 'untouched\n')
    write('project/.env', 'TOPSECRET\n')
    write('project/plain', 'plain\n')
    write(
      'project/package.json',
      '{"scripts":{"test":"node -e \\"require(\'fs\').writeFileSync(\'tested\',\'yes\')\\""}}',
    )
    copyFileSync(join(HERE, 'no-namespaces-inside.py'), join(base, 'project/inside.py'))
    execFileSync('git', ['init', '-q', join(base, 'project')])
    const source = join(HERE, '../../places/like-docker.c')
    execFileSync('cc', [
      '-std=gnu11',
      '-O1',
      '-Wall',
      '-Wextra',
      '-Werror',
      '-static',
      '-o',
      join(base, 'like-docker'),
      source,
    ])
    chmodSync(base, 0o755)
    giveTo(user.uid, base)
    const [program, ...words] = asUser(user, [PYTHON, '-', base])
    server = spawn(program!, words, { stdio: ['pipe', 'pipe', 'inherit'] })
    server.stdin!.end(OUTSIDE)
    await new Promise((resolve) => server.stdout!.once('data', resolve))
  })
  afterAll(async () => {
    const ended = new Promise((resolve) => server.once('close', resolve))
    server.kill('SIGKILL')
    await ended
    removeTree(base)
  })

  function run(argv: readonly string[]) {
    const [program, ...words] = asUser(user, argv)
    return spawnSync(program!, words, {
      cwd: join(base, 'project'),
      env: { PATH: process.env.PATH, HOME: join(base, 'home'), CORDON_RESIDENT: 'off', TMPDIR: join(base, 'tmp') },
      encoding: 'utf8',
      timeout: 60_000,
    })
  }
  const cordon = (...words: string[]) => run([join(base, 'like-docker'), process.execPath, CLI, ...words])
  const inProject = (name: string) => join(base, 'project', name)

  it('npm test runs, the reason is given once, and temporary files are its own', () => {
    const ran = cordon('run', '--', 'npm', 'test')
    expect([ran.status, ran.signal]).toEqual([0, null])
    expect(ran.stderr.match(/this machine refuses namespaces/g)).toHaveLength(1)
    expect(readFileSync(inProject('tested'), 'utf8')).toBe('yes')
    const home = cordon(
      'run',
      '--quiet',
      '--',
      'sh',
      '-c',
      'echo x > ~/new; echo x > "$TMPDIR/new"; cat ~/new "$TMPDIR/new"',
    )
    expect([home.stdout, existsSync(join(base, 'home/new'))]).toEqual(['x\nx\n', false])
  })

  it('names a refused host where no host is granted', () => {
    const ran = cordon('run', '--', 'curl', '-sS', 'https://evil.example')
    expect(ran.status).toBe(56)
    expect(ran.stderr).toContain('evil.example')
  })

  it('what is lost comes back, and what is protected stays', () => {
    expect(cordon('run', '--quiet', '--', 'sh', '-c', 'rm plain; echo x > .git/hooks/pre-commit').stderr).toMatch(
      /Read-only/,
    )
    expect([existsSync(inProject('plain')), existsSync(inProject('.git/hooks/pre-commit'))]).toEqual([false, false])
    expect(cordon('undo', '--last').status).toBe(0)
    expect(readFileSync(inProject('plain'), 'utf8')).toBe('plain\n')
  })

  it('namespaces can be required', () => {
    mkdirSync(join(base, 'home/.config/cordon'), { recursive: true })
    writeFileSync(
      join(base, 'home/.config/cordon/cordon.toml'),
      'schema_version = 1\n[sandbox.os]\nrequire = "namespaces"\n',
    )
    giveTo(user.uid, join(base, 'home/.config'))
    const ran = cordon('run', '--', 'touch', 'ran')
    removeTree(join(base, 'home/.config/cordon'))
    expect([ran.status, existsSync(inProject('ran'))]).toEqual([125, false])
  })

  it('doctor counts what is open, and says what would help', () => {
    const { assurances, backend, usable } = JSON.parse(cordon('doctor', '--json').stdout)
    expect([backend, usable]).toEqual(['landlock', true])
    const open = assurances.filter(({ status }: { status: string }) => status !== 'enforced')
    expect(open.map(({ name }: { name: string }) => name)).toContain('namespaces')
  })

  it('no route goes out, whatever is swapped meanwhile, and nothing goes on', async () => {
    const ran = cordon('run', '--quiet', '--read', join(base, 'shown'), '--', PYTHON, 'inside.py')
    const seen = JSON.parse(ran.stdout || `{"no result": ${JSON.stringify(ran.stderr)}}`) as Record<string, string>
    for (const [name, answer] of Object.entries(ANSWERS)) expect([name, seen[name]]).toEqual([name, answer])
    const others = Object.entries(seen).filter(([name]) => !(name in ANSWERS))
    expect(others.length).toBeGreaterThan(15)
    for (const other of others) expect(other).toEqual([other[0], expect.stringMatching(/Error$/)])
    const size = statSync(inProject('alive'), { throwIfNoEntry: false })?.size ?? 0
    await new Promise((resolve) => setTimeout(resolve, 100))
    expect(statSync(inProject('alive'), { throwIfNoEntry: false })?.size ?? 0).toBe(size)
    expect(readFileSync(join(base, 'outside/target'), 'utf8')).toBe('untouched\n')
    expect(statSync(join(base, 'outside/target')).mode & 0o777).toBe(0o644)
  })

  it('control: without a sandbox the ways are open', () => {
    const ran = run([PYTHON, 'inside.py', 'free'])
    const seen = JSON.parse(ran.stdout) as Record<string, string>
    const closed = Object.entries(seen).filter(([, answer]) => !/^(?:reached|own|0\.0\.0\.0)$/.test(answer))
    // The parent is then a program of the process that runs the tests.
    expect(closed.map(([name]) => name).filter((name) => !name.endsWith('of the parent'))).toEqual([])
  })
})
