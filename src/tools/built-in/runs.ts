/**
 * Implementations of the file and web tools, loaded with the first run: decisions do not need them.
 */

export { extract } from '../archive/extract.ts'
export { edit } from '../files/edit.ts'
export { chmod, copy, deletePath, list, mkdir, move, stat, write } from '../files/file-runs.ts'
export { read } from '../files/read.ts'
export { summary } from '../files/summary.ts'
export { applyPatch } from '../patch/apply-patch.ts'
export { glob } from '../search/glob.ts'
export { grep } from '../search/grep.ts'
export { http, webfetch } from '../web/http.ts'
