/**
 * PURE. The rules for changes of a command, in the form that the init judges by
 * (native/broker/broker.h).
 */

import { NUMBERS } from './protocol.ts'

/**
 * `refuse`: nothing below it may change. `judge`: it arrives only by a rename, and only if its
 * content is a git configuration of listed keys. `note`: done, with a line in the record. `free`:
 * cancels an earlier rule.
 */
type ChangeAction = 'refuse' | 'judge' | 'note' | 'free'

/** One rule. The last one that fits a path decides. */
export interface ChangeRule {
  /**
   * Folded segments (`foldName`) separated by slashes, matching what they name and everything
   * below; `*` in a segment is any text, `**` any number of segments. With a leading slash it is
   * this very place, otherwise any below the roots.
   */
  readonly pattern: string
  readonly action: ChangeAction
  /** The folder itself may be created and removed: only its content matters. */
  readonly folder?: boolean
  /** Fits only below a writable place: a name in the path of the project itself says nothing. */
  readonly below?: boolean
}

/** The folder for what a command would lose, and its size limits. */
interface KeepPlan {
  /** Of this call alone, owner-only, empty. */
  readonly folder: string
  /** Larger files are not copied (a file that is removed or replaced is linked, whatever its size). */
  readonly fileBytes: number
  readonly totalBytes: number
  /**
   * What cannot be kept is not changed either, because nobody was asked about the command.
   * Appending to a file loses nothing at once.
   */
  readonly must: 'nothing' | 'but-appends' | 'everything'
}

/** How the changes of one command are judged and kept. */
export interface ChangePlan {
  /** The last match decides. In parts, so that those which never change are built once. */
  readonly rules: readonly string[]
  /** The settings that a command may write to git's configurations: `gitKeyLines`, NUL-ended. */
  readonly gitKeys: string
  readonly keep: KeepPlan | null
  /** Writable places without protection and undo: caches of tools. */
  readonly free: readonly string[]
}

const { FOLDER, BELOW, ...ACTION } = NUMBERS.action
const ACTIONS: Readonly<Record<ChangeAction, number>> = {
  refuse: ACTION.REFUSE,
  judge: ACTION.JUDGE,
  note: ACTION.NOTE,
  free: ACTION.FREE,
}

/** Rules as in the setup message: for each a byte, and a text that ends in NUL. */
export function ruleText(rules: readonly ChangeRule[]): string {
  const one = ({ pattern, action, folder, below }: ChangeRule) =>
    `${String.fromCharCode(ACTIONS[action] | (folder ? FOLDER : 0) | (below ? BELOW : 0))}${pattern}\0`
  return rules.map(one).join('')
}
