/** A canonical path that was judged. Guarded files take nothing else, so that an unchecked path cannot be used by accident. */

declare const judged: unique symbol

/** Made where a call is resolved and judged, and of what guarded files made themselves; `test/layers` holds who makes one. */
export type CheckedPath = string & { readonly [judged]: true }

/** For those who have judged the path. */
export function checkedPath(canonical: string): CheckedPath {
  return canonical as CheckedPath
}
