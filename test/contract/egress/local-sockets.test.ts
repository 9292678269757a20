/** Unix sockets of the machine that a manifest names: connected by Cordon at the same path, and no other socket with them. */

import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import { COMPILED } from '../../compiled.ts'
import { asUser, ORDINARY } from '../../users.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

let session: SessionWorld
let folder: string
let servers: Server[]

/** Answers with its name what it got, once the client has said all. */
async function serve(name: string, path = join(folder, name)): Promise<string> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    let got = 0
    socket.on('error', () => {})
    socket.on('data', (chunk: Buffer) => (got += chunk.length))
    socket.on('end', () => socket.end(`${name} got ${got}`))
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(path, resolve))
  return path
}

beforeEach(() => {
  session = openSessionWorld()
  folder = mkdtempSync(join(tmpdir(), 'cordon-sockets-'))
  servers = []
})
afterEach(async () => {
  await session.close()
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
  rmSync(folder, { recursive: true, force: true })
})

async function inside(
  command: string,
  domains: readonly (string | { readonly host: string; readonly signs: string })[],
  denied: readonly string[] = [],
  machine = session.machine,
): Promise<string> {
  const object = {
    schema_version: 1,
    permission: { mode: 'auto' },
    security: { command_substitution: true, redirects: 'all', deny_domains: [...denied] },
    capabilities: { allow: { commands: { default_domains: [...domains] } } },
  }
  const cordon = await session.open({ manifest: { object }, machine })
  return resultText(await cordon.openSession().call('bash', { command }))
}

const say = (path: string, bytes = 5) => `python3 - <<'E'
import socket
s = socket.socket(socket.AF_UNIX)
try:
  s.connect(${JSON.stringify(path)})
  s.sendall(b'x' * ${bytes}); s.shutdown(socket.SHUT_WR)
  print(b''.join(iter(lambda: s.recv(65536), b'')).decode() or 'closed')
except OSError as error: print('refused', error.errno)
E`

describe('a unix socket that is granted', () => {
  it('is there at its path, both ways, large and many times', async () => {
    const path = await serve('docker.sock')
    const text = await inside(`${say(path)}\n${say(path, 3_000_000)}\n${say(path)}`, [`unix:${path}`])
    expect(text).toContain('docker.sock got 5')
    expect(text).toContain('docker.sock got 3000000')
  })

  it('is reached by its real path and by a link to it, and said in the variable that names it', async () => {
    const path = await serve('agent.sock')
    const link = join(folder, 'link.sock')
    symlinkSync(path, link)
    const text = await inside(`${say(path)}\n${say(link)}`, [`unix:${link}`])
    expect(text.match(/agent\.sock got 5/g)).toHaveLength(2)
  })
})

describe('variables that lead to a granted socket', () => {
  it.each([
    ['SSH_AUTH_SOCK', (path: string) => path],
    ['DOCKER_HOST', (path: string) => `unix://${path}`],
    ['CONTAINER_HOST', (path: string) => `unix://${path}`],
    ['PGHOST', (path: string) => path.replace(/\/[^/]+$/, '')],
  ])('%s is there, and one that points elsewhere is not', async (name, value) => {
    const [path, other] = [await serve('named.sock'), join(folder, 'else', 'other.sock')]
    const look = async (at: string) => {
      const machine = { ...session.machine, env: { ...session.machine.env, [name]: value(at) } }
      return inside(`echo "[$${name}]"`, [`unix:${path}`], [], machine)
    }
    expect(await look(path)).toContain(`[${value(path)}]`)
    expect(await look(other)).toContain('[]')
  })
})

