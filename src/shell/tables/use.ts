/** One simple command as the rules see it, and their findings. */

import type { AssignmentFact, ChangeKind, Effect, Hazard, HostUse, PathUse, Sending, Span, Word } from '../facts.ts'
import type { Arg, OptionUse } from './options.ts'
import { asUrl, certainHost, isRemotePath, isSink, isUrl, looksLikePath, pathParts, resolvePath } from './places.ts'

export type { Effect } from '../facts.ts'

/** Where a command runs. */
export interface Place {
  readonly cwd: string | null
  readonly fallback: string | null
  readonly home: string
  /** Directories whose files are kept. */
  readonly roots: readonly string[]
  readonly stdin: 'known' | 'unknown' | 'none'
  /** The text of its standard input, when that is known. */
  readonly input: string | null
  /** Variables that are set for it. */
  readonly assignments: readonly AssignmentFact[]
}

/** The findings of the tables about a command. */
export interface Inspection {
  readonly hazards: Hazard[]
  readonly paths: PathUse[]
  readonly hosts: HostUse[]
  readonly effect: Effect
  readonly effectNote: string
  /** The words of a kind of remote write; null if no grant can name it. */
  readonly kind: ChangeKind | null
  /** The commands that it runs as its own work. */
  readonly delegates: readonly (readonly Word[])[]
}

/** Collects findings; the same one is kept once. */
export class Findings {
  readonly hazards: Hazard[] = []
  readonly paths: PathUse[] = []
  readonly hosts: HostUse[] = []
  readonly delegates: (readonly Word[])[] = []
  #seen: Set<string> | null = null
  /** The index of a path in `paths`. */
  #at: Map<string, number> | null = null
  readonly #place: Place

  constructor(place: Place) {
    this.#place = place
  }

  #isNew(kind: string, ...parts: readonly unknown[]): boolean {
    const key = JSON.stringify([kind, ...parts])
    this.#seen ??= new Set()
    if (this.#seen.has(key)) return false
    this.#seen.add(key)
    return true
  }

