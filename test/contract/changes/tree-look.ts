/** A tree as text: names, kinds, modes, links, times and contents, to be compared. */

import { createHash } from 'node:crypto'
import { accessSync, constants, lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Every entry below a folder. */
export function lookAtTree(folder: string, times: 'times' | 'no times'): string[] {
  const lines: string[] = []
  const walk = (path: Buffer) => {
    const stat = lstatSync(path, { bigint: true })
    const mode = (stat.mode & 0o177777n).toString(8)
    const content = stat.isFile()
      ? readable(path, () => createHash('sha256').update(readFileSync(path)).digest('base64url'), 'closed')
      : stat.isSymbolicLink()
        ? readlinkSync(path, 'buffer').toString('latin1')
        : ''
    // What goes through a pipe changes its time.
    const time = times === 'times' && !stat.isFIFO() ? ` ${stat.mtimeNs}` : ''
    lines.push(`${path.toString('latin1')} ${mode} ${content}${time}`)
    if (!stat.isDirectory()) return
    for (const name of readable(path, () => readdirSync(path, 'buffer'), []).sort(Buffer.compare))
      walk(Buffer.concat([path, Buffer.from('/'), name]))
  }
  walk(Buffer.from(folder))
  return lines
}

/** What can be read of a path, or a substitute: only root reads a file, and only root lists a folder, of any mode. */
function readable<T>(path: Buffer, read: () => T, closed: T): T {
  const wanted = lstatSync(path).isDirectory() ? constants.R_OK | constants.X_OK : constants.R_OK
  try {
    accessSync(path, wanted)
  } catch {
    return closed
  }
  return read()
}
