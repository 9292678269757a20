/** Which settings of git make it run programs or reach other places, given on a command line. */

import { codeRunningGitKey } from '../../files/git-config-keys.ts'

/** Values that switch a program off rather than name one. */
const switchedOff: readonly (readonly [keys: RegExp, values: RegExp])[] = [
  [/^(core\.pager|pager\..*)$/i, /^(cat|true|false|)$/],
  [/^(core\.editor|sequence\.editor)$/i, /^(true|:)$/],
]
const elsewhere =
  /\.insteadof$|^http\.(.*\.)?(proxy|sslverify|sslcainfo|sslkey|sslcert|cookiefile)$|^remote\..*\.proxy$/i

/** True when the setting can make git run a program, load configuration, or talk to another place. */
export function gitSettingReaches(key: string, value: string | undefined): boolean {
  if (switchedOff.some(([keys, values]) => keys.test(key) && value !== undefined && values.test(value))) return false
  return codeRunningGitKey(key, value) || elsewhere.test(key)
}