  hazard(code: string, message: string, span: Span, verdict: Hazard['verdict'] = 'ask'): void {
    if (this.#isNew('hazard', code, message, span)) this.hazards.push({ code, message, verdict, span })
  }

  host(url: string, span: Span): void {
    const written = asUrl(url)
    if (this.#isNew('host', written, span)) this.hosts.push({ url: written, span })
  }

  /** A host that an argument names, as far as that is known. */
  hostOf(arg: Arg): void {
    const written = arg.word.text.replace(/["']/g, '')
    this.host(arg.text ?? certainHost(arg.prefix, written) ?? written, arg.word.span)
  }

  /** A file by its text; a relative one is resolved at `cwd`. */
  file(text: string, access: PathUse['access'], span: Span, more: { recursive?: boolean; glob?: boolean } = {}): void {
    if (access === 'write' ? isSink(text) : text === '-' || text === '') return
    const { path, written } = resolvePath(text.replace(/^fileb?:\/\//i, ''), this.#place.cwd, this.#place.home)
    const use = { path, access, written, glob: more.glob ?? false, recursive: more.recursive ?? false, span }
    this.#addPath(use)
  }

  /** The same path by the same word is kept once, as recursive when either is. */
  #addPath(use: PathUse): void {
    const key = `${use.access} ${use.glob} ${use.span.start} ${use.span.end} ${use.path}`
    this.#at ??= new Map()
    const known = this.#at.get(key)
    if (known === undefined) {
      this.#at.set(key, this.paths.length)
      this.paths.push(use)
    } else if (use.recursive) this.paths[known] = use
  }

  /** A file that an argument names, known or not. */
  path(arg: Arg, access: PathUse['access'], recursive = false): void {
    const span = arg.word.span
    if (arg.text !== null) this.file(arg.text, access, span, { recursive })
    else if (arg.pattern !== null && arg.word.dynamic.every((kind) => kind === 'glob'))
      this.file(arg.pattern, access, span, { recursive, glob: true })
    else this.unknownPath(arg.word, arg.prefix, access, recursive)
  }

  /** A file with an unknown name. The sandbox limits what a reader behind xargs or find can see. */
  unknownPath(word: Word, prefix: string, access: PathUse['access'], recursive: boolean): void {
    if (access === 'read' && word.dynamic.length > 0 && word.dynamic.every((kind) => kind === 'input')) return
    if (word.dynamic.length > 0 && word.dynamic.every((kind) => kind === 'process')) return
    const written = prefix.startsWith('/') ? 'absolute' : prefix.startsWith('~') ? 'home' : 'relative'
    const use = { path: null, access, written, glob: false, recursive, span: word.span } as const
    this.#addPath(use)
  }

  /** Whatever in an argument looks like a file or an address. */
  loose(arg: Arg): void {
    if (arg.text === null) {
      if (arg.pattern !== null && arg.word.dynamic.every((kind) => kind === 'glob')) this.path(arg, 'read')
      else if (/^(\/|~|\.\.?\/)/.test(arg.prefix) || arg.word.dynamic.includes('tilde')) this.path(arg, 'read')
      return
    }
    if (isUrl(arg.text)) this.host(arg.text, arg.word.span)
    for (const part of pathParts(arg.text)) this.file(part, 'read', arg.word.span)
  }

  /** A URL, a `host:path`, or a local directory. */
  remote(arg: Arg, access: PathUse['access']): void {
    if (arg.text === null) {
      if (!isUrl(arg.prefix) && !isRemotePath(arg.prefix)) this.path(arg, access)
      else this.hostOf(arg)
    } else if (isUrl(arg.text) || isRemotePath(arg.text)) this.host(arg.text, arg.word.span)
    else if (looksLikePath(arg.text) || arg.text.startsWith('file://'))
      this.file(arg.text.replace(/^file:\/\//, ''), access, arg.word.span, { recursive: true })
  }
}

/** A command after its options were parsed by the table. */
export interface Use {
  /** Name of the program as the table knows it. */
  readonly program: string
  /** The program and the subcommands that the table followed. */
  readonly words: readonly string[]
  readonly options: readonly OptionUse[]
  readonly operands: readonly Arg[]
  /** Operands before a `--`. */
  readonly beforeDashes: number
  /** Every word after the program. */
  readonly args: readonly Arg[]
  readonly argv: readonly Word[]
  readonly place: Place
  readonly span: Span
  readonly found: Findings
  /** Inspects a command that this one runs, and adopts its findings. */
  readonly delegate: (argv: readonly Word[]) => void
  /** Inspects commands inside a text, and adopts their effects. */
  readonly delegateTexts: (commands: readonly (readonly string[])[]) => void
  /** Names the kind of change elsewhere that this is; `sending` if a repository says where. */
  readonly setKind: (words: readonly string[], sending?: Sending) => void
  /** Overrides the effect that the tables give. */
  readonly setEffect: (effect: Effect, note: string) => void
}

/** A rule for what rows cannot say. */
export type Rule = (use: Use) => void

/** Uses of an option, by the first name its row lists (or its own name when no row lists it). */
export function usesOf(use: Use, ...names: readonly string[]): readonly OptionUse[] {
  return use.options.filter((option) => names.includes(option.row?.name ?? option.name) || names.includes(option.name))
}

/** As `has`, and a long option may be shortened: for what makes a command more dangerous, never for what makes it harmless. */
export function mayHave(use: Use, ...names: readonly string[]): boolean {
  const shortened = (given: string): boolean =>
    /^--./.test(given) && names.some((name) => name.startsWith('--') && name.startsWith(given))
  return has(use, ...names) || use.options.some(({ name }) => shortened(name))
}

export function has(use: Use, ...names: readonly string[]): boolean {
  return usesOf(use, ...names).length > 0
}
