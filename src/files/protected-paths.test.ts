import { expect, test } from 'vitest'
import { isProtectedStart, protectedPath } from './protected-paths.ts'

const facts = {
  root: '/home/u/p',
  home: '/home/u',
  configDir: '/home/u/.config/cordon',
  stateDir: '/home/u/.local/state/cordon',
  manifestPath: '/home/u/p/cordon.toml',
  places: [
    { path: '/home/u/p/bin', kind: 'path', reason: 'a folder on PATH' },
    { path: '/home/u/p/.venv/bin', kind: 'path', reason: 'a folder on PATH', names: new Set(['git']) },
  ],
} as const

const paths: readonly [path: string, kind: string | null, note: string][] = [
  ['/home/u/p/cordon.toml', 'manifest', 'the manifest'],
  ['/home/u/p/cordon.toml.sig', 'manifest', 'its signature'],
  ['/home/u/p/Cordon.TOML', 'manifest', 'the same file where case does not count'],
  ['/home/u/p/test/cordon.toml', null, 'a fixture further down takes no effect'],
  ['/home/u/.config/cordon', 'cordon', 'configuration'],
  ['/home/u/.config/cordon/keys/a', 'cordon', 'keys'],
  ['/home/u/.local/state/cordon/audit/x.jsonl', 'cordon', 'audit'],
  ['/home/u/.config/cordonbleu', null, 'another name'],
  ['/home/u/p/src/.DS_Store', null, 'Finder writes it whenever a folder is opened; nothing runs it'],
  ['/home/u/p/.git', 'git', 'the repository itself: rm, mv, or a pointer written in its place'],
  ['/home/u/p/.git/hooks', 'git', ''],
  ['/home/u/p/.git/hooks/pre-commit', 'git', ''],
  ['/home/u/p/.GIT/hooks/pre-commit', 'git', 'case'],
  ['/home/u/p/.g\u200cit/hooks/pre-commit', 'git', 'a code point that HFS+ ignores'],
  ['/home/u/p/a/b/.git/hooks/x', 'git', 'a nested repository'],
  ['/home/u/p/.git/config', 'git', ''],
  ['/home/u/p/.git/config.worktree', 'git', ''],
  ['/home/u/p/.git/modules/a/b/hooks/x', 'git', 'a module'],
  ['/home/u/p/.git/modules/a/config', 'git', ''],
  ['/home/u/p/.git/worktrees/w/config.worktree', 'git', ''],
  ['/home/u/p/.git/worktrees/w/commondir', 'git', 'a pointer'],
  ['/home/u/p/mirror.git/hooks/update', 'git', 'a bare repository'],
  ['/home/u/p/.git/HEAD', null, 'ordinary work'],
  ['/home/u/p/.git/info/exclude', null, ''],
  ['/home/u/p/.git/refs/heads/hooks/x', null, 'a branch of that name'],
  ['/home/u/p/.gitignore', null, ''],
  ['/home/u/p/.gitattributes', null, 'a filter needs a key of the configuration'],
  ['/home/u/p/.gitmodules', null, ''],
  ['/home/u/p/.husky/pre-commit', 'hooks', 'husky runs it as a hook'],
  ['/home/u/.bashrc', 'shell', ''],
  ['/home/u/.config/fish/conf.d/a.fish', 'shell', ''],
  ['/home/u/p/.bashrc', null, 'a fixture in the project is not a start-up file'],
  ['/home/u/p/.envrc', 'shell', ''],
  ['/home/u/.config/systemd/user/a.service', 'start-up', ''],
  ['/etc/cron.d/x', 'start-up', ''],
  ['/home/u/.ssh/authorized_keys', 'keys', ''],
  ['/home/u/p/.vscode/tasks.json', 'editor', ''],
  ['/home/u/p/sub/.vscode/settings.json', 'editor', 'any depth'],
  ['/home/u/p/.vscode/extensions.json', null, 'recommendations run nothing'],
  ['/home/u/p/team.code-workspace', 'editor', 'a workspace contains tasks and settings'],
  ['/home/u/p/.idea/workspace.xml', 'editor', ''],
  ['/home/u/p/.devcontainer/devcontainer.json', 'editor', 'initializeCommand runs on the host'],
  ['/home/u/p/.claude/settings.local.json', 'agent', ''],
  ['/home/u/p/.mcp.json', 'agent', ''],
  ['/home/u/p/.codex/config.toml', 'agent', ''],
  ['/home/u/p/.gemini/settings.json', 'agent', ''],
  ['/home/u/p/.cursor/hooks.json', 'agent', ''],
  ['/home/u/p/.cursor/rules/a.mdc', null, 'text for a model'],
  ['/home/u/p/.opencode/plugin/a.ts', 'agent', ''],
  ['/home/u/p/.cordon/tools/a.json', 'agent', ''],
  ['/home/u/p/src/vscode/tasks.json', null, ''],
  ['/home/u/p/package.json', null, ''],
  ['/home/u/p/.npmrc', 'packages', 'a proxy or a registry there is given the token'],
  ['/home/u/p/a/.yarnrc.yml', 'packages', 'yarnPath'],
  ['/home/u/p/.cargo/config.toml', 'packages', 'rustc-wrapper'],
  ['/home/u/p/.cargo/registry/x', null, 'only the configuration'],
  ['/home/u/p/rust-toolchain.toml', 'packages', 'path'],
  ['/home/u/p/mise.prod.toml', 'packages', 'one of many names'],
  ['/home/u/p/.pdbrc', 'debugger', ''],
  ['/home/u/p/.hg/sharedpath', 'git', 'another repository, with hooks'],
  ['/home/u/p/lefthook.yml', 'hooks', ''],
  ['/home/u/p/tools/bazel', 'packages', 'bazel runs the wrapper in its place'],
  ['/home/u/p/tools/bazel.ts', null, 'another name'],
  ['/home/u/p/node_modules/a/.npmrc', null, 'what a package brings along'],
  ['/home/u/p/node_modules/a/.git/hooks/x', 'git', 'but no hook'],
  ['/home/u/p/node_modules/a/.husky/x', null, 'packages bring these along as well'],
  ['/home/u/p/AGENTS.md', null, 'a person is notified, and nothing is refused'],
  ['/home/u/p/.github/workflows/ci.yml', null, 'the same'],
  ['/home/u/p/bin/git', 'path', 'a folder on PATH'],
  ['/home/u/p/bin', 'path', 'the folder itself'],
  ['/home/u/p/.venv/bin/git', 'path', 'shadows another program'],
  ['/home/u/p/.venv/bin/flask', null, 'a program that a package brings'],
]

test.each(paths)('%s is %s (%s)', (path, kind) => {
  expect(protectedPath(path, facts)?.kind ?? null).toBe(kind)
})

test('accents written in two ways are one name', () => {
  const accented = { ...facts, stateDir: '/home/u/caf\u00e9/cordon' }
  expect(protectedPath('/home/u/cafe\u0301/cordon/audit', accented)).toMatchObject({ kind: 'cordon' })
})

test('only Cordon’s own places are unreadable', () => {
  const unreadable = paths.filter(([path]) => protectedPath(path, facts)?.unreadable).map(([path]) => path)
  expect(unreadable).toEqual([
    '/home/u/.config/cordon',
    '/home/u/.config/cordon/keys/a',
    '/home/u/.local/state/cordon/audit/x.jsonl',
  ])
})

test.each([
  ['.git', true],
  ['.Git', true],
  ['.vscode', true],
  ['a.code-workspace', true],
  ['src', false],
])('%s starts a protected path: %s', (name, starts) => {
  expect(isProtectedStart(name)).toBe(starts)
})
