/** Public entry: shell analysis. */

export type * from '../shell/facts.ts'
export { analyze } from '../shell/walk/analyze.ts'
