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
  /** Variables that move folders, with their usual place. */
  readonly moves?: Readonly<Record<string, string>>
}

const below = (place: string, ...names: readonly string[]): string[] => names.map((name) => `${place}/${name}`)

/** The installers, with what their first folders link to. */
export const INSTALLERS: readonly Installer[] = [
  // The person's own folders contain other things too, so only the program and its link targets are
  // shown.
  ...['~/.local/bin', '~/bin'].map((folder) => ({ name: folder, folders: [folder], shows: 'program' as const })),
  {
    name: 'pipx',
    folders: ['~/.local/share/pipx/venvs', '~/.local/share/pipx/shared', '~/.local/pipx/venvs'],
    moves: { PIPX_HOME: '~/.local/share/pipx' },
  },
  {
    name: 'uv',
    folders: below('~/.local/share/uv', 'tools', 'python'),
    moves: { UV_TOOL_DIR: '~/.local/share/uv/tools', UV_PYTHON_INSTALL_DIR: '~/.local/share/uv/python' },
  },
  {
    name: 'cargo',
    folders: ['~/.cargo/bin', '~/.rustup/toolchains', '~/.rustup/settings.toml'],
    moves: { CARGO_HOME: '~/.cargo', RUSTUP_HOME: '~/.rustup' },
  },
  { name: 'nvm', folders: ['~/.nvm/versions'], moves: { NVM_DIR: '~/.nvm' } },
  { name: 'fnm', folders: ['~/.local/share/fnm', '~/.fnm'] },
  { name: 'volta', folders: below('~/.volta', 'bin', 'tools'), moves: { VOLTA_HOME: '~/.volta' } },
  { name: 'n', folders: below('~/.n', 'bin', 'lib'), moves: { N_PREFIX: '~/.n' } },
  { name: 'npm', folders: below('~/.npm-global', 'bin', 'lib') },
  { name: 'pnpm', folders: ['~/.local/share/pnpm'] },
  { name: 'yarn', folders: ['~/.yarn/bin', '~/.config/yarn/global/node_modules'] },
  { name: 'bun', folders: ['~/.bun/bin', '~/.bun/install/global'], moves: { BUN_INSTALL: '~/.bun' } },
  { name: 'deno', folders: ['~/.deno/bin'], moves: { DENO_INSTALL: '~/.deno' } },
  {
    name: 'pyenv',
    folders: below('~/.pyenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins', 'pyenv.d', 'completions'),
    moves: { PYENV_ROOT: '~/.pyenv' },
  },
  {
    name: 'rbenv',
    folders: below('~/.rbenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins', 'rbenv.d'),
    moves: { RBENV_ROOT: '~/.rbenv' },
  },
  {
    name: 'nodenv',
    folders: below('~/.nodenv', 'bin', 'shims', 'libexec', 'versions', 'version', 'plugins'),
    moves: { NODENV_ROOT: '~/.nodenv' },
  },
  {
    name: 'asdf',
    folders: [
      ...below('~/.asdf', 'bin', 'shims', 'lib', 'libexec', 'installs', 'plugins', 'asdf.sh'),
      '~/.tool-versions',
    ],
    moves: { ASDF_DATA_DIR: '~/.asdf' },
  },
  {
    name: 'mise',
    folders: below('~/.local/share/mise', 'bin', 'shims', 'installs'),
    moves: { MISE_DATA_DIR: '~/.local/share/mise' },
  },
  { name: 'go', folders: ['~/go/bin', '~/sdk'], moves: { GOPATH: '~/go' } },
  { name: 'sdkman', folders: ['~/.sdkman/candidates'], moves: { SDKMAN_DIR: '~/.sdkman' } },
  { name: 'ghcup', folders: below('~/.ghcup', 'bin', 'ghc') },
  { name: 'dotnet', folders: ['~/.dotnet'] },
  ...['/home/linuxbrew/.linuxbrew', '~/.linuxbrew'].map((place) => ({
    name: 'homebrew',
    folders: below(place, 'bin', 'sbin', 'Cellar', 'opt', 'lib', 'libexec', 'share', 'include', 'Homebrew/Library'),
  })),
]

interface Machine {
  readonly home: string
  readonly env: Readonly<Record<string, string | undefined>>
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
export function installersOnPath(machine: Pick<Machine, 'home' | 'env'>): readonly string[] {
  const entries = pathOf(machine).map((entry) => posix.normalize(entry))
  const found = INSTALLERS.filter((one) => foldersOf(one, machine).some((folder) => entries.includes(folder)))
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

  constructor(machine: Machine, files: FileQueries) {
    this.#own = machine.own.map((place) => files.canonical(place))
    this.#home = machine.home
    this.#files = files
    this.#path = pathOf(machine)
    this.#rows = INSTALLERS.map((row) => ({ ...row, folders: foldersOf(row, machine) }))
    this.#isOnPath = this.#path.some((entry) => this.#rowsOf(entry).length > 0 || this.#isEnvironment(entry))
  }

  addWord(word: string, steps = MOST_STEPS): void {
    const path = word.startsWith('~/') ? this.#home + word.slice(1) : word.includes('/') ? word : this.#onPath(word)
    if (path === null || !posix.isAbsolute(path)) return
    if (this.#rowsOf(path).length > 0) this.#add(posix.normalize(path), steps)
    else if (this.#isEnvironment(posix.dirname(path))) this.#addInterpreter(`${posix.dirname(path)}/python`, steps)
  }

  /** Whether it contains the programs of a Python virtual environment: all run by its `python`. */
  #isEnvironment(folder: string): boolean {
    return folder.endsWith('/bin') && this.#files.exists(`${posix.dirname(folder)}/pyvenv.cfg`)
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
    const interpreter = interpreterPath(target, this.#files)
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
}

/** The path in a script's first line, or the name that `env` searches for. */
export function interpreterPath(path: string, files: Pick<Files, 'readText'>): string | null {
  let line: string
  try {
    ;[line = ''] = files.readText(path, MOST_SCRIPT_BYTES).split('\n', 1)
  } catch {
    return null
  }
  const [program = '', ...rest] = line.startsWith('#!') ? line.slice(2).trim().split(/\s+/) : []
  if (posix.basename(program) !== 'env') return program === '' ? null : program
  return rest.find((word) => !word.startsWith('-') && !word.includes('=')) ?? null
}

function pathOf({ env }: Pick<Machine, 'env'>): readonly string[] {
  return (env.PATH ?? '').split(':').filter((entry) => posix.isAbsolute(entry))
}

/** The folders of an installer, where they usually are and where its variables say. */
function foldersOf({ folders, moves = {} }: Installer, { home, env }: Pick<Machine, 'home' | 'env'>): string[] {
  const moved = Object.entries(moves).flatMap(([name, usual]) => {
    const place = posix.normalize(env[name] || '.').replace(/\/$/, '')
    // A folder above the person's own programs is not one installer's.
    if (!posix.isAbsolute(place) || isInside(`${home}/.local/bin`, place)) return []
    return folders.filter((folder) => isInside(folder, usual)).map((folder) => place + folder.slice(usual.length))
  })
  return [...folders.map((folder) => (folder.startsWith('~/') ? home + folder.slice(1) : folder)), ...moved]
}
