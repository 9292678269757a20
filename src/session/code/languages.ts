/** The languages of `sandbox_run`: which program runs each, and which of them this machine has. */

import { type ContainerRoot, containerRoot, isInRoot } from '../../sandbox/oci/container-root.ts'

export interface Language {
  readonly name: string
  /** Programs by which it is known, the first that is there. */
  readonly programs: readonly string[]
  /** Words between the program and its source. */
  readonly words: readonly string[]
  /** The name of the source, for what checks its ending. */
  readonly source: string
}

export const LANGUAGES: readonly Language[] = [
  { name: 'python', programs: ['python3'], words: ['-I', '-B'], source: 'main.py' },
  { name: 'node', programs: ['node', 'nodejs'], words: [], source: 'main.mjs' },
  { name: 'bash', programs: ['bash'], words: [], source: 'main.sh' },
  { name: 'ruby', programs: ['ruby'], words: [], source: 'main.rb' },
  { name: 'perl', programs: ['perl'], words: [], source: 'main.pl' },
  { name: 'php', programs: ['php'], words: [], source: 'main.php' },
  { name: 'lua', programs: ['lua', 'lua5.4', 'lua5.3'], words: [], source: 'main.lua' },
  { name: 'r', programs: ['Rscript'], words: ['--vanilla'], source: 'main.R' },
  { name: 'awk', programs: ['awk'], words: ['-f'], source: 'main.awk' },
]

const FOLDERS: readonly string[] = ['/usr/local/bin', '/usr/bin', '/bin']

/** The program of a language on this machine, as a container sees it; null when there is none. */
export function programOf(language: Language, layout: ContainerRoot = containerRoot()): string | null {
  const places = language.programs.flatMap((name) => FOLDERS.map((folder) => `${folder}/${name}`))
  return places.find((path) => isInRoot(path, layout)) ?? null
}

/** The languages that containers have here. */
export function languagesHere(): readonly Language[] {
  const layout = containerRoot()
  return LANGUAGES.filter((language) => programOf(language, layout) !== null)
}
