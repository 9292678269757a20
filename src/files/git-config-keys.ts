/** Keys of git configuration that make git run a program, load more configuration, or work somewhere else. */

import { matchSegment } from './glob.ts'

/**
 * `section.key` or `section.*.key`, lower case; `*` is any subsection (or none for `section.*`). The last word says
 * which values are harmless: `bool` a plain switch, `shell` everything that does not start with `!`, `url` everything
 * that is not an `ext::` transport.
 */
const KEYS: readonly (readonly [pattern: string, harmless?: 'bool' | 'shell' | 'url'])[] = [
  ['core.hookspath'],
  ['core.fsmonitor', 'bool'],
  ['core.pager'],
  ['core.editor'],
  ['core.sshcommand'],
  ['core.askpass'],
  ['core.gitproxy'],
  ['core.alternaterefscommand'],
  ['core.worktree'],
  ['alias.*'],
  ['pager.*', 'bool'],
  ['sequence.editor'],
  ['interactive.difffilter'],
  ['diff.external'],
  ['diff.*.command'],
  ['diff.*.textconv'],
  ['difftool.*'],
  ['mergetool.*'],
  ['merge.*.driver'],
  ['merge.*.recursive'],
  ['filter.*'],
  ['credential.helper'],
  ['credential.*.helper'],
  ['gpg.program'],
  ['gpg.*.program'],
  ['gpg.*.defaultkeycommand'],
  ['remote.*.uploadpack'],
  ['remote.*.receivepack'],
  ['remote.*.uploadarchive'],
  ['remote.*.vcs'],
  ['remote.*.url', 'url'],
  ['remote.*.pushurl', 'url'],
  ['url.*ext::*'],
  ['include.*'],
  ['includeif.*'],
  ['protocol.*'],
  ['uploadpack.packobjectshook'],
  ['gc.recentobjectshook'],
  ['hook.*'],
  ['init.templatedir'],
  ['man.*'],
  ['browser.*'],
  ['guitool.*'],
  ['instaweb.*'],
  ['help.browser'],
  ['web.browser'],
  ['sendemail.*'],
  ['imap.tunnel'],
  ['trailer.*.command'],
  ['trailer.*.cmd'],
  ['tar.*.command'],
  ['submodule.*.update', 'shell'],
  ['svn.authorsprog'],
  ['svn-remote.*'],
  ['svn.*'],
  ['gitcvs.*'],
  ['git-p4.*'],
  ['lfs.customtransfer.*'],
  ['lfs.extension.*'],
  ['lfs.standalonetransferagent'],
  ['lfs.*.standalonetransferagent'],
]

/**
 * True when setting this key can make git run code. The key is as git prints it (`section.Sub.key`); the section and
 * the last name ignore case. Without a value every value is thought of; with one, plain switches pass.
 */
export function codeRunningGitKey(key: string, value?: string): boolean {
  const folded = key.toLowerCase()
  const found = KEYS.find(([pattern]) => matchSegment(pattern, folded))
  if (!found) return false
  const harmless = found[1]
  if (value === undefined) return harmless !== 'url'
  if (harmless === 'bool') return !SWITCHES.has(value.toLowerCase())
  if (harmless === 'shell') return value.trimStart().startsWith('!')
  if (harmless === 'url') return /^\s*[a-z0-9+-]*ext::|^\s*-/i.test(value)
  return true
}

const SWITCHES: ReadonlySet<string> = new Set(['', 'true', 'false', 'yes', 'no', 'on', 'off', '0', '1'])
