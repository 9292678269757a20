/** Writes crash reports (A5) and faults in `app.log` (A2). */

import { randomBytes } from 'node:crypto'
import { closeSync, constants, fstatSync, renameSync, writeSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'
import { createRedactor } from '../scan/redact/redact.ts'
import type { Fault } from '../system/fault.ts'
import { attempt } from '../system/fault.ts'
import { thisMachine } from '../system/machine.ts'
import { openMade } from '../system/made-file.ts'
import { mustBeOurs, openOwnDirectory, writeOwnFile } from '../system/state.ts'
import { version } from '../system/version.ts'

interface CrashFacts {
  readonly stateDir: string
  /** ISO time. */
  readonly now: string
  /** The verb alone (`cordon run`): arguments are session content. */
  readonly command: string
  readonly version: string
  readonly os: { readonly platform: string; readonly release: string; readonly arch: string }
  readonly runtime: string
  readonly redact: (text: string) => string
}

interface CrashReport {
  readonly id: string
  readonly time: string
  readonly command: string
  readonly version: string
  readonly os: CrashFacts['os']
  readonly runtime: string
  /** The error, the members of an AggregateError and the causes of each, outermost first. */
  readonly errors: readonly CrashedError[]
}

interface CrashedError {
  readonly name: string
  readonly code: string | null
  readonly message: string
  /** Cordon's own frames: no arguments, no content. */
  readonly stack: readonly string[]
}

const MAX_ERRORS = 20
const MAX_FRAMES = 30
const MAX_MESSAGE = 500

/** Writes `crashdump/TIME-ID.json` and gives back its path; null when even that fails, because a crash must not hide itself. */
export function writeCrashReport(
  error: unknown,
  facts: CrashFacts,
): { readonly path: string; readonly id: string } | null {
  try {
    const id = randomBytes(4).toString('hex')
    const directory = openOwnDirectory(join(openOwnDirectory(facts.stateDir), 'crashdump'))
    const stamp = facts.now
      .replace(/\.\d+Z$/, '')
      .replace(/[-:]/g, '')
      .replace('T', '-')
    const path = join(directory, `${stamp}-${id}.json`)
    writeOwnFile(path, `${JSON.stringify(crashReport(error, id, facts), null, 2)}\n`)
    return { path, id }
  } catch {
    return null
  }
}

/** The report as data. */
export function crashReport(error: unknown, id: string, facts: CrashFacts): CrashReport {
  const { now, command, version, os, runtime, redact } = facts
  const seen = new Set<unknown>([error])
  // A set iterates over added elements, too: each error, then its cause.
  for (const each of seen) {
    const members = each instanceof AggregateError ? each.errors : []
    for (const from of [...members, each instanceof Error ? each.cause : undefined])
      if (from !== undefined && from !== null && seen.size < MAX_ERRORS) seen.add(from)
  }
  const errors = [...seen].map((each) => describe(each, redact))
  return { id, time: now, command: redact(command.split(/\s+/).slice(0, 2).join(' ')), version, os, runtime, errors }
}

function describe(error: unknown, redact: (text: string) => string): CrashedError {
  if (!(error instanceof Error)) {
    return { name: typeof error, code: null, message: redact(String(error)).slice(0, MAX_MESSAGE), stack: [] }
  }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : null
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  return {
    name: error.name,
    code,
    message: redact(error.message).slice(0, MAX_MESSAGE),
    stack: frames.slice(0, MAX_FRAMES).map((line) => redact(line.trim())),
  }
}

/** Cordon's own log, `app.log` in the state directory: for the owner alone, without secrets, of bounded size (A2). */
interface AppLog {
  write(level: 'info' | 'warning' | 'error', message: string): void
  close(): void
}

const MAX_BYTES = 5 * 1024 * 1024

/** Opens the log. Unlike the audit it is a convenience: a line that cannot be written is dropped. */
export function openAppLog(stateDir: string, redact: (text: string) => string, now: () => string): AppLog {
  const path = join(openOwnDirectory(stateDir), 'app.log')
  let fd = openLog(path)
  return {
    write(level, message) {
      const text = redact(message).replace(/[\r\n]+/g, ' | ')
      try {
        if (fstatSync(fd).size > MAX_BYTES) {
          renameSync(path, `${path}.1`)
          closeSync(fd)
          fd = openLog(path)
        }
        writeSync(fd, `${now()} ${level} ${text}\n`)
      } catch {
        // A full disk must not stop the work that the log is about.
      }
    },
    close: () => closeSync(fd),
  }
}

function openLog(path: string): number {
  const fd = openMade(path, constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW)
  mustBeOurs(path, fstatSync(fd))
  return fd
}

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
  return attempt(() => thisMachine().stateDir, null)
}