describe('attacks', () => {
  it('no other socket of the machine is in reach beside one that is', async () => {
    const path = await serve('granted.sock')
    const other = await serve('other.sock')
    const shown = await serve('shown.sock', join(session.root, 'shown.sock'))
    const text = await inside(`${say(path)}\n${say(other)}\n${say(shown)}`, [`unix:${path}`])
    expect(text).toContain('granted.sock got 5')
    expect(text).not.toMatch(/(?:other|shown)\.sock got/)
    expect(text.match(/refused/g)).toHaveLength(2)
  })

  it('a socket in a place that commands see is not connected: a link there would lead Cordon elsewhere', async () => {
    const secret = await serve('secret.sock')
    mkdirSync(join(session.root, 'run'))
    const path = join(session.root, 'run', 'link.sock')
    symlinkSync(secret, path)
    expect(await inside(`${say(path)}\n${say(secret)}`, [`unix:${path}`])).not.toContain('got')
  })

  it('nor is one behind a link there, in the middle of the way', async () => {
    const secret = await serve('secret.sock')
    symlinkSync(folder, join(session.root, 'run'))
    const path = join(folder, 'way.sock')
    symlinkSync(join(session.root, 'run', 'secret.sock'), path)
    expect(await inside(`${say(path)}\n${say(secret)}`, [`unix:${path}`])).not.toContain('got')
  })

  it('is closed by a denial of the user, and not granted and denied in one file', async () => {
    const path = await serve('denied.sock')
    const own = join(session.machine.configDir, 'cordon.toml')
    mkdirSync(session.machine.configDir, { recursive: true })
    writeFileSync(own, 'schema_version = 1\n[security]\ndeny_domains = ["*"]\n')
    await session.sign(
      `schema_version = 1\n[permission]\nmode = "auto"\n[capabilities.allow.commands]\ndefault_domains = ["unix:${path}"]\n`,
    )
    const talk = async (): Promise<string> => {
      const cordon = await session.open({})
      return resultText(await cordon.openSession().call('bash', { command: say(path) }))
    }
    expect(await talk()).not.toContain('got')
    rmSync(own)
    expect(await talk()).toContain('got')
    await expect(inside(say(path), [`unix:${path}`], ['*'])).rejects.toThrow('a deny covers all of it')
    await expect(inside(say(path), [`unix:${path}`], [`unix:${path}`])).rejects.toThrow('both allowed and denied')
  })

  it('descriptors that are sent along go nowhere, and abstract sockets of the machine are not there', async () => {
    const path = await serve('granted.sock')
    const name = `cordon-test-${process.pid}`
    const abstract = createServer((socket) => socket.end('abstract got it'))
    servers.push(abstract)
    await new Promise<void>((resolve) => abstract.listen(`\0${name}`, resolve))
    const text = await inside(
      `python3 - <<'E'
import os, socket, array
s = socket.socket(socket.AF_UNIX); s.connect(${JSON.stringify(path)})
r, w = os.pipe()
s.sendmsg([b'hello'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [w]))]); os.close(w)
s.shutdown(socket.SHUT_WR); print(s.recv(99).decode())
print('pipe ends', os.read(r, 1))
a = socket.socket(socket.AF_UNIX)
try: a.connect('\\0${name}'); print(a.recv(99).decode())
except OSError as error: print('refused', error.errno)
E`,
      [`unix:${path}`],
    )
    expect(text).toContain('granted.sock got 5')
    // Nobody has the other end: it was not passed on.
    expect(text).toContain("pipe ends b''")
    expect(text).toContain('refused')
    expect(text).not.toContain('abstract got')
  })

  it('without a grant there are no unix sockets at all', async () => {
    const path = await serve('free.sock')
    expect(await inside(say(path), [])).toMatch(/refused|PermissionError|not permitted/)
  })

  it('one that is not there when the command starts is nowhere', async () => {
    const path = await serve('here.sock')
    const never = join(folder, 'never.sock')
    expect(await inside(`${say(path)}\n${say(never)}`, [`unix:${path}`, `unix:${never}`])).toMatch(/got 5\s+refused 2/)
  })
})

describe('as an ordinary user', () => {
  const driver = fileURLToPath(new URL('./sockets-inside.ts', import.meta.url))
  it.each([
    ['granted', /granted\.sock answers\s+refused other\.sock/],
    ['none', /^(?![\s\S]*answers)[\s\S]*(?:refused|not permitted)/],
  ])('with the grant "%s" a command reaches that and no more', (grant, expected) => {
    const [program, ...args] = asUser(ORDINARY, [process.execPath, driver, grant])
    expect(execFileSync(program!, args, { encoding: 'utf8', env: { PATH: process.env.PATH, ...COMPILED } })).toMatch(
      expected,
    )
  })
})

