/** Runners that fetch and run any package by its name: a grant that stops before the name covers only what is known. */

import type { Word } from '../../shell/facts.ts'
import { projectTools } from '../../shell/tables/project-tools.ts'
import type { CommandPattern } from '../command-pattern.ts'

/** Scopes that belong to the makers of known tools; under any other one somebody else may use the tool's name. */
const scopes =
  /^@(?:angular|babel|biomejs|changesets|commitlint|eslint|graphql-codegen|nestjs|playwright|prisma|storybook|swc|tailwindcss|vue)\//

/** A version or a tag. An address or another package (`eslint@npm:other`) runs what it says, whatever name stands before it. */
const version = /(?<=.)@[\w.^~*+-]*$/

/** A package that is a known tool, by its name. */
const isProjectTool = (name: string): boolean => projectTools.has(name.replace(version, '').replace(scopes, ''))

/** A package of this module rather than one that is fetched. */
const isLocalPackage = (name: string): boolean => /^\.{1,2}(\/|$)|\.go$/.test(name) || !/[@.:]/.test(name)

const runners: readonly (readonly [words: readonly string[], isKnown: (name: string) => boolean])[] = [
  [['npx'], isProjectTool],
  [['bunx'], isProjectTool],
  [['pnpx'], isProjectTool],
  [['npm', 'x'], isProjectTool],
  [['npm', 'exec'], isProjectTool],
  [['pnpm', 'dlx'], isProjectTool],
  [['yarn', 'dlx'], isProjectTool],
  [['bun', 'x'], isProjectTool],
  [['pipx', 'run'], () => false],
  [['uv', 'tool', 'run'], () => false],
  [['uvx'], () => false],
  [['go', 'run'], isLocalPackage],
]

/** False when the command runs a package that the grant's own words do not reach, and that is not a known tool. */
export function namesPackage(pattern: CommandPattern, argv: readonly Word[]): boolean {
  const runner = runners.find(([words]) => words.every((word, index) => argv[index]?.values?.[0] === word))
  if (runner === undefined) return true
  const [words, isKnown] = runner
  const at = argv.findIndex(
    (word, index) => index >= words.length && !(word.values?.[0] ?? word.prefix).startsWith('-'),
  )
  if (at < 0 || pattern.words.length > at) return true
  const values = argv[at]?.values
  return values?.length === 1 && isKnown(values[0] ?? '')
}
