/** A process that ships until everything is confirmed. */

import { join } from 'node:path'
import { readFleetSettings } from '../../src/fleet/settings.ts'
import { shipRecords } from '../../src/organisation/ship.ts'
import { thisMachine } from '../../src/system/machine.ts'

const base = process.argv[2]!
const machine = {
  ...thisMachine(),
  configDir: join(base, 'config'),
  stateDir: join(base, 'state'),
  systemDir: join(base, 'etc'),
}
const settings = readFleetSettings(machine)!
const quick = { firstPauseMs: 1, maxPauseMs: 20, attempts: 100 }
const shipped = await shipRecords(settings, machine, new AbortController().signal, quick)
process.exit(shipped.every(({ problem }) => problem === null) ? 0 : 1)
