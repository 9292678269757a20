/** `extract`: an archive unpacked into a directory, as a whole or not at all. */

import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isProtectedStart } from '../../files/protected-paths.ts'
import { Fault } from '../../system/fault.ts'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { ARCHIVE_LIMITS, type ArchiveEntry } from './entry.ts'
import { type PlacedEntry, placeEntries } from './layout.ts'
import { gunzip, isGzip, isTar, readTar } from './tar.ts'
import { isZip, readZip } from './zip.ts'

interface CheckedEntry {
  readonly entry: ArchiveEntry
  readonly path: CheckedPath
}

/** Files that the record names one by one. */
const MAX_NAMED = 200

export interface ExtractInput {
  readonly path: string
  readonly destination: string
}

export async function extract(input: ExtractInput, context: ToolContext): Promise<ToolOutput> {
  const given = input.path
  const archive = context.checked(given)
  const destination = context.checked(input.destination)
  const entries = readArchive(given, context.files.read(archive).bytes)
  const placed = checkPlaces(placeEntries(entries, destination), destination, context)
  await unpack(placed, destination, context)
  const files = placed.filter(({ entry }) => entry.type !== 'directory').map((one) => one.path)
  return {
    text: `Unpacked ${files.length} files from ${given} into ${input.destination}.`,
    data: { destination, files: files.map((file) => posix.relative(destination, file)) },
    files: { read: [archive], written: files.length > MAX_NAMED ? [destination] : files },
  }
}

function readArchive(given: string, bytes: Buffer): ArchiveEntry[] {
  if (isZip(bytes)) return readZip(bytes, ARCHIVE_LIMITS)
  const plain = isGzip(bytes) ? gunzip(bytes, ARCHIVE_LIMITS) : bytes
  if (isTar(plain)) return readTar(plain, ARCHIVE_LIMITS)
  throw new InputError(
    `${given} is not a zip, tar or tar.gz archive; for other formats run their own program with bash`,
  )
}

/** The destination was judged; so is every file in it, because a rule may close a part of an open directory. */
function checkPlaces(
  placed: readonly PlacedEntry[],
  destination: CheckedPath,
  context: ToolContext,
): readonly CheckedEntry[] {
  const granted = context.judge('write', destination).verdict
  return placed.map(({ entry, path: wanted }) => {
    const { path, verdict } = context.judge('write', wanted)
    if (verdict !== 'allow' && verdict !== granted) {
      throw new InputError(
        `the archive holds ${JSON.stringify(entry.name)}, which may not be written below ${destination}; nothing was unpacked`,
      )
    }
    if (entry.type === 'link' && isProtectedStart(posix.basename(path))) {
      throw new InputError(
        `the archive holds ${JSON.stringify(entry.name)} as a link, which would turn its target into protected settings; nothing was unpacked`,
      )
    }
    const there = context.files.stat(path)
    if (there && !(entry.type === 'directory' && there.type === 'directory')) {
      throw new InputError(`${path} already exists, and extract overwrites nothing; choose an empty destination`)
    }
    return { entry, path }
  })
}

async function unpack(placed: readonly CheckedEntry[], destination: CheckedPath, context: ToolContext): Promise<void> {
  const { files, signal } = context
  const made: CheckedPath[] = []
  try {
    made.push(...files.makeDirectory(destination))
    for (const [index, { entry, path }] of placed.entries()) {
      if (index % 64 === 0) await setImmediate()
      signal.throwIfAborted()
      if (entry.type === 'directory') made.push(...files.makeDirectory(path))
      else if (entry.type === 'file') {
        const mode = entry.executable ? 0o777 : 0o666
        const prepared = files.prepare(path, entry.content(), { mode, exclusive: true, sync: false })
        made.push(...prepared.made)
        try {
          prepared.commit()
        } catch (error) {
          prepared.abort()
          throw error
        }
        made.push(path)
      }
    }
    // Links come last, so that nothing is ever written through one.
    for (const { entry, path } of placed) {
      if (entry.type !== 'link') continue
      made.push(...files.makeParents(path))
      files.makeLink(path, entry.target)
      made.push(path)
    }
  } catch (error) {
    for (const path of made.toReversed()) takeBack(path, context)
    throw error
  }
}

function takeBack(path: CheckedPath, context: ToolContext): void {
  try {
    context.files.remove(path, { link: true })
  } catch (error) {
    // Somebody else used it meanwhile; what is theirs stays.
    if (!(error instanceof Fault)) throw error
  }
}
