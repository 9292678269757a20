/** Runs components as the process that it is started as, and prints what came of each, a line of JSON each. */

import { readFileSync } from 'node:fs'
import { hashOf, runComponent } from '../../src/chat/component/component.ts'
import { BUILT_IN_BACKEND, openBackend } from '../../src/run/open-backend.ts'
import { createCordon } from '../../src/session/cordon.ts'
import { thisMachine } from '../../src/system/machine.ts'

export interface Attempt {
  readonly name: string
  readonly file: string
  readonly task: string
  readonly seconds: number
  readonly megabytes: number
}

const [root, attempts] = process.argv.slice(2) as [string, string]
const machine = thisMachine()
const cordon = await createCordon({ project: root, machine, manifest: { object: { schema_version: 1 } } })
const session = cordon.openSession()
const backend = await openBackend(BUILT_IN_BACKEND)
for (const { name, file, task, seconds, megabytes } of JSON.parse(attempts) as readonly Attempt[]) {
  const bytes = readFileSync(file)
  const entry = {
    name: 'hostile',
    sha256: hashOf(bytes),
    tools: ['read'],
    model: false,
    storageBytes: 1024,
    memoryBytes: megabytes * 1024 ** 2,
  }
  const run = { bytes, entry, task, session, root, machine, backend, complete: null, milliseconds: seconds * 1000 }
  let came: object
  try {
    const { value, error, limit, stderr } = await runComponent({ ...run, signal: new AbortController().signal })
    came = { value, error, limit, stderr: stderr.slice(0, 400) }
  } catch (error) {
    came = { value: null, error: String(error), limit: null, stderr: '' }
  }
  process.stdout.write(`${JSON.stringify({ name, ...came })}\n`)
}
await cordon.close()
