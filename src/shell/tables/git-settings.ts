/** The git settings on a command line that run programs or contact other places. */

import { isHarmlessGitKey } from '../../files/git-keys.ts'

/** Host rules judge hosts of a command line, file rules folders, and written files. */
const facts = { isKnownHost: () => true, isOwnFolder: () => false }

/** True when the setting can make git run a program, load configuration, or talk to another place. */
export function gitSettingReaches(key: string, value: string | undefined): boolean {
  return !isHarmlessGitKey(key, value, facts)
}
