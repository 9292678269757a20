/** What surfaces show of a manifest: its problems and its effective values. */

export { lintManifest } from '../manifest/check/lint.ts'
export { effectiveValues, renderEffective } from '../manifest/effective.ts'
export { type Problem, renderProblem } from '../manifest/toml/problem.ts'
