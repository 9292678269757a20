/** Which settings of git make it run programs or reach other places, given on a command line. */

import { isHarmlessGitKey } from '../../files/git-keys.ts'

/** Hosts of a command line are judged by the host rules, a folder by the file rules; what is written is judged again as a file. */
const facts = { isKnownHost: () => true, isOwnFolder: () => false }

/** True when the setting can make git run a program, load configuration, or talk to another place. */
export function gitSettingReaches(key: string, value: string | undefined): boolean {
  return !isHarmlessGitKey(key, value, facts)
}
