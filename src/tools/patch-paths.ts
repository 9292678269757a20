/** The files a patch touches: "*** Begin Patch" envelopes and unified diffs. */

import { InputError } from './tool.ts'

export interface PatchPaths {
  /** Files whose content decides whether the patch applies. */
  readonly reads: readonly string[]
  readonly writes: readonly string[]
}

/** Reads the file names out of a patch; a patch that names no file is an error, never an empty answer. */
export function patchPaths(patch: string): PatchPaths {
  const lines = patch.split(/\r?\n/)
  const enveloped = lines.some((line) => line.trim() === '*** Begin Patch')
  const paths = enveloped ? envelopePaths(lines) : unifiedPaths(lines)
  if (paths.writes.length === 0) {
    throw new InputError(
      'the patch names no file; give "*** Begin Patch" … "*** End Patch" with "*** Update File: path", or a unified diff with --- and +++ lines',
    )
  }
  return paths
}

function envelopePaths(lines: readonly string[]): PatchPaths {
  const reads = new Set<string>()
  const writes = new Set<string>()
  for (const line of lines) {
    const match = /^\*\*\* (Add File|Update File|Delete File|Move to): ?(.*)$/.exec(line)
    if (!match) continue
    const [, verb, rawPath = ''] = match
    const path = rawPath.trim()
    if (path === '') throw new InputError(`"*** ${verb}:" names no file`)
    writes.add(path)
    if (verb === 'Update File') reads.add(path)
  }
  return { reads: [...reads], writes: [...writes] }
}

function unifiedPaths(lines: readonly string[]): PatchPaths {
  const reads = new Set<string>()
  const writes = new Set<string>()
  for (const [index, line] of lines.entries()) {
    const header = /^(---|\+\+\+) (.+?)(\t.*)?$/.exec(line)
    const isPair = line.startsWith('--- ') ? lines[index + 1]?.startsWith('+++ ') : lines[index - 1]?.startsWith('--- ')
    if (header && isPair) {
      const path = stripPrefix(header[2]!)
      if (path === null) continue
      writes.add(path)
      if (header[1] === '---') reads.add(path)
    }
    const renamed = /^(rename|copy) (from|to) (.+)$/.exec(line)
    if (renamed) (renamed[1] === 'copy' && renamed[2] === 'from' ? reads : writes).add(renamed[3]!)
  }
  return { reads: [...reads], writes: [...writes] }
}

function stripPrefix(name: string): string | null {
  const path = name.replace(/^"(.*)"$/, '$1')
  if (path === '/dev/null') return null
  return path.replace(/^[ab]\//, '')
}