describe('an agent that signs by one key,', () => {
  let home: string
  let agent: string
  let keys: readonly string[]
  const ends: (() => void)[] = []
  beforeEach(() => {
    // The name of an agent's socket is short.
    home = mkdtempSync('/var/tmp/cordon-signer-')
    agent = join(home, 'agent')
    for (const name of ['own', 'other'])
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(home, name)])
    const pid = /SSH_AGENT_PID=(\d+)/.exec(execFileSync('ssh-agent', ['-s', '-a', agent], { encoding: 'utf8' }))![1]
    ends.push(() => process.kill(Number(pid)))
    const words = ['-q', join(home, 'own'), join(home, 'other')]
    execFileSync('ssh-add', words, { env: { ...process.env, SSH_AUTH_SOCK: agent }, stdio: 'pipe' })
    keys = ['own', 'other'].map((name) => readFileSync(join(home, `${name}.pub`), 'utf8'))
  })
  afterEach(() => {
    for (const end of ends.splice(0)) end()
    rmSync(home, { recursive: true, force: true })
  })

  const sign = (key: string, purpose: string) =>
    `echo '${key.trim()}' > k.pub; echo text > text; rm -f text.sig; ssh-keygen -Y sign -q -n ${purpose} -f k.pub text; test -s text.sig && echo signed`
  const mine = () => ({ ...session.machine, env: { ...session.machine.env, SSH_AUTH_SOCK: agent } })
  const limited = (signs: string) => [{ host: `unix:${agent}`, signs }]
  const print = () =>
    /SHA256:\S+/.exec(execFileSync('ssh-keygen', ['-lf', join(home, 'own.pub')], { encoding: 'utf8' }))![0]

  it('of ssh: commits by that key; no login, no other key, no change of the agent', async () => {
    const domains = limited(print())
    expect(await inside(sign(keys[0]!, 'git'), domains, [], mine())).toContain('signed')
    expect(await inside('ssh-add -L', domains, [], mine())).toContain(keys[0]!.split(' ')[1])
    const attacks = [
      ['other text', sign(keys[0]!, 'file')],
      ['another key', sign(keys[1]!, 'git')],
      ['a login', LOGIN(keys[0]!)],
    ] as const
    for (const [name, command] of attacks) {
      expect([name, await inside(command, domains, [], mine())]).toEqual([name, expect.not.stringContaining('signed')])
      // Control.
      expect([name, await inside(command, [`unix:${agent}`], [], mine())]).toEqual([
        name,
        expect.stringContaining('signed'),
      ])
    }
    expect(await inside('ssh-add -L', domains, [], mine())).not.toContain(keys[1]!.split(' ')[1])
    await inside('ssh-add -D; ssh-add -x </dev/null', domains, [], mine())
    expect(await inside('ssh-add -L', [`unix:${agent}`], [], mine())).toContain(keys[1]!.split(' ')[1])
    await inside('ssh-add -D', [`unix:${agent}`], [], mine())
    expect(await inside('ssh-add -L', [`unix:${agent}`], [], mine())).not.toContain(keys[1]!.split(' ')[1])
  })

  it('of gpg: signatures by that key alone', async () => {
    const env = { ...process.env, GNUPGHOME: home }
    ends.push(() => void spawnSync('gpgconf', ['--kill', 'gpg-agent'], { env }))
    for (const name of ['own@example.org', 'other@example.org'])
      execFileSync('gpg', ['--batch', '-q', '--passphrase', '', '--quick-gen-key', name, 'ed25519', 'sign'], {
        env,
        stdio: 'pipe',
      })
    const shown = execFileSync('gpg', ['-K', '--with-keygrip'], { env, encoding: 'utf8' })
    const [own, other] = [...shown.matchAll(/Keygrip = (\w+)/g)].map((found) => found[1]!) as [string, string]
    const socket = join(home, 'S.gpg-agent')
    const reported = (signs: string | null, lines: string) =>
      inside(assuan(socket, lines), [signs === null ? `unix:${socket}` : { host: `unix:${socket}`, signs }])
    const hash = `SETHASH 8 ${'A'.repeat(64)}`
    expect(await reported(own, `SIGKEY ${own}\n${hash}\nPKSIGN`)).toContain('sig-val')
    const attacks = [
      `SIGKEY ${other}\n${hash}\nPKSIGN`,
      `SETKEY ${other}\n${hash}\nPKSIGN`,
      `OPTION pinentry-mode=x\nEXPORT_KEY ${own}`,
      'SCD SERIALNO',
      'KILLAGENT',
    ]
    for (const lines of attacks)
      expect([lines, await reported(own, lines)]).toEqual([lines, expect.stringContaining('ERR 67109115')])
    expect(await reported(own, attacks[0]!)).not.toContain('sig-val')
    // Control.
    expect(await reported(null, attacks[0]!)).toContain('sig-val')
    expect(await reported(null, attacks[1]!)).toContain('sig-val')
  })
})

/** What ssh has signed to log in: a session, and not a text with its purpose. */
const LOGIN = (key: string) => `python3 - <<'E'
import base64, os, socket, struct
field = lambda data: struct.pack(">I", len(data)) + data
blob = base64.b64decode("${key.split(' ')[1]}")
data = field(b"s" * 32) + bytes([50]) + field(b"me") + field(b"ssh-connection") + field(b"publickey") + bytes([1]) + field(b"ssh-ed25519") + field(blob)
one = socket.socket(socket.AF_UNIX)
one.connect(os.environ["SSH_AUTH_SOCK"])
body = bytes([13]) + field(blob) + field(data) + struct.pack(">I", 0)
one.sendall(field(body))
print("signed" if one.recv(5)[4] == 14 else "refused")
E`

const assuan = (path: string, lines: string) => `python3 - <<'E'
import socket
one = socket.socket(socket.AF_UNIX)
one.connect("${path}")
talk = one.makefile("rwb")
talk.readline()
for line in """${lines}""".split("\\n"):
    talk.write(line.encode() + b"\\n"); talk.flush()
    while True:
        answer = talk.readline()
        print(answer)
        if answer.startswith(b"INQUIRE"):
            talk.write(b"END\\n"); talk.flush()
        if not answer or answer.startswith((b"OK", b"ERR")): break
E`
