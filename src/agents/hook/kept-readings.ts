/**
 * How a command was read, from the hook before it to its run in the sandbox: a process that serves both hands it on. Only what is made
 * of the text and of where it starts is handed on. Whatever can change between the two is checked again for each: the manifest and
 * who signed it, the rules, files and links, the session's memory, the person's answers.
 */

import { statSync } from 'node:fs'
import type { ShellAnalysis, ShellContext } from '../../shell/facts.ts'
import { handReadingsOn, type Reader } from './reading.ts'

/** Parallel calls of one session; a longer text is read again. */
const MOST_READINGS = 16
const LONGEST = 10_000
const BASH = '/bin/bash'

interface Kept {
  readonly analyses: Map<string, ShellAnalysis>
  /** What bash has nothing against, with the bash that was asked. */
  readonly accepted: Map<string, string>
}

/** From here on readings are kept in this process. */
export function keepReadings(): void {
  const kept: Kept = { analyses: new Map(), accepted: new Map() }
  handReadingsOn((own) => readingOnce(own, kept))
}

/** The reader, which takes what was read before where it was kept. */
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
      // A complaint may be about bash itself, which is asked again.
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

/** All that a reading depends on. */
function nameOf(command: string, { cwd, home, roots, variables, foreignCharset }: ShellContext): string {
  return JSON.stringify([command, cwd, home, roots, variables, foreignCharset])
}

/** A process that changes what another request will be given fails, and its call with it. */
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
