/** A command between a unix socket that is granted and one that is not; says what it got of both. Started by the test as a program, as any user. */

import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { resultText } from '../../../src/call/tool-result.ts'
import { openSessionWorld } from '../session/session-world.ts'

const session = openSessionWorld()
const folder = mkdtempSync(join(tmpdir(), 'cordon-sockets-'))
const [granted, other] = ['granted', 'other'].map((name) => join(folder, `${name}.sock`)) as [string, string]
const servers = [granted, other].map((path) => createServer((socket) => socket.end(`${path} answers`)).listen(path))
const script = `import socket
for path in ${JSON.stringify([granted, other])}:
  s = socket.socket(socket.AF_UNIX)
  try: s.connect(path); print(s.recv(999).decode())
  except OSError as error: print('refused', path)`
const object = {
  schema_version: 1,
  permission: { mode: 'auto' },
  capabilities: { allow: { commands: { default_domains: process.argv[2] === 'granted' ? [`unix:${granted}`] : [] } } },
}
const cordon = await session.open({ manifest: { object } })
const result = await cordon.openSession().call('bash', { command: `python3 - <<'E'\n${script}\nE` })
process.stdout.write(resultText(result).replaceAll(`${folder}/`, ''))
await session.close()
for (const server of servers) server.close()
rmSync(folder, { recursive: true, force: true })
