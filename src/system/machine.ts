/** The port to this process's surroundings: where it runs, for whom, and with which environment. */

import { homedir, networkInterfaces } from 'node:os'
import { join } from 'node:path'

export interface Machine {
  readonly cwd: string
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** `$XDG_CONFIG_HOME/cordon` */
  readonly configDir: string
  /** `$XDG_STATE_HOME/cordon` */
  readonly stateDir: string
  /** Addresses of this machine's own interfaces, looked up once. */
  readonly ownAddresses: () => readonly string[]
}

/** The machine this process runs on. */
export function thisMachine(): Machine {
  const { env } = process
  const home = homedir()
  const base = (value: string | undefined, fallback: string) => (value?.startsWith('/') ? value : join(home, fallback))
  let addresses: readonly string[] | null = null
  return {
    cwd: process.cwd(),
    home,
    env,
    configDir: join(base(env.XDG_CONFIG_HOME, '.config'), 'cordon'),
    stateDir: join(base(env.XDG_STATE_HOME, '.local/state'), 'cordon'),
    ownAddresses: () => {
      addresses ??= Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map((entry) => entry.address))
      return addresses
    },
  }
}
