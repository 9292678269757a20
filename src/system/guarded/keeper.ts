/** Who is told of every change of guarded files before it is made, so that it can be restored. */

/** `path` names what changes; `at` is the way to it by the directory that is held open. */
export interface ChangeKeeper {
  /** A file, folder or link will be made where nothing is. `folderTime`: when its folder was last changed, if not just now. */
  willMake(path: string, folderTime?: bigint): void
  /** A file will be put there by a rename, instead of what is there. */
  willReplace(path: string, at: string, folderTime?: bigint): void
  /** One name will be removed; what is below it was told before. */
  willRemove(path: string, at: string): void
  willMove(path: string, other: string): void
  willSetMode(path: string, at: string): void
  /** The change that was told last was not made. */
  wasNotMade(): void
}

/** For those who put nothing back. */
export const keepsNothing: ChangeKeeper = {
  willMake: () => {},
  willReplace: () => {},
  willRemove: () => {},
  willMove: () => {},
  willSetMode: () => {},
  wasNotMade: () => {},
}

/** Makes the change that a keeper was told of. */
export function makeTold(keeper: ChangeKeeper, change: () => void): void {
  try {
    change()
  } catch (error) {
    keeper.wasNotMade()
    throw error
  }
}
