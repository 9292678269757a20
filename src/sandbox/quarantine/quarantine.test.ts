import { type ExecFileSyncOptionsWithStringEncoding, execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { worktreeDirectories } from '../protect/protect.ts'
import { SecretTree } from '../protect/tree.ts'
import { ProjectGuard } from './run.ts'

const NOBODY = 65534
const isRoot = process.getuid?.() === 0

let base: string
let root: string
let state: string
let tree: SecretTree

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-quarantine-')))
  chmodSync(base, 0o755)
  root = join(base, 'project')
  state = join(base, 'state')
  mkdirSync(root)
  mkdirSync(state, { mode: 0o700 })
})

afterEach(() => {
  tree?.close()
  rmSync(base, { recursive: true, force: true })
})

interface Run {
  readonly findings: readonly { path: string; action: string; message: string; kept: string | null }[]
  readonly actions: string[]
}

function run(work: () => void, named: readonly string[] = []): Run {
  const session = open(named)
  const guarded = session.begin()
  work()
  return summary(guarded.end())
}

function open(
  named: readonly string[] = [],
  roots: readonly string[] = [root],
  ownOf?: (run: string) => ((path: string) => boolean) | null,
) {
  tree?.close()
  tree = new SecretTree(roots)
  const guard = new ProjectGuard(tree, state, ownOf)
  const own = { configDir: join(base, 'config'), stateDir: state, manifestPath: join(root, 'cordon.toml') }
  const facts = { home: join(base, 'home'), write: [...roots], named, own }
  return {
    begin: (recorded?: boolean) => {
      tree.refresh()
      return guard.begin(facts, undefined, recorded)
    },
  }
}

function summary(findings: Run['findings']): Run {
  return { findings, actions: findings.map((found) => `${found.action} ${found.path.replace(`${root}/`, '')}`).sort() }
}

