/** Program starts of a command, as the init asks about them while it runs (native/programs/). */

import { decodePath } from '../files/path-bytes.ts'

/** The starts that the init asks about: see `programTable`. */
export interface ProgramPlan {
  /** Lines of native/programs/table.c. */
  readonly lines: readonly string[]
}

/** A file that runs with words. */
interface ProgramImage {
  /** Canonical. */
  readonly file: string
  /** Names of programs in the table that this file is a link to or a copy of. */
  readonly aliases: readonly string[]
  readonly argv: readonly string[]
}

/** One program start, read from the process that makes it. */
export interface ProgramStart extends ProgramImage {
  /** Canonical. */
  readonly cwd: string
  /** How the caller names the program. */
  readonly path: string
  /** The interpreter that the file names in its first line; null where it names none. */
  readonly interpreter: ProgramImage | null
  /** The processes above it, the caller first, each as its words. */
  readonly chain: readonly string[]
  /** True when there are more words than these. */
  readonly cut: boolean
}

export interface RanProgram {
  readonly pid: number
  /** The process that started it. */
  readonly parent: number
  /** Of its file. */
  readonly name: string
  /** The first of its words, up to a length. */
  readonly words: readonly string[]
}

/** A program that makes a connection (native/programs/callers.c). */
export interface Caller extends ProgramImage {
  readonly number: number
  /** The number of the program that it comes from; 0 for one without. */
  readonly parent: number
  /** What a process says of itself, which proves nothing. */
  readonly plain: boolean
  /** True when there are more words or variables than these. */
  readonly cut: boolean
  /** `NAME=VALUE` of those that the command was not started with. */
  readonly variables: readonly string[]
}

/** Decides a start. False: the caller gets EPERM. */
export type ProgramJudge = (start: ProgramStart) => boolean | Promise<boolean>

function textsIn(bytes: Buffer): readonly string[] {
  const texts = bytes.toString('latin1').replace(/\0$/, '').split('\0')
  return texts.map((text) => decodePath(Buffer.from(text, 'latin1')))
}

/** Parses a program that ran (native/programs/tree.c). */
export function parseProgram(pid: number, parent: number, bytes: Buffer): RanProgram {
  const [name = '', ...words] = textsIn(bytes)
  return { pid, parent, name, words }
}

/** Parses a program that makes a connection; null for one that is not well-formed. */
export function parseCaller(number: number, parent: number, bytes: Buffer): Caller | null {
  if (bytes.at(-1) !== 0) return null
  const [mark, file = '', aliases = '', count, ...rest] = textsIn(bytes)
  const words = Number(count)
  if (!Number.isInteger(words) || words < 0 || words > rest.length) return null
  return {
    number,
    parent,
    plain: mark === 'p',
    cut: mark === 'c',
    file,
    aliases: aliases.split('/').filter((name) => name !== ''),
    argv: rest.slice(0, words),
    variables: rest.slice(words),
  }
}

/** Parses the text of one start (native/programs/start.c); null for one that is not well-formed. */
export function parseStart(bytes: Buffer): ProgramStart | null {
  if (bytes.at(-1) !== 0) return null
  const texts = textsIn(bytes)
  let at = 0
  const next = (): string => texts[at++] ?? ''
  const image = (file: string): ProgramImage | null => {
    const aliases = next()
      .split('/')
      .filter((name) => name !== '')
    const count = Number(next())
    if (!Number.isInteger(count) || count < 0 || at + count > texts.length) return null
    at += count
    return { file, aliases, argv: texts.slice(at - count, at) }
  }
  const [cut, cwd, path] = [next() === 'c', next(), next()]
  const named = image(next())
  const runs = next()
  const interpreter = runs === '' ? null : image(runs)
  if (named === null || (runs !== '' && interpreter === null)) return null
  return { ...named, cut, cwd, path, interpreter, chain: texts.slice(at) }
}
