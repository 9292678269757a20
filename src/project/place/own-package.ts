/** Where Cordon itself is installed among the packages of a project: an agent that may write there must not change it. */

import type { Files } from '../../system/files.ts'

/** The folder of the package, or of its scope; null where Cordon does not run from a `node_modules`. */
export function ownPackage(files: Pick<Files, 'canonical'>, program: string = import.meta.dirname): string | null {
  const own = files.canonical(program)
  const packages = own.lastIndexOf('/node_modules/')
  if (packages < 0) return null
  const depth = own.slice(0, packages).split('/').length + 2
  return own.split('/').slice(0, depth).join('/')
}