function git(user: 'root' | 'nobody', cwd: string, ...words: string[]): string {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: join(base, 'home'),
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'a',
    GIT_AUTHOR_EMAIL: 'a@example.com',
    GIT_COMMITTER_NAME: 'a',
    GIT_COMMITTER_EMAIL: 'a@example.com',
    GIT_CONFIG_COUNT: '1',
    GIT_CONFIG_KEY_0: 'protocol.file.allow',
    GIT_CONFIG_VALUE_0: 'always',
  }
  const options: ExecFileSyncOptionsWithStringEncoding = { cwd, env, encoding: 'utf8', stdio: 'pipe' }
  if (user === 'root') return execFileSync('git', words, options)
  const drop = [`--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups', '--no-new-privs']
  return execFileSync('setpriv', [...drop, 'git', ...words], options)
}

function give(user: 'root' | 'nobody', ...paths: string[]): void {
  if (user === 'nobody') for (const path of paths) chownSync(path, NOBODY, NOBODY)
}

function isOtherDevice(path: string): boolean {
  return existsSync(path) && lstatSync(path).dev !== lstatSync(tmpdir()).dev
}

const hook = '#!/bin/sh\ntouch /tmp/should-never-happen\n'

describe.each(['root', ...(isRoot ? ['nobody' as const] : [])] as const)('ordinary git work goes on, as %s', (user) => {
  beforeEach(() => {
    mkdirSync(join(base, 'origin'))
    give(user, root, join(base, 'origin'))
    git(user, join(base, 'origin'), 'init', '-q', '--bare', '-b', 'main')
    git(user, root, 'init', '-q', '-b', 'main')
  })

  test('commit, remote add, push -u, branch tracking, clone, worktree and submodule leave nothing to report', () => {
    const result = run(() => {
      git(user, root, 'commit', '-q', '--allow-empty', '-m', 'one')
      git(user, root, 'remote', 'add', 'origin', join(base, 'origin'))
      git(user, root, 'push', '-q', '-u', 'origin', 'main')
      git(user, root, 'checkout', '-q', '-b', 'topic', '--track', 'origin/main')
      git(user, root, 'clone', '-q', join(base, 'origin'), 'copy')
      git(user, root, 'worktree', 'add', '-q', 'tree', '-b', 'other')
      git(user, root, 'submodule', 'add', '-q', join(base, 'origin'), 'module')
      git(user, root, 'config', 'user.name', 'Somebody')
    })
    // A person wants to know of another source of code; nothing else is to be said.
    expect(result.actions).toEqual([expect.stringMatching(/^told .gitmodules$/)])
    expect(git(user, root, 'config', 'branch.main.remote')).toBe('origin\n')
    expect(git(user, join(root, 'tree'), 'status', '--short')).toBe('')
    expect(git(user, join(root, 'module'), 'log', '--oneline')).toContain('one')
  })

  test('a code-running key is reverted and the file stays the user’s own', () => {
    const before = lstatSync(join(root, '.git/config'))
    const result = run(() => {
      git(user, root, 'config', 'core.fsmonitor', 'touch /tmp/should-never-happen')
      git(user, root, 'config', 'user.name', 'Somebody')
    })
    expect(result.actions).toEqual(['reverted .git/config'])
    expect(git(user, root, 'config', '--list', '--local')).not.toContain('fsmonitor')
    expect(git(user, root, 'config', 'user.name')).toBe('Somebody\n')
    const after = lstatSync(join(root, '.git/config'))
    expect([after.uid, after.gid, after.mode]).toEqual([before.uid, before.gid, before.mode])
  })
})

interface Plant {
  readonly name: string
  readonly note: string
  readonly plant: () => void
  readonly actions: readonly string[]
}

function write(path: string, text = 'x'): void {
  const full = join(root, path)
  mkdirSync(join(full, '..'), { recursive: true })
  writeFileSync(full, text)
}

const plants: readonly Plant[] = [
  {
    name: 'a hook in a repository created during the run',
    note: 'git runs it at the next commit on the host',
    plant: () => {
      git('root', root, 'init', '-q', 'deep/new')
      write('deep/new/.git/hooks/pre-commit', hook)
    },
    actions: ['moved deep/new/.git/hooks/pre-commit'],
  },
  {
    name: 'a hooks link',
    note: 'the directory itself can be a link to project files',
    plant: () => {
      git('root', root, 'init', '-q', 'new')
      rmSync(join(root, 'new/.git/hooks'), { recursive: true, force: true })
      write('scripts/pre-commit', hook)
      symlinkSync('../../../scripts', join(root, 'new/.git/hooks'))
    },
    actions: ['moved new/.git/hooks'],
  },
  {
    name: 'a bare repository under an innocent name',
    note: 'git discovers it by structure and reads its config',
    plant: () => {
      git('root', root, 'init', '-q', '--bare', 'data')
      git('root', join(root, 'data'), 'config', 'core.fsmonitor', 'evil')
      write('data/hooks/pre-push', hook)
    },
    actions: ['moved data/hooks/pre-push', 'reverted data/config'],
  },
  {
    name: 'hooks and keys in a .git that is not a repository yet',
    note: 'a later git init by the person keeps both',
    plant: () => {
      write('plain/.git/hooks/post-commit', hook)
      write('plain/.git/config', '[core]\n\tfsmonitor = evil\n')
    },
    actions: ['moved plain/.git/hooks/post-commit', 'reverted plain/.git/config'],
  },
  {
    name: 'a common directory that does not look like one',
    note: 'a worktree takes configuration and hooks from it, and it needs no HEAD',
    plant: () => {
      for (const folder of ['shared/objects', 'shared/refs', 'wt/dir'])
        mkdirSync(join(root, folder), { recursive: true })
      write('shared/config', '[core]\n\trepositoryformatversion = 0\n\tfsmonitor = evil\n')
      write('shared/hooks/post-commit', hook)
      write('wt/dir/HEAD', 'ref: refs/heads/main\n')
      write('wt/dir/commondir', '../../shared\n')
      write('wt/.git', 'gitdir: dir\n')
    },
    actions: ['moved shared/hooks/post-commit', 'reverted shared/config'],
  },
  {
    name: 'folders of a project that are called like those of git',
    note: 'not a repository: nothing is touched',
    plant: () => {
      for (const file of ['src/objects/a.ts', 'src/refs/b.ts', 'src/hooks/use-c.ts', 'src/config']) write(file)
    },
    actions: [],
  },
  {
    name: 'a hook in a module',
    note: '.git/modules contains git directories of submodules',
    plant: () => {
      git('root', root, 'init', '-q', '--bare', '.git/modules/a/b')
      write('.git/modules/a/b/hooks/post-checkout', hook)
    },
    actions: ['moved .git/modules/a/b/hooks/post-checkout'],
  },
  {
    name: 'an include of a file in the project',
    note: 'keys would come from a file that nobody watches',
    plant: () => {
      write('settings.txt', '[core]\n\tpager = evil\n')
      git('root', root, 'config', 'include.path', '../settings.txt')
    },
    actions: ['reverted .git/config'],
  },
  {
    name: 'a worktree configuration',
    note: 'read beside the main one when the extension is on',
    plant: () => {
      git('root', root, 'config', 'extensions.worktreeConfig', 'true')
      git('root', root, 'config', '--worktree', 'core.sshCommand', 'evil')
    },
    actions: ['reverted .git/config.worktree'],
  },
  {
    name: 'a pointer out of the project',
    note: 'the git directory behind it would never be checked',
    plant: () => write('sub/.git', `gitdir: ${base}/elsewhere\n`),
    actions: ['moved sub/.git'],
  },
  {
    name: 'a pointer through a link',
    note: 'it looks as if it stayed in the project',
    plant: () => {
      mkdirSync(join(base, 'cache/repo'), { recursive: true })
      symlinkSync(join(base, 'cache'), join(root, 'inside'))
      write('sub/.git', 'gitdir: ../inside/repo\n')
    },
    actions: ['moved sub/.git'],
  },
  {
    name: 'a configuration behind a link',
    note: 'later file writes would reach it under another name',
    plant: () => {
      write('notes.txt', readFileSync(join(root, '.git/config'), 'latin1'))
      rmSync(join(root, '.git/config'))
      symlinkSync('../notes.txt', join(root, '.git/config'))
    },
    actions: ['reverted .git/config'],
  },
  {
    name: 'a configuration that cannot be read with certainty',
    note: 'fail closed: the earlier text returns',
    plant: () => write('.git/config', '[core\n\tfsmonitor = evil\n'),
    actions: ['reverted .git/config'],
  },
  {
    name: 'a key on the section line, in upper case, continued over lines',
    note: 'every spelling that git accepts',
    plant: () => {
      const text = readFileSync(join(root, '.git/config'), 'latin1')
      write('.git/config', `${text}[CORE] FSMonitor = \\\n  "ev"il ; comment\n`)
    },
    actions: ['reverted .git/config'],
  },
  {
    name: 'editor, agent and shell settings',
    note: 'created again at any depth',
    plant: () => {
      write('.vscode/tasks.json')
      write('packages/a/.vscode/settings.json')
      write('.claude/settings.json')
      write('.mcp.json')
      write('.envrc')
      write('cordon.toml')
      write('.vscode/extensions.json')
      write('node_modules/p/.vscode/settings.json')
    },
    actions: [
      'moved .claude',
      'moved .envrc',
      'moved .mcp.json',
      'moved .vscode/tasks.json',
      'moved cordon.toml',
      'moved packages/a/.vscode/settings.json',
    ],
  },
]

describe('what a run plants does not stay', () => {
  beforeEach(() => {
    git('root', root, 'init', '-q', '-b', 'main')
  })

  test.each(plants)('$name ($note)', ({ plant, actions }) => {
    const result = run(plant)
    expect(result.actions).toEqual([...actions].sort())
    for (const found of result.findings) expect(() => lstatSync(found.kept ?? '')).not.toThrow()
    expect(run(() => {}).actions).toEqual([])
  })

  test.each<[note: string, plant: () => void, moved: string[]]>([
    ['a link to a start-up file', () => symlinkSync(join(base, 'home/.bashrc'), join(root, 'l')), ['l']],
    ['a relative one', () => symlinkSync('../home/.config/git/config', join(root, 'l')), ['l']],
    ['a link to a folder of settings', () => symlinkSync(join(base, 'home/.config'), join(root, 'dist')), ['dist']],
    [
      'a link through one above the home',
      () => {
        symlinkSync('x/home/.bashrc', join(root, 'l'))
        symlinkSync(base, join(root, 'x'))
      },
      ['x'],
    ],
    [
      'a link that climbs from another',
      () => {
        mkdirSync(join(base, 'home'))
        write('../home/.bashrc')
        symlinkSync('x/../home/.bashrc', join(root, 'l'))
        symlinkSync('.', join(root, 'x'))
      },
      ['l'],
    ],
    [
      'other links',
      () => ['/usr/bin/env', '../other', 'a/../b'].map((to, at) => symlinkSync(to, join(root, `l${at}`))),
      [],
    ],
  ])('%s goes without the broker as well', (_, plant, moved) => {
    expect(run(plant).actions).toEqual(moved.map((path) => `moved ${path}`))
  })

  test('a link to a start-up file that was there stays', () => {
    symlinkSync(join(base, 'home/.bashrc'), join(root, 'l'))
    expect(run(() => write('a')).actions).toEqual([])
    expect(run(() => symlinkSync(join(base, 'home/.zshrc'), join(root, 'm'))).actions).toEqual(['moved m'])
  })

  test('what was moved is kept, without any mode, beside a list', () => {
    const result = run(() => write('.envrc', 'evil'))
    const kept = result.findings[0]!.kept!
    expect(lstatSync(kept).mode & 0o777).toBe(0)
    expect(readFileSync(join(kept, '../list.jsonl'), 'utf8')).toContain(join(root, '.envrc'))
    expect(existsSync(join(root, '.envrc'))).toBe(false)
  })

  test.each(isOtherDevice('/dev/shm') ? ['/dev/shm'] : [])(
    'a state directory on another file system (%s) takes copies',
    () => {
      const elsewhere = mkdtempSync('/dev/shm/cordon-state-')
      try {
        state = elsewhere
        const result = run(() => {
          write('.claude/hooks/a.sh', 'evil')
          symlinkSync('../../..', join(root, '.claude/hooks/up'))
          write('.envrc', 'evil')
        })
        expect(result.actions).toEqual(['moved .claude', 'moved .envrc'])
        expect(existsSync(join(root, '.claude'))).toBe(false)
        const kept = result.findings.find((found) => found.path.endsWith('.claude'))!.kept!
        expect(lstatSync(join(kept, 'hooks/up')).isSymbolicLink()).toBe(true)
      } finally {
        rmSync(elsewhere, { recursive: true, force: true })
      }
    },
  )

  test('what the manifest names stays', () => {
    const named = [join(root, '.envrc'), join(root, '.claude/settings.json'), join(root, '.git/config')]
    const result = run(() => {
      write('.envrc')
      write('.claude/settings.json')
      write('.claude/hooks/a.sh')
      git('root', root, 'config', 'core.pager', 'less')
    }, named)
    expect(result.actions).toEqual(['moved .claude/hooks'])
  })

  test('a key that was there before stays, and returns when it was taken away', () => {
    git('root', root, 'config', 'core.editor', 'vim "a" \\ # x')
    git('root', root, 'config', '--add', 'credential.https://example.com.helper', '')
    git('root', root, 'config', '--add', 'credential.https://example.com.helper', 'store')
    const listed = git('root', root, 'config', '--list', '--local').split('\n').sort()
    const result = run(() => {
      git('root', root, 'config', '--unset', 'core.editor')
      git('root', root, 'config', '--unset-all', 'credential.https://example.com.helper', 'store')
    })
    expect(result.actions).toEqual(['reverted .git/config'])
    expect(git('root', root, 'config', '--list', '--local').split('\n').sort()).toEqual(listed)
  })

  test('an included file of the project is checked as well', () => {
    write('shared.gitconfig', '[user]\n\tname = a\n')
    git('root', root, 'config', 'include.path', '../shared.gitconfig')
    const result = run(() => write('shared.gitconfig', '[user]\n\tname = b\n[alias]\n\tst = !evil\n'))
    expect(result.actions).toEqual(['reverted shared.gitconfig'])
    expect(readFileSync(join(root, 'shared.gitconfig'), 'utf8')).toContain('name = b')
    expect(readFileSync(join(root, 'shared.gitconfig'), 'utf8')).not.toContain('evil')
  })

  test('a command that starts beside another does not launder what that one planted', () => {
    const session = open()
    const first = session.begin()
    write('.envrc', 'evil')
    git('root', root, 'config', 'core.pager', 'evil')
    const second = session.begin()
    expect(summary(first.end()).actions).toEqual(['moved .envrc', 'reverted .git/config'])
    write('.envrc', 'evil')
    git('root', root, 'config', 'core.pager', 'evil')
    expect(summary(second.end()).actions).toEqual(['moved .envrc', 'reverted .git/config'])
  })

  test('nor does one of another session', () => {
    const first = open().begin()
    write('.envrc', 'evil')
    const other = new SecretTree([root])
    other.refresh()
    const own = { configDir: join(base, 'config'), stateDir: state, manifestPath: join(root, 'cordon.toml') }
    const facts = { home: join(base, 'home'), write: [root], named: [], own }
    const second = new ProjectGuard(other, state).begin(facts)
    expect(summary(first.end()).actions).toEqual(['moved .envrc'])
    write('.envrc', 'evil')
    expect(summary(second.end()).actions).toEqual(['moved .envrc'])
    other.close()
  })

  test('and what another session planted does not count as having been there', () => {
    const first = open().begin()
    write('.envrc', 'evil')
    const other = new SecretTree([root])
    other.refresh()
    const own = { configDir: join(base, 'config'), stateDir: state, manifestPath: join(root, 'cordon.toml') }
    const facts = { home: join(base, 'home'), write: [root], named: [], own }
    expect(summary(new ProjectGuard(other, state).begin(facts).end()).actions).toEqual(['moved .envrc'])
    expect(summary(first.end()).actions).toEqual([])
    other.close()
  })

  test('a link swapped in above the file is not followed', () => {
    mkdirSync(join(base, 'victim'))
    writeFileSync(join(base, 'victim/config'), '[core]\n')
    const result = run(() => {
      renameSync(join(root, '.git'), join(root, 'git-moved'))
      symlinkSync(join(base, 'victim'), join(root, '.git'))
    })
    expect(result.actions).toEqual(['moved .git'])
    expect(readFileSync(join(base, 'victim/config'), 'utf8')).toBe('[core]\n')
    expect(readdirSync(join(base, 'victim'))).toEqual(['config'])
  })

  test('a run whose Cordon was killed is settled by the next one', () => {
    const journal = join(state, 'runs')
    open().begin()
    write('.envrc', 'evil')
    const [file] = readdirSync(journal)
    const text = readFileSync(join(journal, file!), 'utf8')
    const gone = text.replace(/"owner":\{[^}]*\}/, '"owner":{"pid":4194304,"started":"1"}')
    expect(gone).not.toBe(text)
    writeFileSync(join(journal, file!), gone)
    const next = open().begin()
    expect(summary(next.recovered).actions).toEqual(['moved .envrc'])
    expect(summary(next.end()).actions).toEqual([])
    expect(readdirSync(journal)).toEqual([])
  })

  test.each([
    { note: 'all runs wrote down what they changed', held: [true], known: true, left: ['moved .envrc'] },
    { note: 'nothing of it is found', held: [true], known: false, left: ['moved .envrc', 'moved .vscode/tasks.json'] },
    {
      note: 'one of two did not',
      held: [true, false],
      known: true,
      left: ['moved .envrc', 'moved .vscode/tasks.json'],
    },
    { note: 'none did', held: [false], known: true, left: ['moved .envrc', 'moved .vscode/tasks.json'] },
  ])(
    'what the person created meanwhile stays as long as it is known whose it was: $note',
    ({ held: recorded, known, left }) => {
      const journal = join(state, 'runs')
      const ownOf = () => (known ? (path: string) => path.endsWith('.envrc') : null)
      const first = open([], [root], ownOf)
      const [name] = recorded.map((one) => first.begin(one).name)
      write('.envrc', 'evil')
      write('.vscode/tasks.json', 'mine')
      const [file, ...others] = readdirSync(journal)
      expect([others, recorded.length > 1 || file === `${name}.json`]).toEqual([[], true])
      const text = readFileSync(join(journal, file!), 'utf8')
      writeFileSync(join(journal, file!), text.replace(/"owner":\{[^}]*\}/, '"owner":{"pid":4194304,"started":"1"}'))
      expect(summary(open([], [root], ownOf).begin(true).recovered).actions).toEqual(left)
    },
  )

  test('two that were killed at once are each settled by what they did themselves', () => {
    const journal = join(state, 'runs')
    const plants = new Map<string, string>()
    const ownOf = (run: string) => (path: string) => path.endsWith(plants.get(run) ?? 'nothing')
    for (const plant of ['.envrc', '.vscode/tasks.json']) {
      plants.set(open([], [root], ownOf).begin(true).name, plant)
      write(plant, 'evil')
    }
    write('.npmrc', 'mine')
    expect(plants.size).toBe(2)
    for (const file of readdirSync(journal)) {
      const text = readFileSync(join(journal, file), 'utf8')
      writeFileSync(join(journal, file), text.replace(/"owner":\{[^}]*\}/, '"owner":{"pid":4194304,"started":"1"}'))
    }
    const next = open([], [root], ownOf).begin(true)
    expect(summary(next.recovered).actions).toEqual(['moved .envrc', 'moved .vscode/tasks.json'])
    expect(summary(next.end(() => false)).actions).toEqual([])
    expect([readFileSync(join(root, '.npmrc'), 'utf8'), readdirSync(journal)]).toEqual(['mine', []])
  })
})

describe('pins', () => {
  test('hooks and settings are read-only, their parents keep their place; a clone without hooks may go', () => {
    git('root', root, 'init', '-q')
    git('root', root, 'init', '-q', 'a/b')
    write('a/b/.git/hooks/pre-commit')
    git('root', root, 'clone', '-q', 'a/b', 'copy')
    write('.vscode/settings.json')
    const pins = open()
      .begin()
      .pins.map((pin) => `${pin.mode} ${pin.path.replace(`${root}/`, '')}`)
    expect(pins).toEqual([
      'in-place .git',
      'read-only .git/hooks',
      'in-place .vscode',
      'read-only .vscode/settings.json',
      'in-place a',
      'in-place a/b',
      'in-place a/b/.git',
      'read-only a/b/.git/hooks',
    ])
  })

  test('a manifest elsewhere is protected with its signature', () => {
    const elsewhere = join(root, 'conf/agent.toml')
    for (const path of ['conf/agent.toml', 'conf/agent.toml.sig']) write(path, '')
    tree = new SecretTree([root])
    tree.refresh()
    const own = { configDir: join(base, 'config'), stateDir: state, manifestPath: elsewhere }
    const facts = { home: join(base, 'home'), write: [root], named: [], own }
    const pins = new ProjectGuard(tree, state).begin(facts).pins
    expect(pins.map((pin) => [pin.mode, pin.path.slice(root.length + 1)])).toEqual([
      ['in-place', 'conf'],
      ['read-only', 'conf/agent.toml'],
      ['read-only', 'conf/agent.toml.sig'],
    ])
  })

  test('a worktree at the root works in the main repository, if both ends say so', () => {
    const main = join(base, 'main')
    mkdirSync(main)
    git('root', main, 'init', '-q')
    git('root', main, 'commit', '-q', '--allow-empty', '-m', 'one')
    rmSync(root, { recursive: true })
    git('root', main, 'worktree', 'add', '-q', root)
    expect(worktreeDirectories(root)).toEqual([join(main, '.git')])
    const forged = join(base, 'forged')
    mkdirSync(forged)
    writeFileSync(join(forged, '.git'), readFileSync(join(root, '.git')))
    expect(worktreeDirectories(forged)).toEqual([])
    // A directory that says it is shared without being the one that the worktree lies in.
    const directory = readFileSync(join(root, '.git'), 'utf8').slice('gitdir: '.length).trim()
    const common = readFileSync(join(directory, 'commondir'))
    writeFileSync(join(directory, 'commondir'), `${join(base, 'home')}\n`)
    mkdirSync(join(base, 'home'), { recursive: true })
    expect(worktreeDirectories(root)).toEqual([])
    writeFileSync(join(directory, 'commondir'), common)
    const shared = worktreeDirectories(root)
    const guarded = open([], [root, ...shared]).begin()
    git('root', root, 'commit', '-q', '--allow-empty', '-m', 'two')
    writeFileSync(join(main, '.git/config'), `${readFileSync(join(main, '.git/config'))}[core]\n\tpager = evil\n`)
    expect(guarded.end().map((found) => [found.action, found.path])).toEqual([['reverted', join(main, '.git/config')]])
  })
})
