/** Writes crash reports (A5) and faults in `app.log` (A2). */

import { release } from 'node:os'
import { openAppLog, writeCrashReport } from '../audit/crash-report.ts'
import { createRedactor } from '../scan/redact/redact.ts'
import type { Fault } from '../system/fault.ts'
import { thisMachine } from '../system/machine.ts'
import { version } from '../system/version.ts'

/** The report's path, or null. Only the verb is recorded: arguments are session content. */
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

/** Logs a fault in `app.log`; a line that cannot be written is dropped. */
export function logFault(fault: Fault, verb: string): void {
  const stateDir = stateDirectory()
  if (stateDir === null) return
  try {
    const log = openAppLog(
      stateDir,
      (text) => createRedactor().redact(text),
      () => new Date().toISOString(),
    )
    log.write('error', `cordon ${verb}: ${fault.message} [${fault.code}]`)
    log.close()
  } catch {
    // The state directory may have failed.
  }
}

// A second failure must not hide the first.
function stateDirectory(): string | null {
  try {
    return thisMachine().stateDir
  } catch {
    return null
  }
}
