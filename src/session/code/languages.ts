/** The languages of `sandbox_run` and their programs. */

import { type ContainerRoot, containerRoot, isInRoot } from '../../sandbox/oci/container-root.ts'

export interface Language {
  readonly name: string
  /** Candidate programs; the first that exists is used. */
  readonly programs: readonly string[]
  /** Arguments between program and source. */
  readonly words: readonly string[]
  /** The source's file name, for programs that check the extension. */
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

/** The language's program as a container sees it, or null. */
export function programOf(language: Language, layout: ContainerRoot = containerRoot()): string | null {
  const places = language.programs.flatMap((name) => FOLDERS.map((folder) => `${folder}/${name}`))
  return places.find((path) => isInRoot(path, layout)) ?? null
}

/** The languages available in containers here. */
export function languagesHere(): readonly Language[] {
  const layout = containerRoot()
  return LANGUAGES.filter((language) => programOf(language, layout) !== null)
}
