/** Moves into the sandbox's private /tmp: it is gone when the command ends, and the files with it. */

import { posix } from 'node:path'
import { isInside, isPrivateTmp } from '../../files/baseline.ts'
import type { CommandFact, Word } from '../../shell/facts.ts'
import { isInsideRoots } from '../path-part.ts'
import type { Scene } from './scene.ts'

/** The place in /tmp that a command would move files of the project to for good; null when it moves none there. */
export function lostIn({ policy, session, shell }: Scene, fact: CommandFact): string | null {
  const place = destinationOf(fact)
  if (place === null || !isPrivateTmp(place) || isInsideRoots(policy, session, place)) return null
  const takes = fact.paths.some((use) => use.path !== null && isInsideRoots(policy, session, use.path))
  if (!takes || !('facts' in shell.analysis)) return null
  // `mv a /tmp/a; npm test; mv /tmp/a a` brings it back.
  const returned = shell.analysis.facts.commands.some(
    (other) => other !== fact && sourcesOf(other).some((source) => isInside(source, place) || isInside(place, source)),
  )
  return returned ? null : place
}

function moves(fact: CommandFact): boolean {
  const name = fact.argv[0]?.values?.[0] ?? ''
  const base = name.slice(name.lastIndexOf('/') + 1)
  return base === 'mv' || (base === 'rsync' && fact.argv.some((word) => word.values?.[0] === '--remove-source-files'))
}

function destinationOf(fact: CommandFact): string | null {
  if (!moves(fact)) return null
  const at = fact.argv.findIndex((word) => /^(?:-t|--target-directory)$/.test(word.values?.[0] ?? ''))
  const glued = fact.argv.map((word) => /^(?:-t|--target-directory=)(.+)$/s.exec(word.values?.[0] ?? '')?.[1])
  const text = glued.find((one) => one !== undefined) ?? onlyValue(fact.argv[at > 0 ? at + 1 : fact.argv.length - 1])
  return text === undefined ? null : posix.resolve(fact.cwd ?? '/', text)
}

function sourcesOf(fact: CommandFact): readonly string[] {
  if (!moves(fact)) return []
  return fact.argv
    .slice(1, -1)
    .map((word) => posix.resolve(fact.cwd ?? '/', onlyValue(word) ?? word.prefix))
    .filter(isPrivateTmp)
}

function onlyValue(word: Word | undefined): string | undefined {
  return word?.values?.length === 1 ? word.values[0] : undefined
}
