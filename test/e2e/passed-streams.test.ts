/** Streams that a command shares with its caller: never switched to O_NONBLOCK, and no byte of theirs is lost, the process that is slow. */

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { CLI, Project } from './cordon.ts'

const LINES = 400_000
const TEXT = Array.from({ length: LINES }, (_, index) => `${index + 1}\n`).join('')
const hashOf = (text: string | Buffer): string => createHash('sha256').update(text).digest('hex')

/** Reads 64 KB, rests, and so on; the writer's pipe is full most of the time. */
const SLOW_READER = `const { readSync } = require('node:fs'), { createHash } = require('node:crypto')
const hash = createHash('sha256'), space = Buffer.alloc(65536), rest = new Int32Array(new SharedArrayBuffer(4))
for (let n; (n = readSync(0, space)) > 0; Atomics.wait(rest, 0, 0, 4)) hash.update(space.subarray(0, n))
require('node:fs').writeFileSync(process.argv[2], hash.digest('hex'))`

/** Notes how the three streams of a process are opened. */
const FLAGS = 'for fd in 0 1 2; do grep flags /proc/$1/fdinfo/$fd >> flags.txt; done'

let project: Project
let server: Server
let url: string

beforeAll(async () => {
  server = createServer((_, response) => response.end('ok'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
  const { host } = new URL(url)
  project = new Project({
    'slow.cjs': SLOW_READER,
    'flags.sh': FLAGS,
    'limited/flags.sh': FLAGS,
    'cordon.toml': `schema_version = 1
[permission]
mode = "contained"
[http]
allow_private_hosts = true
[capabilities.allow.commands]
default_domains = ["${host}"]
`,
    'limited/cordon.toml': `schema_version = 1
[permission]
mode = "contained"
[http]
allow_private_hosts = true
[limits]
max_output_bytes = 100000000
[capabilities.allow.commands]
default_domains = ["${host}"]
`,
  })
  for (const cwd of [project.directory, `${project.directory}/limited`])
    expect(project.cordon(['sign', '--yes'], { cwd }).code).toBe(0)
})
afterAll(async () => {
  project.remove()
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
})

/** Runs a script of bash beside the server, which answers meanwhile. */
function bash(script: string, cwd: string): Promise<string> {
  return new Promise((resolve) => {
    const env = { PATH: process.env.PATH, HOME: project.home, NODE: process.execPath, CORDON: CLI, URL: url }
    const child = spawn('bash', ['-c', script], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (data) => (said += data))
    child.on('close', () => resolve(said))
  })
}

const WAYS = [
  { way: 'cordon run', words: 'run -- bash -c', folder: '.' },
  { way: 'a wrapped command of a hook', words: 'hook run --host codex --root "$PWD" --', folder: '.' },
  {
    way: 'a wrapped command whose output has a limit',
    words: 'hook run --host codex --root "$PWD" --',
    folder: 'limited',
  },
]

describe.each(WAYS)('$way', ({ words, folder }) => {
  const at = () => `${project.directory}/${folder}`

  it('leaves all three as they were, after a proxied request and at the end', async () => {
    const script = `"$NODE" "$CORDON" ${words} "curl -s $URL; bash flags.sh \\$\\$"; bash flags.sh $BASHPID`
    await bash(`rm -f flags.txt; sleep 0.1 | { ${script}; } 2> >(cat >/dev/null) | cat >/dev/null`, at())
    const seen = (await bash('cat flags.txt', at())).match(/\d+/g) ?? []
    expect(seen).toHaveLength(6)
    expect(seen.map((octal) => Number.parseInt(octal, 8) & 0o4000)).toEqual(seen.map(() => 0))
  })

  it.each([
    { name: 'stdout', to: '', from: '' },
    { name: 'stderr', to: '>&2', from: '2>&1 >/dev/null' },
  ])('loses nothing of $name through a slow reader', async ({ to, from }) => {
    const slow = `${from} | "$NODE" ${project.directory}/slow.cjs sum.txt`
    await bash(
      `rm -f sum.txt; "$NODE" "$CORDON" ${words} "curl -s -o /dev/null $URL; seq 1 ${LINES} ${to}" ${slow}`,
      at(),
    )
    expect(await bash('cat sum.txt', at())).toBe(hashOf(TEXT))
  })

  it('loses nothing of stdin for a command that is late to read', async () => {
    const inner = `curl -s -o /dev/null $URL; sleep 0.5; sha256sum | tee sum.txt`
    const said = await bash(`rm -f sum.txt; seq 1 ${LINES} | "$NODE" "$CORDON" ${words} "${inner}"`, at())
    expect((await bash('cat sum.txt', at())).split(' ')[0], said).toBe(hashOf(TEXT))
  })
})
