/** The word that a mistyped one was probably meant to be, for the surfaces. */

export { nearest } from '../manifest/schema/suggest.ts'
