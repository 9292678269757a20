/** A tree as text: names, kinds, modes, links, times and contents, to be compared. */

import { createHash } from 'node:crypto'
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Every entry below a folder. */
export function lookAtTree(folder: string, times: 'times' | 'no times'): string[] {
  const lines: string[] = []
  const walk = (path: Buffer) => {
    const stat = lstatSync(path, { bigint: true })
    const mode = (stat.mode & 0o177777n).toString(8)
    const content = stat.isFile()
      ? createHash('sha256').update(readFileSync(path)).digest('base64url')
      : stat.isSymbolicLink()
        ? readlinkSync(path, 'buffer').toString('latin1')
        : ''
    const time = times === 'times' ? ` ${stat.mtimeNs}` : ''
    lines.push(`${path.toString('latin1')} ${mode} ${content}${time}`)
    if (!stat.isDirectory()) return
    for (const name of readdirSync(path, 'buffer').sort(Buffer.compare))
      walk(Buffer.concat([path, Buffer.from('/'), name]))
  }
  walk(Buffer.from(folder))
  return lines
}
