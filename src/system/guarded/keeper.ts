/** Records changes of guarded files before they happen, so that they can be restored. */

/** `path` is what changes; `at` reaches it through an open directory. */
export interface ChangeKeeper {
  /**
   * A file, folder or link will be created. `folderTime`: the folder's last change, if not current.
   */
  willMake(path: string, folderTime?: bigint): void
  /** A rename will replace what is there. */
  willReplace(path: string, at: string, folderTime?: bigint): void
  /** One name will be removed; its contents were announced before. */
  willRemove(path: string, at: string): void
  willMove(path: string, other: string): void
  willSetMode(path: string, at: string): void
  /** The last announced change failed. */
  wasNotMade(): void
}

/** For callers that keep nothing. */
export const keepsNothing: ChangeKeeper = {
  willMake: () => {},
  willReplace: () => {},
  willRemove: () => {},
  willMove: () => {},
  willSetMode: () => {},
  wasNotMade: () => {},
}

/** Makes an announced change. */
export function makeChange(keeper: ChangeKeeper, change: () => void): void {
  try {
    change()
  } catch (error) {
    keeper.wasNotMade()
    throw error
  }
}
