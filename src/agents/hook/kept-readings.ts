/**
 * Hands a command's reading from the hook to its run, if one process serves both. It depends only on the text and the
 * start directory. Everything that can change between the two is checked again: the manifest and its signature, rules,
 * files and links, the session's memory, the person's answers.
 */

import { statSync } from 'node:fs'
import type { ShellAnalysis, ShellContext } from '../../shell/facts.ts'
import { handReadingsOn, type Reader } from './reading.ts'

const MOST_READINGS = 16
const LONGEST = 10_000
const BASH = '/bin/bash'

interface Kept {
  readonly analyses: Map<string, ShellAnalysis>
  /** Commands that bash accepts, with the bash that was asked. */
  readonly accepted: Map<string, string>
}

/** Keeps readings in this process from now on. */
export function keepReadings(): void {
  const kept: Kept = { analyses: new Map(), accepted: new Map() }
  handReadingsOn((own) => readingOnce(own, kept))
}

/** The reader, using a kept reading if there is one. */
function readingOnce({ analyze, syntaxError }: Reader, known: Kept): Reader {
  if (!analyze) return { analyze, syntaxError }
  return {
    analyze: (command, context) => {
      const name = nameOf(command, context)
      const found = known.analyses.get(name) ?? frozen(analyze(command, context))
      keep(known.analyses, name, found)
      return found
    },
    syntaxError: (command) => {
      const bash = identityOf(BASH)
      if (bash !== null && known.accepted.get(command) === bash) return null
      const complaint = syntaxError(command)
      // A complaint may be about bash itself, so ask again.
      if (complaint === null && bash !== null) keep(known.accepted, command, bash)
      return complaint
    },
  }
}

function keep<T>(map: Map<string, T>, name: string, value: T): void {
  if (name.length > LONGEST) return
  map.delete(name)
  map.set(name, value)
  const [oldest] = map.keys()
  if (map.size > MOST_READINGS) map.delete(oldest!)
}

function nameOf(command: string, { cwd, home, roots, variables, foreignCharset }: ShellContext): string {
  return JSON.stringify([command, cwd, home, roots, variables, foreignCharset])
}

/** Freezes a value, so that a process that changes another request's data fails its own call. */
function frozen<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const part of Object.values(value)) frozen(part)
  return value
}

function identityOf(path: string): string | null {
  const facts = statSync(path, { bigint: true, throwIfNoEntry: false })
  return facts ? `${facts.dev} ${facts.ino} ${facts.ctimeNs}` : null
}
