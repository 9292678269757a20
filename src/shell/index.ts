/** The public face of the shell analysis. */

export { analyze } from './analyze.ts'
export type * from './facts.ts'
