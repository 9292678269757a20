/** The words that run this Cordon, for hooks and for the commands that they rewrite. */

import { accessSync, constants } from 'node:fs'
import { dirname, join } from 'node:path'
import { machineFiles } from '../../system/files.ts'

/** The client, where it is built, then Node and the program, which the client starts when no resident serves. */
export function cordonWords(): readonly string[] {
  const script = machineFiles.canonical(process.argv[1] ?? '')
  const client = join(dirname(script), 'native', `cordon-client-${process.arch}`)
  return [...(isProgram(client) ? [client] : []), process.execPath, script]
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
