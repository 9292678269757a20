/** Where a repository sends, from its own configuration, which a clone writes and no commit can change. */

import { posix } from 'node:path'
import type { Destination } from '../../policy/call.ts'
import type { Sending } from '../../shell/facts.ts'
import { attempt } from '../../system/fault.ts'
import type { Files } from '../../system/files.ts'

const MAX_CONFIG = 256 * 1024
const USUAL_PORTS: ReadonlySet<string> = new Set(['', '22', '80', '443', '9418'])

/** The text of the repository's configuration; null if there is none. */
export function repositoryConfig(top: string, files: Files): string | null {
  const directory = gitDirectory(posix.join(top, '.git'), files)
  return directory === null ? null : read(posix.join(directory, 'config'), files)
}

/** The folder with the `.git` that git finds from a directory; null if there is none. */
export function repositoryTop(directory: string, files: Files): string | null {
  for (let top = directory; ; top = posix.dirname(top)) {
    if (files.exists(posix.join(top, '.git'))) return top
    if (top === posix.dirname(top)) return null
  }
}

/** `undefined`: neither the directory nor the project is in a repository, as in a log from another machine. */
export function destinationOf(
  { directory, remote }: Sending,
  root: string,
  files: Files,
): Destination | null | undefined {
  const own = repositoryTop(root, files)
  const top = directory === null ? null : repositoryTop(files.canonical(directory), files)
  if (top === null) return own === null ? undefined : null
  const entries = plainEntries(repositoryConfig(top, files) ?? '[include]')
  if (entries === null) return null
  const name = remote === '' ? usualRemote(entries) : remote
  const [address, ...others] = name === null ? [] : addressesOf(entries, name)
  return address == null || others.length > 0 ? null : { address, isOwn: top === own }
}

interface Entry {
  readonly key: string
  readonly value: string
}

/** Rewritten addresses, and more configuration. */
const LEADS_ELSEWHERE = /^(?:url|include(?:if)?)$|^extensions\.worktreeconfig$/

/** Entries as git writes them; null where a line is anything else, or an address may be another one. */
function plainEntries(text: string): readonly Entry[] | null {
  const entries: Entry[] = []
  let section = ''
  for (const line of text.split('\n')) {
    const header = /^\[([\w.-]+)(?: "([^"\\]*)")?\]$/.exec(line.trim())
    const entry = /^([a-z][\w-]*) ?= ?([^"#;\\]*)$/i.exec(line.trim())
    if (header) section = header[1]!.toLowerCase() + (header[2] === undefined ? '' : `.${header[2]}`)
    else if (entry) entries.push({ key: `${section}.${entry[1]!.toLowerCase()}`, value: entry[2]! })
    else if (line.trim() !== '') return null
    if (LEADS_ELSEWHERE.test(section.split('.')[0]!) || LEADS_ELSEWHERE.test(entries.at(-1)?.key ?? '')) return null
  }
  return entries
}

/** Of a push without a remote; null if the configuration names several. */
function usualRemote(entries: readonly Entry[]): string | null {
  const named = entries.filter(({ key }) => /^(?:remote\.pushdefault|branch\..*\.(?:push)?remote)$/i.test(key))
  const [only = 'origin', ...others] = new Set(named.map(({ value }) => value.trim()))
  return others.length > 0 ? null : only
}

/** The addresses that a remote is pushed to, each once; of all remotes for `*`. */
function addressesOf(entries: readonly Entry[], remote: string): readonly (string | null)[] {
  const meant = entries.flatMap(({ key, value }) => {
    const [, name, what] = /^remote\.(.+)\.(url|pushurl)$/.exec(key) ?? []
    return name !== undefined && (remote === '*' || name === remote) ? [{ what, value: value.trim() }] : []
  })
  const pushed = meant.filter(({ what }) => what === 'pushurl')
  const used = remote === '*' || pushed.length === 0 ? meant : pushed
  return [...new Set(used.map(({ value }) => repositoryName(value)))]
}

/** Worktrees and submodules have a file instead of the directory. */
function gitDirectory(path: string, files: Files): string | null {
  if (files.isDirectory(path)) return path
  const named = /^gitdir: (.+)$/m.exec(read(path, files) ?? '')?.[1]?.trim()
  if (named === undefined) return null
  const directory = posix.resolve(posix.dirname(path), named)
  const common = read(posix.join(directory, 'commondir'), files)?.trim()
  return common === undefined ? directory : posix.resolve(directory, common)
}

function read(path: string, files: Files): string | null {
  return attempt(() => (files.exists(path) ? files.readText(path, MAX_CONFIG) : null), null)
}

/** One name for all spellings: `git@host:a/b.git`, `https://host/a/b`, `ssh://git@host/a/b/`. */
export function repositoryName(url: string): string | null {
  const address = /^[a-z][a-z0-9+.-]*:\/\/(?:[^@/]*@)?([^/:]+)(?::(\d*))?\/(.+)$/i.exec(url)
  const short = address ? null : /^(?:[^@/:]+@)?([^/:@]{2,}):(?!\/\/)(.+)$/.exec(url)
  const [host, port, path] = address
    ? [address[1]!, address[2] ?? '', address[3]!]
    : short
      ? [short[1]!, '', short[2]!]
      : ['', '', url]
  if (host === '' && !path.startsWith('/')) return null
  const name = path.replace(/\/+$/, '').replace(/\.git$/, '')
  const bare = host === '' ? name : name.replace(/^\/+/, '')
  if (bare === '' || bare.split('/').includes('..')) return null
  return host === '' ? bare : `${host.toLowerCase()}${USUAL_PORTS.has(port) ? '' : `:${port}`}/${bare}`
}
