/** A script of a project's skill that a text takes elsewhere, or into a stream, and runs there (T3): it is the same script. */

import { posix } from 'node:path'
import { isInside } from '../../files/baseline.ts'
import { isGlob } from '../../files/glob.ts'
import type { CommandFact, RedirectFact, ShellFacts } from '../../shell/facts.ts'
import { isInterpreterName } from '../../shell/tables/interpreter-names.ts'
import type { ShellFact } from '../call.ts'

/** Why a script of the text may not run, and its command; null without such a script. */
export function carriedScript(
  shell: ShellFact,
  facts: ShellFacts,
): { readonly runs: CommandFact; readonly problem: string } | null {
  const { scriptBelow, canonical } = shell
  if (!scriptBelow) return null
  const problem = usedPlaces(facts)
    .map((path) => scriptBelow(canonical(path)))
    .find((found) => found !== null)
  if (!problem) return null
  const written = writtenPlaces(facts).map(canonical)
  const names = new Set(written.map((path) => posix.basename(path)))
  const runs = facts.commands.find((fact) => {
    const name = fact.argv[0]?.values?.[0] ?? null
    if (name === null || name === 'eval') return fact.argv.length > 0
    const started = startedPlaces(fact)
    // `sh`, `bash -c "$(…)"`, `find -exec sh {}`: the command comes from the text or a stream, or
    // is unknown.
    if (isInterpreterName(name) && started.length === 0) return true
    // By its name alone where a folder of the project is on PATH.
    if (fact.resolves === 'program' && names.has(name)) return true
    return started.some((path) => written.some((place) => isInside(canonical(path), place)))
  })
  return runs ? { runs, problem } : null
}

/** The files that a command starts: as a program, by an interpreter, or read into the shell. */
export function startedPlaces(fact: CommandFact): readonly string[] {
  const name = fact.argv[0]?.values?.[0] ?? ''
  const reads = isInterpreterName(name) || name === 'source' || name === '.'
  return fact.paths.flatMap(({ path, access }) => (path !== null && (reads || access === 'execute') ? [path] : []))
}

/** Every file and folder that the text names, of a pattern the folder above it. */
function usedPlaces({ commands, redirects }: ShellFacts): readonly string[] {
  const named = commands.flatMap((fact) =>
    fact.paths.flatMap(({ path, glob }) => (path === null ? [] : [glob ? literalFolder(path) : path])),
  )
  // `sh -c ". $(echo FILE)"`: what a word names may become code anywhere.
  const said = commands.flatMap(({ argv, cwd }) =>
    argv
      .flatMap(({ values }) => (values ?? []).flatMap((value) => value.match(NAMES) ?? []))
      .map((name) => posix.resolve(cwd ?? '/', name)),
  )
  return [...named, ...said, ...redirected(commands, redirects, 'read')]
}

/** Texts in a word that may be paths. */
const NAMES = /[^\s'"`()=;|&<>]*\/[^\s'"`()=;|&<>]*/g

function writtenPlaces({ commands, redirects }: ShellFacts): readonly string[] {
  const named = commands.flatMap((fact) =>
    fact.paths.flatMap(({ path, access, glob }) => {
      if (path === null || access !== 'write') return []
      return [glob ? literalFolder(path) : path]
    }),
  )
  return [...named, ...redirected(commands, redirects, 'write')]
}

function redirected(
  commands: readonly CommandFact[],
  redirects: readonly RedirectFact[],
  how: 'read' | 'write',
): readonly string[] {
  return [...redirects, ...commands.flatMap((fact) => fact.redirects)].flatMap(({ target, access, cwd }) => {
    if (target === null || (access !== how && access !== 'read-write')) return []
    return (target.values ?? []).map((value) => posix.resolve(cwd ?? '/', value))
  })
}

function literalFolder(path: string): string {
  const parts = path.split('/')
  const at = parts.findIndex(isGlob)
  return at < 0 ? path : parts.slice(0, at).join('/') || '/'
}
