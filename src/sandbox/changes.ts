/** PURE. What a command may change in the tree, in the form that the init judges by while it runs (native/broker/broker.h). */

/**
 * `refuse`: nothing below it is made, written, moved or removed. `judge`: it comes into place only by a rename, and only if its
 * content is a git configuration of listed keys. `note`: done, with a line in the record. `free`: takes an earlier rule back.
 */
export type ChangeAction = 'refuse' | 'judge' | 'note' | 'free'

/** One rule. The last one that fits a path decides. */
export interface ChangeRule {
  /**
   * Folded segments (`foldName`) parted by slashes, for what they name and everything below; `*` in a segment is any text, `**` any
   * number of segments. With a slash in front it is this very place, otherwise any below the roots.
   */
  readonly pattern: string
  readonly action: ChangeAction
  /** The thing itself may be made and removed as a folder: only what is in it matters. */
  readonly folder?: boolean
  /** Fits only below a writable place: a name in the path of the project itself says nothing. */
  readonly below?: boolean
}

/** Where what a command would lose is kept, and how much of it. */
export interface KeepPlan {
  /** Of this call alone, owner-only, empty. */
  readonly folder: string
  /** Larger files are not copied (a file that is removed or replaced is linked, whatever its size). */
  readonly fileBytes: number
  readonly totalBytes: number
  /** What cannot be kept is not changed either: no one was asked about the command. A file that is only appended to loses nothing at once. */
  readonly must: 'nothing' | 'but-appends' | 'everything'
}

/** How the changes of one command are held. */
export interface ChangePlan {
  /** The last one that fits decides. In parts, so that those which never change are made once. */
  readonly rules: readonly string[]
  /** What a command may set in git's configurations: lines of `gitKeyOrders`, each with a NUL behind it. */
  readonly gitKeys: string
  readonly keep: KeepPlan | null
  /** Writable places in which nothing is protected and nothing kept: caches of tools. */
  readonly free: readonly string[]
}

const ACTIONS: Readonly<Record<ChangeAction, number>> = { refuse: 1, judge: 2, note: 3, free: 4 }
const FOLDER = 8
const BELOW = 16

/** Rules as the init's orders have them: one after the other, a byte and a text that ends in NUL. */
export function ruleText(rules: readonly ChangeRule[]): string {
  const one = ({ pattern, action, folder, below }: ChangeRule) =>
    `${String.fromCharCode(ACTIONS[action] | (folder ? FOLDER : 0) | (below ? BELOW : 0))}${pattern}\0`
  return rules.map(one).join('')
}
