/** What surfaces show of a manifest: its problems and its effective values. */

export { effectiveValues, renderEffective } from '../manifest/effective.ts'
export { lintManifest } from '../manifest/lint.ts'
export { renderProblem } from '../manifest/problem.ts'
