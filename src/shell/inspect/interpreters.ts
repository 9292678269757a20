/** Lists the interpreters, and the command grants that would hand out all of them. */

import { familyOf, type GrantRefusal, judgeGrant, withoutOptions } from '../tables/interpreter-names.ts'
import { type Arg, parseArgs } from '../tables/options.ts'
import { findProgram, programName } from '../tables/programs/registry.ts'
import { compileSpec } from '../tables/spec.ts'

/** The family of an interpreter by the name of its program (`python3.11`, `/usr/bin/node`); null for anything else. */
export function interpreterOf(name: string): { family: string } | null {
  const base = programName(name)
  const family = familyOf.get(base) ?? familyOf.get(base.replace(/-?\d[\d.]*$/, ''))
  return family === undefined ? null : { family }
}

/** Subcommands of deno and bun that do one fixed job and run no other code. */
const fixedJobs: Readonly<Record<string, RegExp>> = {
  deno: /^(test|fmt|lint|check|task|bench|doc|compile|bundle|cache|info|coverage|types|publish|add|remove|install|outdated|--version|--help)$/,
  bun: /^(run|test|install|i|add|remove|rm|update|outdated|pm|build|create|init|link|unlink|publish|x|audit|why|patch|info|--version|--help)$/,
}

const openModule = /^(code|pdb|runpy|timeit|trace|cProfile|profile|asyncio|IPython|idlelib|ptpython|bpython)$/

/** Refuses grants that hand out an interpreter or another user's rights, with all that the tables know. */
export function grantRefusal(words: readonly string[]): GrantRefusal | null {
  const judged = judgeGrant(words, pinsScript)
  if (judged === 'unknown') throw new Error('a grant is unknown although the tables were asked')
  return judged
}

const span = { start: 0, end: 0 }
const asArg = (text: string): Arg => ({
  text,
  prefix: text,
  pattern: null,
  word: { text, values: [text], dynamic: [], prefix: text, pattern: null, splits: false, span },
})

/** Whether these arguments of an interpreter name a file of the project, or a fixed job. */
export function pinsScript(program: string, rest: readonly string[]): boolean {
  const base = programName(program)
  if (rest.length > 0 && rest.every((word) => /^(--version|-V|--help|-h|-v|-version)$/.test(word))) return true
  const jobs = fixedJobs[base]
  if (jobs !== undefined) {
    const words = withoutOptions(rest)
    if (jobs.test(rest[0] ?? '')) return true
    if (base === 'deno' && words[0] === 'run')
      return words.length > 1 && words.slice(1).some((word) => !word.startsWith('-'))
    return words.length > 0 && rest[0] === words[0] && /[./]/.test(words[0] ?? '') && words[0] !== '-'
  }
  const spec = findProgram(base)
  const parsed = parseArgs(rest.map(asArg), compileSpec(spec ?? { stops: true }))
  const module = parsed.options.find((option) => option.name === '-m')?.value?.text
  if (parsed.options.some((option) => option.row?.role === 'code' || option.row?.role === 'load')) return false
  if (module !== undefined && module !== null) return !openModule.test(module)
  if (parsed.options.some((option) => option.name === '--test' || option.name === '-jar')) return true
  const script = parsed.operands[0]?.text
  return script != null && script !== '-' && script !== '' && !/^\/(dev|proc)\//.test(script)
}
