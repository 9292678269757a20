import { expect, test } from 'vitest'
import { codeRunningGitKey, isProtectedStart, protectedPath } from './protected-paths.ts'

const facts = {
  root: '/home/u/p',
  home: '/home/u',
  configDir: '/home/u/.config/cordon',
  stateDir: '/home/u/.local/state/cordon',
  manifestPath: '/home/u/p/cordon.toml',
}

const paths: readonly [path: string, kind: string | null, note: string][] = [
  ['/home/u/p/cordon.toml', 'manifest', 'the manifest'],
  ['/home/u/p/cordon.toml.sig', 'manifest', 'its signature'],
  ['/home/u/p/Cordon.TOML', 'manifest', 'the same file where case does not count'],
  ['/home/u/p/test/cordon.toml', null, 'a fixture further down takes no effect'],
  ['/home/u/.config/cordon', 'cordon', 'configuration'],
  ['/home/u/.config/cordon/keys/a', 'cordon', 'keys'],
  ['/home/u/.local/state/cordon/audit/x.jsonl', 'cordon', 'audit'],
  ['/home/u/.config/cordonbleu', null, 'another name'],
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
  ['/home/u/p/.husky/pre-commit', null, 'ordinary project code'],
  ['/home/u/.bashrc', 'shell', ''],
  ['/home/u/.config/fish/conf.d/a.fish', 'shell', ''],
  ['/home/u/p/.bashrc', null, 'a fixture in the project is no start-up file'],
  ['/home/u/p/.envrc', 'shell', ''],
  ['/home/u/.config/systemd/user/a.service', 'start-up', ''],
  ['/etc/cron.d/x', 'start-up', ''],
  ['/home/u/.ssh/authorized_keys', 'keys', ''],
  ['/home/u/p/.vscode/tasks.json', 'editor', ''],
  ['/home/u/p/sub/.vscode/settings.json', 'editor', 'any depth'],
  ['/home/u/p/.vscode/extensions.json', null, 'recommendations run nothing'],
  ['/home/u/p/team.code-workspace', 'editor', 'a workspace holds tasks and settings'],
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

const keys: readonly [key: string, value: string | undefined, runs: boolean, note: string][] = [
  ['core.hooksPath', '.husky', true, ''],
  ['CORE.HOOKSPATH', 'x', true, 'case'],
  ['core.fsmonitor', 'true', false, 'the built-in daemon'],
  ['core.fsmonitor', 'true\u00a0', true, 'a no-break space makes it a program'],
  ['core.fsmonitor', 'evil', true, ''],
  ['core.fsmonitor', undefined, true, 'any value'],
  ['core.autocrlf', 'true', false, ''],
  ['core.bare', 'false', false, ''],
  ['pager.log', 'false', false, 'a switch'],
  ['pager.log', 'less; evil', true, ''],
  ['alias.st', 'status', true, 'an alias can be rebase -x'],
  ['diff.external', 'x', true, ''],
  ['diff.Word.textconv', 'x', true, ''],
  ['diff.algorithm', 'patience', false, ''],
  ['filter.lfs.process', 'x', true, ''],
  ['merge.ours.driver', 'true', true, ''],
  ['merge.conflictStyle', 'zdiff3', false, ''],
  ['credential.helper', 'store', true, ''],
  ['credential.https://a.b/.helper', 'x', true, ''],
  ['gpg.ssh.program', 'x', true, ''],
  ['remote.origin.url', 'https://example.com/a', false, ''],
  ['remote.origin.url', 'ext::sh -c evil', true, 'a transport that runs a command'],
  ['remote.origin.url', undefined, false, 'remote add goes on'],
  ['remote.origin.uploadpack', 'x', true, ''],
  ['remote.origin.fetch', '+refs/*', false, ''],
  ['branch.main.remote', 'origin', false, 'push -u'],
  ['branch.main.merge', 'refs/heads/main', false, ''],
  ['include.path', 'x', true, ''],
  ['includeIf.gitdir:/x/.path', 'x', true, ''],
  ['protocol.ext.allow', 'always', true, ''],
  ['submodule.a.update', 'checkout', false, ''],
  ['submodule.a.update', '!evil', true, ''],
  ['submodule.a.url', 'x', false, ''],
  ['user.name', 'x', false, ''],
  ['hook.a.command', 'x', true, 'hooks by configuration'],
  ['url.ext::sh -c x.insteadOf', 'https://', true, ''],
  ['url.https://a/.insteadOf', 'git@', false, ''],
  ['extensions.worktreeConfig', 'true', false, 'that file is checked itself'],
]

test.each(keys)('%s = %j runs code: %s (%s)', (key, value, runs) => {
  expect(codeRunningGitKey(key, value)).toBe(runs)
})
