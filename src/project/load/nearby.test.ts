import { describe, expect, test } from 'vitest'
import { policyOf, sourced } from '../../../test/cases/policy-fixture.ts'
import { namedRepository, namedResults } from '../../call/decide/batch.ts'
import type { NearbyKind } from '../../policy/policy.ts'
import { nearbyFact, repositoryAt } from './nearby.ts'

const HOME = '/home/dev'
const ROOT = '/home/dev/work/app'
const REPOSITORIES = [
  '/home/dev/work/app',
  '/home/dev/work/other',
  '/home/dev/work/group/deep',
  '/home/dev/work/other-secrets',
  '/home/dev/work/dotfiles',
  '/home/dev/notes',
]
const repositoryOf = (path: string) =>
  repositoryAt(path, {
    exists: (git) => REPOSITORIES.some((place) => git === `${place}/.git`) || git === '/home/dev/work/theirs/.git',
    isOwn: (git) => !git.includes('theirs'),
  })

function kindOf(path: string, root = ROOT, kinds: readonly NearbyKind[] = ['repositories', 'packages']): string | null {
  const policy = policyOf({ root, home: HOME, nearby: kinds.map((kind) => sourced(kind)) })
  return nearbyFact({ root, policy }, HOME, repositoryOf).nearby?.(path)?.value ?? null
}

describe('repositories in the same folder of the home', () => {
  test.each([
    ['/home/dev/work/other', 'one beside'],
    ['/home/dev/work/other/src/a.ts', 'a file of it'],
    ['/home/dev/work/group/deep/a.ts', 'one below another folder'],
  ])('%s: %s', (path) => expect(kindOf(path)).toBe('repositories'))

  test.each([
    ['/home/dev/work/app/a.ts', 'the project is judged as the project'],
    ['/home/dev/work', 'all of them at once'],
    ['/home/dev/work/notes.txt', 'a file that is in none'],
    ['/home/dev/work/plain/a.ts', 'a folder that is not a repository'],
    ['/home/dev/work/theirs/a.ts', 'one of somebody else'],
    ['/home/dev/work/other-secrets/a.yml', 'one that calls itself secret'],
    ['/home/dev/work/other/private/plan.md', 'a folder in it that does'],
    ['/home/dev/work/dotfiles/zshrc', 'what a person keeps for themselves'],
    ['/home/dev/work/other/.git/config', 'the address of a remote may contain a login'],
    ['/home/dev/notes/a.md', 'one elsewhere in the home'],
    ['/home/dev', 'the home itself'],
    ['/srv/other/a.ts', 'outside the home'],
  ])('not %s: %s', (path) => expect(kindOf(path)).toBeNull())

  test.each([
    ['/home/dev/app', 'the home would be the folder'],
    ['/home/dev/.config/app', 'a hidden folder contains no projects'],
    ['/home/dev/work/.hidden/app', 'nor does one below'],
    ['/home/dev/Library/app', 'nor what programs keep'],
    ['/srv/app', 'not below the home'],
    ['/home/dev', 'the home as a project'],
  ])('a project at %s has none: %s', (root) => expect(kindOf('/home/dev/work/other/a.ts', root)).toBeNull())

  test('each kind is written by itself', () => {
    expect(kindOf('/home/dev/work/other/a.ts', ROOT, ['packages'])).toBeNull()
    expect(kindOf('/home/dev/go/pkg/mod/x/y.go', ROOT, ['repositories'])).toBeNull()
    expect(nearbyFact({ root: ROOT, policy: policyOf() }, HOME, repositoryOf)).toEqual({})
  })
})

describe('packages that are installed for the user', () => {
  test.each([
    '.cargo/registry/src/index/serde-1.0/src/lib.rs',
    '.cargo/git/checkouts/x/y/src/lib.rs',
    '.rustup/toolchains/stable/lib/rustlib/src/rust/library/core/src/lib.rs',
    'go/pkg/mod/example.org/one@v1.2.3/one.go',
    '.local/lib/node_modules/@x/y/dist/index.js',
    '.nvm/versions/node/v24.0.0/lib/node_modules/npm/index.js',
    '.bun/install/global/node_modules/x/index.js',
    '.local/lib/python3.11/site-packages/requests/api.py',
    'Library/Python/3.9/lib/python/site-packages/requests/api.py',
    '.local/share/uv/tools/ruff/lib/python3.12/site-packages/ruff.py',
    '.pyenv/versions/3.12.1/lib/python3.12/json/decoder.py',
    '.gem/ruby/3.2.0/gems/rake-13/lib/rake.rb',
    '.m2/repository/org/junit/junit/4.13/junit-4.13.pom',
  ])('~/%s', (path) => expect(kindOf(`${HOME}/${path}`)).toBe('packages'))

  test('an application of the machine', () => {
    expect(kindOf('/Applications/Editor.app/Contents/Resources/app/out/main.js')).toBe('packages')
  })

  test.each([
    '.cargo/credentials.toml',
    '.cargo/config.toml',
    '.cargo/registry',
    '.npmrc',
    '.local/lib/node_modules',
    '.m2/settings.xml',
    '.gem/credentials',
    '.config/pip/pip.conf',
    'go/src/private/a.go',
    '.local/share/keyrings/login.keyring',
    '.pyenv/version',
  ])('not ~/%s', (path) => expect(kindOf(`${HOME}/${path}`)).toBeNull())
})

describe('the log of another machine', () => {
  test.each([
    ['/home/dev/work/other/src/a.ts', '/home/dev/work/other'],
    ['/home/dev/else/deep/a.ts', '/home/dev/else'],
    ['/home/dev/work/notes.txt', null],
    ['/home/dev/work/.github/x.yml', null],
    ['/home/dev/work/app', null],
  ])('%s lies in %s', (path, place) => expect(namedRepository(path, ROOT)).toBe(place))

  test('output that the host put aside, and no other record of it', () => {
    const [rule] = namedResults(ROOT, HOME)
    expect(rule?.pattern.absolute).toBe(`${HOME}/.claude/projects/-home-dev-work-app*/*/tool-results/**`)
  })
})
