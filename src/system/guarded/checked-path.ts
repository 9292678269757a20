/** A canonical path that was judged. Guarded files take no other. */

declare const judged: unique symbol

/** `test/layers` lists the files that may create one. */
export type CheckedPath = string & { readonly [judged]: true }

/** Only for code that has judged the path. */
export function checkedPath(canonical: string): CheckedPath {
  return canonical as CheckedPath
}
