/** The discovery brief (F3): a JSON file whose `in_scope_files` list what a session may change. */

import { parsePathPattern } from '../files/path-pattern.ts'
import { Fault, messageOf } from '../system/fault.ts'
import type { Files } from '../system/files.ts'

const MAX_BYTES = 1024 * 1024

/** The brief's globs; a missing brief has none. Throws a Fault for an invalid one. */
export function readBrief(path: string, files: Files): readonly string[] {
  if (files.isMissing(path)) return []
  const wrong = (why: string, cause?: unknown) =>
    new Fault('discovery-brief', `the discovery brief ${path} ${why}`, {
      cause,
      remedy: 'Write {"in_scope_files": ["src/**"]} there, or remove files.discovery_brief from the manifest.',
    })
  let value: unknown
  try {
    value = JSON.parse(files.readText(path, MAX_BYTES))
  } catch (error) {
    throw wrong(`cannot be read: ${messageOf(error)}`, error)
  }
  const globs = typeof value === 'object' && value !== null && 'in_scope_files' in value ? value.in_scope_files : null
  if (!Array.isArray(globs) || !globs.every((glob) => typeof glob === 'string')) {
    throw wrong('has no list of texts "in_scope_files"')
  }
  for (const glob of globs) {
    const parsed = parsePathPattern(glob, { root: '/', home: '/', files: null })
    if ('problem' in parsed) throw wrong(`names ${JSON.stringify(glob)}: ${parsed.problem}`)
  }
  return globs
}
