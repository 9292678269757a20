/** A process that swaps a directory and a file for links to the outside, as fast as it can, until it is ended. */

import { renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const [root = ''] = process.argv.slice(2)
const swaps = [
  ['place', 'place.real', 'place.link'],
  ['plain.txt', 'plain.real', 'plain.link'],
].map((names) => names.map((name) => join(root, name)) as [string, string, string])

process.send?.('ready')
// The parent owns the channel; when it ends, so does this loop.
process.on('disconnect', () => process.exit())

// In the moment without the name a tool may make it anew; that one gives way.
function rename(from: string, to: string): void {
  for (;;) {
    try {
      renameSync(from, to)
      return
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return
      giveWay(to)
    }
  }
}

function giveWay(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true })
  } catch {
    // The tool is still filling it: the next attempt clears it.
  }
}

function flip(): void {
  for (let round = 0; round < 200; round++) {
    for (const [name, real, link] of swaps) {
      rename(name, real)
      rename(link, name)
      rename(name, link)
      rename(real, name)
    }
  }
  setImmediate(flip)
}
flip()
