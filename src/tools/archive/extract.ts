/** `extract`: unpacks an archive into a directory, completely or not at all. */

import { posix } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { isBelowGit, isDownwardLink } from '../../files/git-links.ts'
import { comingTogether, isProtectedStart } from '../../files/protected-paths.ts'
import { Fault } from '../../system/fault.ts'
import type { CheckedPath } from '../../system/guarded/guarded-files.ts'
import { InputError, type ToolContext, type ToolOutput } from '../tool.ts'
import { ARCHIVE_LIMITS, type ArchiveEntry } from './entry.ts'
import { gunzip, isGzip, isTar, readTar } from './tar.ts'
import { isZip, readZip } from './zip.ts'

interface CheckedEntry {
  readonly entry: ArchiveEntry
  readonly path: CheckedPath
}

/** Files listed in the record. */
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

/** Judges every file: a rule may close part of an open directory. */
function checkPlaces(
  placed: readonly PlacedEntry[],
  destination: CheckedPath,
  context: ToolContext,
): readonly CheckedEntry[] {
  const granted = context.judge('write', destination).verdict
  const coming = comingTogether(placed.map(({ path }) => path))
  return placed.map(({ entry, path: wanted }) => {
    const { path, verdict } = context.judge('write', wanted, coming)
    if (verdict !== 'allow' && verdict !== granted) {
      throw new InputError(
        `the archive contains ${JSON.stringify(entry.name)}, which may not be written below ${destination}; nothing was unpacked`,
      )
    }
    if (entry.type === 'link' && isProtectedStart(posix.basename(path))) {
      throw new InputError(
        `the archive contains ${JSON.stringify(entry.name)} as a link, which would turn its target into protected settings; nothing was unpacked`,
      )
    }
    if (entry.type === 'link' && isBelowGit(path) && !isDownwardLink(entry.target)) {
      throw new InputError(
        `the archive contains ${JSON.stringify(entry.name)} as a link, through which git would write; nothing was unpacked`,
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
  const created: CheckedPath[] = []
  try {
    created.push(...files.makeDirectory(destination))
    for (const [index, { entry, path }] of placed.entries()) {
      if (index % 64 === 0) await setImmediate()
      signal.throwIfAborted()
      if (entry.type === 'directory') created.push(...files.makeDirectory(path))
      else if (entry.type === 'file') {
        const mode = entry.executable ? 0o777 : 0o666
        const prepared = files.prepare(path, entry.content(), { mode, exclusive: true, sync: false })
        created.push(...prepared.made)
        try {
          prepared.commit()
        } catch (error) {
          prepared.abort()
          throw error
        }
        created.push(path)
      }
    }
    // Links last, so that nothing is written through one.
    for (const { entry, path } of placed) {
      if (entry.type !== 'link') continue
      created.push(...files.makeParents(path))
      files.makeLink(path, entry.target)
      created.push(path)
    }
  } catch (error) {
    for (const path of created.toReversed()) removeCreated(path, context)
    throw error
  }
}

function removeCreated(path: CheckedPath, context: ToolContext): void {
  try {
    context.files.remove(path, { link: true })
  } catch (error) {
    // Somebody else used it; keep it.
    if (!(error instanceof Fault)) throw error
  }
}

interface PlacedEntry {
  readonly entry: ArchiveEntry
  /** Canonical, below the destination. */
  readonly path: string
}

/** Places entries below the destination, or refuses the archive. */
export function placeEntries(entries: readonly ArchiveEntry[], destination: string): PlacedEntry[] {
  const kinds = new Map<string, ArchiveEntry['type']>()
  const placed: PlacedEntry[] = []
  for (const entry of entries) {
    const segments = segmentsOf(entry.name)
    if (segments.length === 0) continue
    const key = segments.join('/')
    const known = kinds.get(key)
    if (known !== undefined && !(known === 'directory' && entry.type === 'directory')) {
      throw new InputError(`the archive contains ${quote(entry.name)} twice`)
    }
    kinds.set(key, entry.type)
    if (entry.type === 'link') checkLink(entry.name, entry.target, segments)
    placed.push({ entry, path: posix.join(destination, key) })
  }
  for (const key of kinds.keys()) {
    for (let above = posix.dirname(key); above !== '.'; above = posix.dirname(above)) {
      const kind = kinds.get(above)
      if (kind !== undefined && kind !== 'directory') {
        throw new InputError(`the archive contains ${quote(key)} below ${quote(above)}, which is a ${kind}`)
      }
    }
  }
  return placed
}

function segmentsOf(name: string): string[] {
  if (name.startsWith('/') || /^[A-Za-z]:/.test(name)) throw trick(name, 'an absolute path')
  if (name.includes('\\')) throw trick(name, 'a backslash')
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (/[\u0000-\u001f\u007f]/.test(name) || !name.isWellFormed()) throw trick(name, 'control characters')
  const segments = name.split('/').filter((segment) => segment !== '' && segment !== '.')
  if (segments.includes('..')) throw trick(name, '".."')
  return segments
}

// `..` may only lead a target, so that every step stays below the destination, even through another
// checked link.
function checkLink(name: string, target: string, segments: readonly string[]): void {
  const steps = target.split('/').filter((segment) => segment !== '' && segment !== '.')
  const climbs = steps.findIndex((step) => step !== '..')
  const up = climbs < 0 ? steps.length : climbs
  const inside = up < segments.length && !steps.slice(up).includes('..')
  if (target === '' || target.startsWith('/') || target.includes('\0') || !inside) {
    throw new InputError(
      `${quote(name)} in the archive is a link to ${quote(target)}, which points outside the destination`,
    )
  }
}

function trick(name: string, what: string): InputError {
  return new InputError(`the archive contains the name ${quote(name)} with ${what}; nothing was unpacked`)
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text)
}
