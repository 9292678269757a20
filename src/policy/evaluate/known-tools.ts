/** Tools whose hosts are for them and their own helpers alone, because it is known what they start (N9). PURE. */

import { matchSegment } from '../../files/glob.ts'
import { usesNetwork } from './network-use.ts'

export interface KnownTool {
  readonly programs: readonly string[]
  /** It looks for code in no folder that a command may write. */
  readonly closed: boolean
  /** Uses that do not run the project's code; null: all. A grant's hosts for other uses are for that code too. */
  readonly alone: readonly string[] | null
}

const TOOLS: readonly KnownTool[] = [
  { programs: ['git', 'git-lfs', 'gh', 'glab'], closed: true, alone: null },
  { programs: ['cargo'], closed: true, alone: 'build check clippy fetch update install add search publish'.split(' ') },
  { programs: ['go'], closed: true, alone: 'build install get mod vet list work'.split(' ') },
  { programs: ['npm', 'npx'], closed: false, alone: 'install i ci add update audit outdated view publish'.split(' ') },
  { programs: ['pip', 'pip3', 'pip3.*'], closed: false, alone: null },
  { programs: ['curl', 'wget'], closed: false, alone: null },
  { programs: ['ssh', 'scp', 'sftp'], closed: false, alone: null },
]

/** The tool that a program is, by its plain name. */
export function knownTool(name: string): KnownTool | null {
  return TOOLS.find(({ programs }) => programs.some((program) => matchSegment(program, name))) ?? null
}

/** Whether hosts that a grant gives this use of a tool are for the tool alone. */
export function keepsHosts({ alone }: KnownTool, words: readonly string[]): boolean {
  return alone === null || usesNetwork(alone, words)
}
