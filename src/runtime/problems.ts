/** What surfaces show of manifest problems and names that were mistyped. */

export { renderProblem } from '../manifest/problem.ts'
export { nearest } from '../manifest/suggest.ts'
