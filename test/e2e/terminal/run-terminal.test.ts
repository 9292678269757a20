/** `cordon run` at a real terminal: a shell's child, and questions at the moment of need (issue: daily use). */

import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { Project } from '../cordon.ts'
import { CTRL_C, CTRL_Z, Person } from './person.ts'

let project: Project
let person: Person

const MANIFEST = `schema_version = 1
[http]
allow_private_hosts = true
`

beforeAll(() => {
  project = new Project({ 'cordon.toml': MANIFEST })
  project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
})
afterAll(() => project.remove())

/** Starts the words, stops the terminal while they write, and sends a signal. */
const STOPPED = `
import os, signal, subprocess, sys, termios, time
name, number = sys.argv[1], getattr(signal, 'SIG' + sys.argv[2])
run = subprocess.Popen(sys.argv[3:])
def wait(what):
  while not os.path.exists(name + what): time.sleep(0.02)
wait('.ready')
termios.tcflow(1, termios.TCOOFF)
open(name + '.go', 'w').close()
wait('.written')
run.send_signal(number)
code = run.wait()
termios.tcflow(1, termios.TCOON)
print('ended by', sys.argv[2] if code in (-number, 128 + number) else code)
`

describe('like a shell’s child', () => {
  beforeEach(async () => {
    person = new Person(project)
    await person.atPrompt()
  })
  afterEach(() => person.leaves())

  it('Ctrl-C ends the command, and the loop around it', async () => {
    person.line(
      `for i in 1 2 3; do echo "round $i"; cordon run -- sh -c 'echo up; exec sleep 600'; done; echo "left $?"`,
    )
    await person.sees('round 1')
    await person.sees('\nup')
    person.keys(CTRL_C)
    const seen = await person.atPrompt()
    expect(seen).not.toContain('round 2')
    expect(seen).not.toContain('left')
    person.line('echo "code $?"')
    await person.sees('code 130')
  })

  it('a command that catches Ctrl-C goes on', async () => {
    person.line(
      `cordon run -- sh -c 'trap "echo caught; exit 5" INT; echo ready; while :; do sleep 0.1; done'; echo "code $?"`,
    )
    await person.sees('\nready')
    person.keys(CTRL_C)
    await person.sees('caught')
    await person.sees('code 5')
  })

  it.each(['INT', 'TERM', 'HUP'])('SIG%s ends it while the terminal is stopped, as by Ctrl-S', async (signal) => {
    const name = `stopped-${signal}`
    writeFileSync(join(project.directory, `${name}.py`), STOPPED)
    const command = `echo > ${name}.ready; until [ -e ${name}.go ]; do sleep 0.05; done; seq 50; echo > ${name}.written; exec seq 90000`
    person.line(`python3 ${name}.py ${name} ${signal} "$NODE" "$CLI" run -- sh -c '${command}'`)
    await person.sees(`ended by ${signal}`)
  })

  it('Ctrl-Z stops it, fg goes on with it, and its keys are its own again', async () => {
    person.line(
      `cordon run -- sh -c 'trap "echo back" CONT; echo ready; until read line; do :; done; echo "got $line"'; echo "code $?"`,
    )
    await person.sees('\nready')
    person.keys(CTRL_Z)
    const seen = await person.sees(/Stopped[^\n]*\n/)
    expect(seen).not.toContain('got')
    await person.sees('$ ')
    person.line('echo "in the $(echo shell)"')
    await person.sees('in the shell')
    person.line('fg')
    await person.sees(/fg\n/)
    await person.sees('\nback')
    person.line('hello')
    await person.sees('got hello')
  })

  it('runs in the background, alone, in a pipeline and after bg, and comes back with fg', async () => {
    person.line(`cordon run -- sh -c 'echo be""hind; exec sleep 600' &`)
    await person.sees('behind')
    person.line('jobs; kill %1; wait %1; echo "code $?"')
    expect(await person.sees(/code \d+/)).toContain('Running')
    person.line(`cordon run -- sh -c 'echo pi""ped' | cat & wait; echo "co""de $?"`)
    await person.sees('piped')
    await person.sees('code 0')
    // Not in dash: it starts programs by vfork, and a child that Ctrl-Z stops before its exec keeps dash from
    // stopping, in any terminal.
    person.line(
      `cordon run -- bash -c 'echo read""y; until test -e go; do sleep 0.05; done; echo went; read line; echo "got $line"'`,
    )
    await person.sees('ready')
    person.keys(CTRL_Z)
    await person.sees('Stopped')
    await person.sees('$ ')
    person.line('bg; touch go')
    await person.sees('went')
    person.line('fg')
    person.line('hello')
    await person.sees('got hello')
    await person.atPrompt()
  })

  it('the window’s size and its changes reach it', async () => {
    person.line(
      `cordon run -- sh -c 'stty size; trap "stty size; exit" WINCH; echo ready; while :; do sleep 0.1; done'`,
    )
    await person.sees('\n40 100')
    await person.sees('ready')
    person.resize(30, 61)
    await person.sees('30 61')
    await person.atPrompt()
  })

  it('prints nothing if nothing was stopped, and passes the code on', async () => {
    // What is dangerous about the set-up was said by the runs before.
    person.line('cordon run -- sh -c \'echo out; exit 7\'; echo "code $?"')
    const seen = await person.sees('code 7')
    expect(seen.slice(seen.indexOf('\n') + 1)).toBe('out\ncode 7')
  })

  it('cordon log says what ran, without its arguments', async () => {
    person.line(
      'cordon run -- sh -c "touch new-by-log; exit 3"; cordon run -- git status --short hidden-word; cordon log',
    )
    await person.atPrompt()
    person.line('cordon log --hours 1')
    const seen = await person.atPrompt()
    expect(seen).toMatch(/── you, .*, \d+ calls?/)
    expect(seen).toMatch(/▸ bash +git status; typed by you/)
    expect(seen).toMatch(/✗ +failed \(exit 3\) after .*; files: 1 created/)
    expect(seen).not.toContain('hidden-word')
  })

  it('cordon shell is a shell inside, with its own jobs', async () => {
    person.line('cordon shell')
    await person.sees(/\n[^\n]*[$#] $/)
    person.line("PS1='inside> '")
    await person.sees(/\ninside> /)
    person.line("ls /run/systemd; sh -c 'echo up; exec sleep 600'")
    await person.sees('No such file')
    await person.sees('\nup')
    person.keys(CTRL_Z)
    await person.sees('Stopped')
    await person.sees('inside> ')
    person.line('disown %1; exit 3')
    await person.atPrompt()
    person.line('echo "code $?"')
    await person.sees('code 3')
  })
})

describe('asks at the moment of need,', () => {
  let server: Server
  let port: number
  beforeAll(async () => {
    server = createServer((_, response) => response.end('from the server'))
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    port = (server.address() as AddressInfo).port
  })
  afterAll(() => new Promise((resolve) => server.close(resolve)))
  beforeEach(async () => {
    writeFileSync(join(project.directory, 'cordon.toml'), MANIFEST)
    project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
    mkdirSync(join(project.home, 'lib'), { recursive: true })
    writeFileSync(join(project.home, 'lib/a.txt'), 'from the library\n')
    person = new Person(project)
    await person.atPrompt()
  })
  afterEach(() => person.leaves())
  const manifest = () => readFileSync(join(project.directory, 'cordon.toml'), 'utf8')

  it('about a folder: a no leaves it hidden and says how, a save shows it from now on', async () => {
    person.line('cordon run -- cat ~/lib/a.txt')
    await person.sees('outside the project')
    await person.answers('n')
    const seen = await person.atPrompt()
    expect(seen).toContain('No such file')
    expect(seen).toContain('cordon run --read ~/lib/a.txt')
    person.line('cordon run -- cat ~/lib/a.txt')
    await person.sees('outside the project')
    await person.answers('a')
    // A single key never saves, and what it would save is there first: not in a file that others share.
    expect(await person.sees('Enter always')).toContain('for you and this project, not in cordon.toml')
    person.keys('\r')
    expect(await person.sees('from the library')).toContain('~/lib/a.txt')
    await person.atPrompt()
    expect(manifest()).not.toContain('lib')
    person.line('cordon run -- sh -c "cat ~/lib/a.txt && touch new"')
    expect(await person.atPrompt()).not.toContain('asks')
    expect(project.cordon(['verify']).code).toBe(0)
  })

  it('about a host that the command reaches for', async () => {
    const get = `import urllib.request as u; print(u.urlopen("http://127.0." + "0.1:${port}/").read().decode())`
    person.line(`cordon run -- env -u no_proxy -u NO_PROXY python3 -c '${get}'`)
    await person.sees(`127.0.0.1:${port}`)
    await person.sees('not allowed yet')
    // A key that was meant for the command is not an answer. That "always" is refused here has its row beside the prompter.
    person.keys('a')
    await person.answersWith('hour')
    await person.sees('from the server')
    // The key is left to the shell, and may be seen before its prompt.
    await person.sees(/\$ $/)
    expect(manifest()).not.toContain(`127.0.0.1:${port}`)
    expect(project.cordon(['grants', '--json'], { env: { CORDON_KEYCHAIN: 'off' } }).out).toContain(`127.0.0.1:${port}`)
  })

  it('about a port that it listens on', async () => {
    const free = await chosenPort()
    person.line(`cordon run -- python3 -m http.server --bind 127.0.0.1 ${free}`)
    await person.sees(`listens on port ${free}`)
    expect(await page(free)).toBeNull()
    await person.answersWith('allow')
    await person.sees('serving:')
    expect(await page(free)).toContain('cordon.toml')
    person.keys(CTRL_C)
    await person.atPrompt()
    expect(manifest()).not.toContain('dev_server_ports')
  })

  it('Ctrl-C at it is a no that says how, and asks about the command', async () => {
    const free = await chosenPort()
    for (const [key, after] of [
      ['\r', 'to open it: cordon run --port'],
      [CTRL_C, 'Keyboard interrupt received'],
    ] as const) {
      person.line(`cordon run -- python3 -m http.server --bind 127.0.0.1 ${free}`)
      await person.sees(`listens on port ${free}`)
      person.keys(CTRL_C)
      await person.sees('Ctrl-C again ends the command')
      person.keys(key)
      await person.sees(after)
      if (key === '\r') person.keys(CTRL_C)
      await person.atPrompt()
    }
  })

  it('about a new working tree outside: refused before git leaves half of one', async () => {
    person.line('git init -q; git -c user.name=A -c user.email=a@example.org commit -q --allow-empty -m a')
    await person.atPrompt()
    person.line('cordon run --tool git -- git worktree add ~/tree; echo "code $?"; git branch')
    const seen = await person.sees(/code 126[^$]*/)
    expect(seen).toContain('mkdir -p ~/tree && cordon run --write ~/tree …')
    expect(await person.atPrompt()).not.toContain('tree')
    person.line('cordon shell --tool git')
    await person.sees(/\n[^\n]*[$#] $/)
    person.line("PS1='inside> '")
    await person.sees(/\ninside> /)
    person.line("sh -c 'git worktree add ../beside'; git branch; ls -a .git ../beside; exit")
    const inside = await person.atPrompt()
    expect(inside).toMatch(/mkdir -p \S+beside && cordon run --write/)
    expect(inside.match(/would be lost/g)).toHaveLength(1)
    expect(inside).not.toMatch(/^worktrees$|^\s+beside$/m)
    person.line(
      'mkdir -p ~/tree && cordon run --tool git --write ~/tree -- git worktree add -q ~/tree && git worktree list',
    )
    expect(await person.sees(/\[tree\]/)).not.toContain('lost')
    await person.atPrompt()
  })

  it('about a port of this machine that it names: a no says how, a yes needs no second key', async () => {
    writeFileSync(join(project.directory, 'cordon.toml'), 'schema_version = 1\n')
    project.cordon(['sign', '--yes'], { env: { CORDON_KEYCHAIN: 'off' } })
    const own = createServer((_, response) => response.end('from the server'))
    await new Promise<void>((resolve) => own.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void own.close())
    const { port } = own.address() as AddressInfo
    const get = `curl -sS http://localhost:${port}/`
    person.line(`cordon run -- ${get}`)
    await person.sees(`listens on port ${port}`)
    await person.answers(CTRL_C)
    const refused = await person.atPrompt()
    expect(refused.replace(/\s+/g, ' ')).toContain(
      `to reach port ${port} of this machine: cordon run --allow-host 127.0.0.1:${port}`,
    )
    person.line(`cordon run -- ${get}`)
    await person.sees(`listens on port ${port}`)
    await person.answers('y')
    await person.sees('from the server')
    await person.atPrompt()
    for (const host of ['127.0.0.1', 'localhost']) {
      person.line(`cordon run --allow-host ${host}:${port} -- sh -c '${get}; echo; ${get} --noproxy "*"'`)
      await person.sees('from the server\nfrom the server')
      await person.atPrompt()
    }
  })

  it('and not with --quiet', async () => {
    mkdirSync(join(project.home, 'other'), { recursive: true })
    writeFileSync(join(project.home, 'other/b.txt'), 'b\n')
    person.line('cordon run --quiet -- cat ~/other/b.txt; echo "code $?"')
    const seen = await person.sees('code 1')
    expect(seen).not.toContain('cordon:')
  })
})

/** One below those that the kernel hands out by itself. */
async function chosenPort(): Promise<number> {
  for (let port = 18_000 + (process.pid % 4000); ; port++) {
    const free = await new Promise<boolean>((resolve) => {
      const probe = createTcpServer()
      probe.once('error', () => resolve(false))
      probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
    })
    if (free) return port
  }
}

async function page(port: number): Promise<string | null> {
  try {
    return await (await fetch(`http://127.0.0.1:${port}/`)).text()
  } catch {
    return null
  }
}
