/** Finds the file outside the sandbox without which a program does not start inside. */

import { readlinkSync } from 'node:fs'
import { posix } from 'node:path'
import { interpreterPath } from '../project/place/installers.ts'
import { attempt } from '../system/fault.ts'
import type { Files } from '../system/files.ts'
import { withTilde } from './outside-words.ts'

export interface ProgramPlaces {
  readonly cwd: string
  readonly home: string
  /** The person's PATH. */
  readonly path: string
  readonly files: Pick<Files, 'canonical' | 'exists' | 'readText'>
  /** Whether the command sees a canonical path. */
  readonly isShown: (path: string) => boolean
}

export interface HiddenProgram {
  /** What to show for it: the folder of an installation, or the file. */
  readonly place: string
  /** How the program depends on it, in words. */
  readonly why: string
}

/** Scripts that interpret scripts, and links to links. */
const MOST_STEPS = 8

/** Follows links and first lines up to the first file that is not shown, or null. */
export function hiddenProgram(program: string, places: ProgramPlaces): HiddenProgram | null {
  const { cwd, home, path, files } = places
  const find = (name: string | null): string | null => {
    if (name === null) return null
    if (name.includes('/')) return posix.resolve(cwd, name)
    const folder = path.split(':').find((entry) => entry.startsWith('/') && files.exists(`${entry}/${name}`))
    return folder === undefined ? null : `${folder}/${name}`
  }
  let named = find(program)
  let how = ''
  for (let step = 0; step < MOST_STEPS && named !== null && files.exists(named); step++) {
    const hidden = firstHidden(named, places)
    if (hidden !== null) {
      const shown = withTilde(hidden, home)
      const isLink = hidden !== named
      const said = isLink ? `a link to ${shown}` : how === '' ? `in ${withTilde(posix.dirname(hidden), home)}` : ''
      const subject = how === '' ? 'It is' : `${how} ${withTilde(named, home)}${isLink ? ',' : ''}`
      return {
        place: installationOf(hidden, home),
        why: `${subject}${said && ` ${said}`}, which the sandbox does not show`,
      }
    }
    how = `The first line of ${withTilde(named, home)} names`
    named = find(interpreterPath(files.canonical(named), files))
  }
  return null
}

/** The first of a path and its link targets that is hidden. */
function firstHidden(path: string, { files, isShown }: ProgramPlaces): string | null {
  let at = path
  for (let step = 0; step < MOST_STEPS; step++) {
    const own = posix.join(files.canonical(posix.dirname(at)), posix.basename(at))
    if (!isShown(own)) return at
    const target = attempt(() => readlinkSync(own), null)
    if (target === null) return null
    at = posix.resolve(posix.dirname(own), target)
  }
  return null
}

/** A program in a `bin` folder usually needs what lies beside that folder. */
function installationOf(file: string, home: string): string {
  const folder = posix.dirname(file)
  const above = posix.dirname(folder)
  const shared = ['/', home, posix.dirname(home), `${home}/.local`]
  if (posix.basename(folder) === 'bin' && !shared.includes(above)) return above
  return shared.includes(folder) ? file : folder
}
