/** The words that run this Cordon, for hooks and rewritten commands. */

import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { machineFiles } from '../../system/files.ts'
import { thisMachine } from '../../system/machine.ts'

/** Variables that locate the person's policy and keys, and what Node trusts. A trusted project could set others. */
const INSTALLED = ['HOME', 'XDG_CONFIG_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME', 'CORDON_TRUSTED_KEYS']
const CONFIGURED = /^(?:NODE_EXTRA_CA_CERTS|NODE_TLS_REJECT_UNAUTHORIZED|NODE_USE_SYSTEM_CA|SSL_CERT_\w+|OPENSSL_\w+)$/

/** The client, if built, with its variables; then Node and the program, which it starts without a resident. */
export function cordonWords(): readonly string[] {
  const script = machineFiles.canonical(process.argv[1] ?? '')
  const client = join(dirname(script), 'native', `cordon-client-${process.arch}`)
  return [...(isProgram(client) ? [client, ...installedVariables()] : []), process.execPath, script]
}

function installedVariables(): readonly string[] {
  const { env, home } = thisMachine()
  const names = Object.keys(env).filter((name) => INSTALLED.includes(name) || CONFIGURED.test(name))
  const said = names.filter((name) => name !== 'HOME' && env[name]).sort()
  return [`HOME=${home}`, ...said.map((name) => `${name}=${env[name]}`)].flatMap((variable) => ['--with', variable])
}

/** Packages contain the Linux client on other systems too. */
function isProgram(path: string): boolean {
  if (process.platform !== 'linux') return false
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
