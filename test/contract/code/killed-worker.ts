/** Runs one program that lasts, to be killed with it. */

import { join } from 'node:path'
import { BUILT_IN_BACKEND, openBackend } from '../../../src/run/open-backend.ts'
import { containerLimits, openEngines } from '../../../src/session/code/engines.ts'
import { thisMachine } from '../../../src/system/machine.ts'

const [engine, mark] = process.argv.slice(2) as [string, string]
const settings = { engines: [engine], image: null, memoryBytes: 256 * 1024 ** 2, seconds: 120 }
const limits = containerLimits(settings, 65_536)
const machine = thisMachine()
const home = join(machine.home, '.cache', 'cordon')
const set = openEngines(settings, limits, { ...machine, cacheDir: home }, await openBackend(BUILT_IN_BACKEND))
await set.run({
  argv: ['/bin/bash', '{in}/main.sh'],
  source: { name: 'main.sh', bytes: Buffer.from(`setsid sleep ${mark} & sleep ${mark}`) },
  files: [],
  stdin: new Uint8Array(),
  outputs: [],
  limits,
  image: null,
  signal: new AbortController().signal,
})
