/** For programs that tests start from source their own with variables: without this each of them compiles all of it again. */

/** The variable that names the place of a run for compiled code (scripts/test.ts), if there is one. */
export const COMPILED: Readonly<Record<string, string>> =
  process.env.NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE }
