/** Tools of which it is known what they start: their hosts are for them and for their own helpers, and for nothing else (N9). PURE. */

import { matchSegment } from '../../files/glob.ts'
import { usesNetwork } from './network-use.ts'

export interface KnownTool {
  readonly programs: readonly string[]
  /** Files of its own installation that it starts: programs, or scripts of an interpreter. */
  readonly helpers: readonly RegExp[]
  /** It reaches hosts by ssh, through the scripts that Cordon gives it. */
  readonly ssh: boolean
  /** It looks for code in no folder that a command may write, whatever runs beside it. */
  readonly closed: boolean
  /** Uses that do not run the project's code; null: all. A host that a grant names for another use is meant for that code too. */
  readonly alone: readonly string[] | null
}

const GIT = [/\/(?:lib|libexec)\/git-core\/[^/]+$/, /\/git(?:-lfs)?$/]

const TOOLS: readonly KnownTool[] = [
  { programs: ['git', 'git-lfs', 'gh', 'glab'], helpers: GIT, ssh: true, closed: true, alone: null },
  {
    programs: ['cargo'],
    helpers: [/\/bin\/cargo$/],
    ssh: true,
    closed: true,
    alone:
      'build b check c doc d clippy fetch update install add search publish yank owner login generate-lockfile vendor tree metadata package info remove'.split(
        ' ',
      ),
  },
  {
    programs: ['go'],
    helpers: [/\/bin\/go$/],
    ssh: false,
    closed: true,
    alone: ['build', 'install', 'get', 'mod', 'vet', 'list', 'work'],
  },
  {
    programs: ['npm', 'npx'],
    helpers: [/\/npm\/(?:bin|lib|node_modules)\//],
    ssh: false,
    closed: false,
    alone:
      'install i ci add clean-install update up upgrade audit outdated view info show v search publish unpublish deprecate dist-tag ping whoami login logout adduser dedupe ddp find-dupes pack diff link cache doctor fund'.split(
        ' ',
      ),
  },
  {
    programs: ['pip', 'pip3', 'pip3.*'],
    helpers: [/\/pip\/__(?:main|pip-runner)__\.py$/],
    ssh: false,
    closed: false,
    alone: null,
  },
  { programs: ['curl', 'wget'], helpers: [], ssh: false, closed: false, alone: null },
  { programs: ['ssh', 'scp', 'sftp'], helpers: [/\/ssh$/], ssh: true, closed: false, alone: null },
]

/** The tool that a program is, by its plain name. */
export function knownTool(name: string): KnownTool | null {
  return TOOLS.find(({ programs }) => programs.some((program) => matchSegment(program, name))) ?? null
}

/** Whether hosts that a grant gives this use of a tool are for the tool alone. */
export function keepsHosts(tool: KnownTool, words: readonly string[]): boolean {
  return tool.alone === null || usesNetwork(tool.alone, words)
}
