/** The word that a mistyped one was probably meant to be, for the surfaces. */

export { nearest } from '../manifest/suggest.ts'
