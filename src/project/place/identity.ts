/** What a project is called wherever it lies: the address its repository came from, and its place in it. A team signs for that. */

import { posix } from 'node:path'
import { parseGitConfig } from '../../sandbox/protect/git-config.ts'
import type { Files } from '../../system/files.ts'

const MAX_CONFIG = 256 * 1024
const USUAL_PORTS: ReadonlySet<string> = new Set(['', '22', '80', '443', '9418'])

/**
 * The identity, such as `github.com/acme/shop` or `github.com/acme/shop#packages/web`; null where the project is in no repository
 * with one origin. It is read from the repository's own configuration, which a clone writes and no commit can bring.
 */
export function projectIdentity(root: string, files: Files): string | null {
  for (let top = root; ; top = posix.dirname(top)) {
    if (files.exists(posix.join(top, '.git'))) {
      const origin = originOf(top, files)
      const inside = posix.relative(top, root)
      return origin === null || inside === '' ? origin : `${origin}#${inside}`
    }
    if (top === posix.dirname(top)) return null
  }
}

function originOf(top: string, files: Files): string | null {
  const directory = gitDirectory(posix.join(top, '.git'), files)
  const text = directory === null ? null : read(posix.join(directory, 'config'), files)
  const entries = text === null ? null : parseGitConfig(text)
  const urls = entries?.filter(({ key }) => key === 'remote.origin.url').map(({ value }) => value.trim()) ?? []
  return urls.length === 1 ? repositoryName(urls[0]!) : null
}

/** A worktree and a submodule have a file instead of the directory, and a worktree's configuration is the main one's. */
function gitDirectory(path: string, files: Files): string | null {
  if (files.isDirectory(path)) return path
  const named = /^gitdir: (.+)$/m.exec(read(path, files) ?? '')?.[1]?.trim()
  if (named === undefined) return null
  const directory = posix.resolve(posix.dirname(path), named)
  const common = read(posix.join(directory, 'commondir'), files)?.trim()
  return common === undefined ? directory : posix.resolve(directory, common)
}

function read(path: string, files: Files): string | null {
  try {
    return files.exists(path) ? files.readText(path, MAX_CONFIG) : null
  } catch {
    return null
  }
}

/** One name for every spelling of an address: `git@host:a/b.git`, `https://host/a/b`, `ssh://git@host/a/b/`. */
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
