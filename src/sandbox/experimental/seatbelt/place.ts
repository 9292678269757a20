/** What a command on macOS needs on the machine itself, because no namespace gives it one of its own. */

import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { errorCode } from '../../../system/fault.ts'
import { isAlive } from '../../../system/processes.ts'
import { makeDirectories } from '../../../system/state.ts'
import type { Arrangement } from '../../backend.ts'
import { SandboxFault } from '../../sandbox-fault.ts'
import { type GuardedListener, openListener } from './listener.ts'

export interface Place extends Arrangement {
  readonly listener: GuardedListener | null
}

/** A folder for temporary files and, where it has a way out, the port that leads there. */
export async function arrangePlace({ network }: { readonly network: boolean }): Promise<Place> {
  const temporary = makeFolder()
  try {
    const token = network ? randomBytes(24).toString('base64url') : null
    const listener = token === null ? null : await openListener(token)
    return {
      temporary,
      listener,
      proxy: listener === null || token === null ? null : { port: listener.port, token },
      dispose: () => {
        listener?.close()
        rmSync(temporary, { recursive: true, force: true })
      },
    }
  } catch (error) {
    rmSync(temporary, { recursive: true, force: true })
    throw error
  }
}

/** Private to the user, canonical (`/private/var/…`), and named by who made it, so that a killed one's is removed later. */
function makeFolder(): string {
  try {
    const base = join(realpathSync.native(tmpdir()), `cordon-${process.getuid?.() ?? 0}`)
    makeDirectories(base)
    for (const name of readdirSync(base)) {
      const pid = Number(name.split('-')[0])
      if (Number.isInteger(pid) && !isAlive(pid)) rmSync(join(base, name), { recursive: true, force: true })
    }
    return mkdtempSync(join(base, `${process.pid}-`))
  } catch (error) {
    throw new SandboxFault(
      'sandbox-mounts',
      `no folder for temporary files can be created in ${tmpdir()} (${errorCode(error)})`,
      {
        cause: error,
        remedy: 'Set TMPDIR to a folder of your own that can be written.',
      },
    )
  }
}
