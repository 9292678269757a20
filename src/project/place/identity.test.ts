import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { machineFiles } from '../../system/files.ts'
import { projectIdentity } from '../sign/trust.ts'
import { repositoryName } from './repository-remotes.ts'

describe('one repository has one name', () => {
  const names: readonly (readonly [url: string, name: string | null, note: string])[] = [
    ['git@github.com:acme/shop.git', 'github.com/acme/shop', 'the short form of ssh'],
    ['https://github.com/acme/shop', 'github.com/acme/shop', 'https'],
    ['https://token:x@GitHub.com/acme/shop.git/', 'github.com/acme/shop', 'a name and a token are nobody’s business'],
    ['ssh://git@github.com:22/acme/shop.git', 'github.com/acme/shop', 'a usual port'],
    ['ssh://git@github.com:2222/acme/shop', 'github.com:2222/acme/shop', 'another port is another service'],
    ['/srv/git/shop.git', '/srv/git/shop', 'a directory'],
    ['file:///srv/git/shop.git', null, 'a URL without a host'],
    ['../shop', null, 'a relative path is another one elsewhere'],
    ['https://github.com/acme/../evil/shop', null, 'a path that climbs'],
    ['', null, 'nothing'],
  ]
  it.each(names)('%s is %s (%s)', (url, name, _) => expect(repositoryName(url)).toBe(name))
})

describe('a project is its place in a repository', () => {
  let base: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'cordon-identity-'))
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(base, path)), { recursive: true })
    writeFileSync(join(base, path), text)
  }
  const origin = '[remote "origin"]\n\turl = git@github.com:acme/shop.git\n'

  type Tree = Readonly<Record<string, string>>
  const trees: readonly (readonly [tree: Tree, inside: string, name: string | null, note: string])[] = [
    [{ '.git/config': origin }, '', 'github.com/acme/shop', 'the whole of it'],
    [{ '.git/config': origin, 'packages/web/x': '' }, 'packages/web', 'github.com/acme/shop#packages/web', 'a part'],
    [{ '.git/config': '[core]\n\tbare = false\n' }, '', null, 'no origin'],
    [{ '.git/config': `${origin}\turl = git@evil.example:a/b\n` }, '', null, 'two origins'],
    [{ '.git/config': '[remote "origin"\n' }, '', null, 'what git would refuse'],
    [
      {
        'main/.git/config': origin,
        'main/.git/worktrees/w/commondir': '../..\n',
        'w/.git': 'gitdir: ../main/.git/worktrees/w\n',
      },
      'w',
      'github.com/acme/shop',
      'a worktree',
    ],
  ]
  it.each(trees)('%j in “%s” is %s (%s)', (tree, inside, name, _) => {
    for (const [path, text] of Object.entries(tree)) put(path, text)
    expect(projectIdentity(join(base, inside), machineFiles)).toBe(name)
  })
})
