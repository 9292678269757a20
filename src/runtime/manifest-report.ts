/** What surfaces show of a manifest: its problems, its effective values, and names that were mistyped. */

export { effectiveValues, renderEffective } from '../manifest/effective.ts'
export { lintManifest } from '../manifest/lint.ts'
export { renderProblem } from '../manifest/problem.ts'
export { nearest } from '../manifest/suggest.ts'
