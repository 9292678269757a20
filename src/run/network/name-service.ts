/**
 * Name resolution inside a sandbox: the resolver file, and the variables of a command without
 * network.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { unwritable } from '../../system/fault.ts'
import { writeMade } from '../../system/made-file.ts'
import { makeDirectories } from '../../system/state.ts'

/** The file that every resolver reads. */
export const NAME_SETTINGS = '/etc/resolv.conf'
const CONTENT = 'nameserver 127.0.0.1\noptions timeout:2 attempts:1\n'

/**
 * For a command without hosts: the init answers at the proxy's address, and reports that there is
 * no network.
 */
export const NO_NETWORK: Readonly<Record<string, string>> = proxyVariables('http://127.0.0.1:3128')

function proxyVariables(proxy: string): Record<string, string> {
  const names = ['http_proxy', 'https_proxy', 'all_proxy'].flatMap((name) => [name, name.toUpperCase()])
  const bypass = 'localhost,.localhost,127.0.0.1,::1'
  return {
    ...Object.fromEntries(names.map((name) => [name, proxy])),
    no_proxy: bypass,
    NO_PROXY: bypass,
    NODE_USE_ENV_PROXY: '1',
  }
}

/** The file that replaces the machine's, created once. */
export function nameFile(cacheDir: string): string {
  const path = join(cacheDir, 'resolv.conf')
  try {
    if (readFileSync(path, 'utf8') === CONTENT) return path
  } catch {
    // missing
  }
  try {
    makeDirectories(cacheDir, 0o755)
    writeMade(path, CONTENT, { mode: 0o644 })
    return path
  } catch (error) {
    throw unwritable(path, error)
  }
}
