/** Suggestions for mistyped words, for surfaces. */

export { nearest } from '../manifest/schema/suggest.ts'
