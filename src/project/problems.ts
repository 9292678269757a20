/** Problems and effective values of a manifest, for surfaces. */

export { lintManifest } from '../manifest/check/lint.ts'
export { effectiveValues, renderEffective } from '../manifest/effective.ts'
export { type Problem, renderProblem } from '../manifest/toml/problem.ts'
