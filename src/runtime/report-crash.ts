/** Writes a crash report for a surface (A5). */

import { release } from 'node:os'
import { writeCrashReport } from '../audit/crash-report.ts'
import { createRedactor } from '../scan/redact.ts'
import { thisMachine } from '../system/machine.ts'
import { version } from '../version.ts'

/** The path of the report; null when even that failed. Only the verb is recorded: arguments are session content. */
export function reportCrash(error: unknown, verb: string): string | null {
  const redactor = createRedactor()
  const stateDir = stateDirectory()
  if (stateDir === null) return null
  const report = writeCrashReport(error, {
    stateDir,
    now: new Date().toISOString(),
    command: /^[a-z]{1,16}$/.test(verb) ? `cordon ${verb}` : 'cordon',
    version,
    os: { platform: process.platform, release: release(), arch: process.arch },
    runtime: `node ${process.version}`,
    redact: (text) => redactor.redact(text),
  })
  return report?.path ?? null
}

// A crash must not hide behind another one.
function stateDirectory(): string | null {
  try {
    return thisMachine().stateDir
  } catch {
    return null
  }
}
