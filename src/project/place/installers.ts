/**
 * Programs installed below home, and what they need: one row per installer. A row names program
 * folders only, never settings or credentials.
 */

import { posix } from 'node:path'
import { isInside, SYSTEM_PATHS } from '../../files/baseline.ts'
import { secretOf } from '../../files/secret-shapes.ts'
import type { Files } from '../../system/files.ts'

interface Installer {
  readonly name: string
  readonly folders: readonly string[]
  /** Shows the whole folders by default. */
  readonly shows?: 'program'
}

const below = (place: string, ...names: readonly string[]): string[] => names.map((name) => `${place}/${name}`)

/** The installers, with what their first folders link to. */
export const INSTALLERS: readonly Installer[] = [
  // The person's own folders contain other things too, so only the program and its link targets are
  // shown.
  ...['~/.local/bin', '~/bin'].map((folder) => ({ name: folder, folders: [folder], shows: 'program' as const })),
  { name: 'pipx', folders: ['~/.local/share/pipx/venvs', '~/.local/share/pipx/shared', '~/.local/pipx/venvs'] },
  { name: 'uv', folders: below('~/.local/share/uv', 'tools', 'python') },
  { name: 'cargo', folders: ['~/.cargo/bin', '~/.rustup/toolchains', '~/.rustup/settings.toml'] },
  { name: 'nvm', folders: ['~/.nvm/versions'] },
  { name: 'fnm', folders: ['~/.local/share/fnm', '~/.fnm'] },
  { name: 'volta', folders: below('~/.volta', 'bin', 'tools') },
  { name: 'n', folders: below('~/.n', 'bin', 'lib') },
  { name: 'npm', folders: below('~/.npm-global', 'bin', 'lib') },
  { name: 'pnpm', folders: ['~/.local/share/pnpm'] },
  { name: 'yarn', folders: ['~/.yarn/bin', '~/.config/yarn/global/node_modules'] },
  { name: 'bun', folders: ['~/.bun/bin', '~/.bun/install/global'] },
  { name: 'deno', folders: ['~/.deno/bin'] },
  {
    name: 'pyenv',
    folders: below('~/.pyenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins', 'pyenv.d', 'completions'),
  },
  { name: 'rbenv', folders: below('~/.rbenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins', 'rbenv.d') },
  { name: 'nodenv', folders: below('~/.nodenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins') },
  {
    name: 'asdf',
    folders: [
      ...below('~/.asdf', 'bin', 'shims', 'lib', 'libexec', 'installs', 'plugins', 'asdf.sh'),
      '~/.tool-versions',
    ],
  },
  { name: 'mise', folders: below('~/.local/share/mise', 'bin', 'shims', 'installs') },
  { name: 'go', folders: ['~/go/bin', '~/sdk'] },
  { name: 'sdkman', folders: ['~/.sdkman/candidates'] },
  { name: 'ghcup', folders: below('~/.ghcup', 'bin', 'ghc') },
  { name: 'dotnet', folders: ['~/.dotnet'] },
  ...['/home/linuxbrew/.linuxbrew', '~/.linuxbrew'].map((place) => ({
    name: 'homebrew',
    folders: below(place, 'bin', 'sbin', 'Cellar', 'opt', 'lib', 'libexec', 'share', 'include', 'Homebrew/Library'),
  })),
]

interface Machine {
  readonly home: string
  readonly path: string
  /** Cordon's own places, which no link opens. */
  readonly own: readonly string[]
}

export interface InstalledPlaces {
  readonly places: readonly string[]
  /** Links to show as links; their targets are in `places`. */
  readonly links: readonly string[]
}

type FileQueries = Pick<Files, 'exists' | 'canonical' | 'isDirectory' | 'isLink' | 'readText'>

/** The places that installed programs need. */
export function installedPlaces(words: readonly string[], machine: Machine, files: FileQueries): InstalledPlaces {
  if (words.length === 0) return { places: [], links: [] }
  const search = new Search(machine, files)
  for (const word of words) search.addWord(word)
  return { places: [...search.places], links: [...search.links] }
}

/** The installers on this PATH, for people. */
export function installersOnPath({ home, path }: Pick<Machine, 'home' | 'path'>): readonly string[] {
  const folders = path.split(':').map((entry) => posix.normalize(entry))
  const found = INSTALLERS.filter((one) => one.folders.some((folder) => folders.includes(expanded(folder, home))))
  return [...new Set(found.map(({ name }) => name))]
}

/** A script's interpreter may be a link to another installer's. */
const MOST_STEPS = 4
const MOST_SCRIPT_BYTES = 256 * 1024

class Search {
  readonly places: Set<string> = new Set()
  readonly links: Set<string> = new Set()
  readonly #home: string
  readonly #path: readonly string[]
  readonly #files: FileQueries
  readonly #own: readonly string[]
  readonly #rows: readonly Installer[]
  /** If false, no word can name a program of the table. */
  readonly #isOnPath: boolean

  constructor({ home, path, own }: Machine, files: FileQueries) {
    this.#own = own.map((place) => files.canonical(place))
    this.#home = home
    this.#files = files
    this.#path = path.split(':').filter((entry) => posix.isAbsolute(entry))
    this.#rows = INSTALLERS.map((row) => ({ ...row, folders: row.folders.map((folder) => expanded(folder, home)) }))
    this.#isOnPath = this.#path.some((entry) => this.#rowsOf(entry).length > 0)
  }

  addWord(word: string, steps = MOST_STEPS): void {
    const path = word.startsWith('~/') ? this.#home + word.slice(1) : word.includes('/') ? word : this.#onPath(word)
    if (path !== null && posix.isAbsolute(path) && this.#rowsOf(path).length > 0)
      this.#add(posix.normalize(path), steps)
  }

  #onPath(name: string): string | null {
    if (!this.#isOnPath) return null
    const found = this.#path.find((entry) => this.#files.exists(`${entry}/${name}`))
    return found === undefined ? null : `${found}/${name}`
  }

  #rowsOf(path: string): readonly Installer[] {
    return this.#rows.filter(({ folders }) => folders.some((folder) => isInside(path, folder)))
  }

  #add(path: string, steps: number): void {
    if (steps === 0 || !this.#files.exists(path) || this.#files.isDirectory(path)) return
    const target = this.#files.canonical(path)
    if (this.#isClosed(target)) return
    const rows = [...this.#rowsOf(path), ...this.#rowsOf(target)]
    for (const folder of rows.flatMap(({ folders, shows }) => (shows === 'program' ? [] : folders)))
      if (this.#files.exists(folder) && !this.#isClosed(this.#files.canonical(folder))) this.places.add(folder)
    // A link may point to a single program elsewhere; its neighbours stay hidden.
    if (!SYSTEM_PATHS.some((place) => isInside(target, place))) this.places.add(target)
    if (rows.some(({ shows }) => shows === 'program') && this.#files.isLink(path)) this.links.add(path)
    const interpreter = this.#interpreter(target)
    if (interpreter === null) return
    if (posix.isAbsolute(interpreter)) this.#addInterpreter(interpreter, steps - 1)
    else this.addWord(interpreter, steps - 1)
  }

  /** A link of the person's may point to home, to a secret or to Cordon's own files. */
  #isClosed(target: string): boolean {
    const isOwn = this.#own.some((place) => isInside(target, place))
    return isOwn || isInside(this.#home, target) || secretOf(target, { home: this.#home }) !== null
  }

  /** An interpreter outside the table and the system stays hidden. */
  #addInterpreter(path: string, steps: number): void {
    if (this.#rowsOf(path).length > 0 || this.#rowsOf(this.#files.canonical(path)).length > 0) this.#add(path, steps)
  }

  /** The path in a script's first line, or what `env` finds. */
  #interpreter(path: string): string | null {
    let line: string
    try {
      ;[line = ''] = this.#files.readText(path, MOST_SCRIPT_BYTES).split('\n', 1)
    } catch {
      return null
    }
    const [program = '', ...rest] = line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : []
    if (posix.basename(program) !== 'env') return program === '' ? null : program
    return rest.find((word) => !word.startsWith('-') && !word.includes('=')) ?? null
  }
}

function expanded(folder: string, home: string): string {
  return folder.startsWith('~/') ? home + folder.slice(1) : folder
}
