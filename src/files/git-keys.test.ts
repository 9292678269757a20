import { expect, test } from 'vitest'
import { gitAddressHost, gitValueRule, harmlessGitKeys, isHarmlessGitKey } from './git-keys.ts'

const facts = {
  isKnownHost: (host: string) => host === 'example.com',
  isOwnFolder: (value: string) => value === '../../../sub',
}

const keys: readonly [key: string, value: string | undefined, harmless: boolean, note: string][] = [
  ['core.hooksPath', '.husky/_', false, 'hooks elsewhere'],
  ['core.fsmonitor', './x', false, 'a program'],
  ['core.fsmonitor', 'true', true, 'the daemon of git itself'],
  ['core.fsmonitor', undefined, false, 'any value'],
  ['core.autocrlf', 'input', true, ''],
  ['core.bare', 'false', true, ''],
  ['core.sharedRepository', '0777', false, 'opens the repository to everybody'],
  ['core.worktree', '../../../sub', true, 'a submodule'],
  ['core.worktree', '/', false, ''],
  ['core.pager', 'cat', true, 'shows the text as it is'],
  ['core.pager', 'cat x', false, ''],
  ['pager.log', 'false', true, 'a switch'],
  ['pager.log', 'less; evil', false, ''],
  ['alias.st', 'status', false, 'an alias can be rebase -x'],
  ['diff.external', 'x', false, ''],
  ['diff.Word.textconv', 'x', false, ''],
  ['diff.Word.xfuncname', '^x', true, ''],
  ['diff.algorithm', 'patience', true, ''],
  ['filter.lfs.process', 'x', false, ''],
  ['merge.ours.driver', 'true', false, ''],
  ['merge.tool', '../../x', false, 'git-mergetool sources the file of that name'],
  ['merge.conflictStyle', 'zdiff3', true, ''],
  ['credential.helper', 'store', false, ''],
  ['credential.https://a.b/.helper', 'x', false, ''],
  ['gpg.ssh.program', 'x', false, ''],
  ['gpg.ssh.allowedSignersFile', 'x', false, 'whom to trust'],
  ['gpg.format', 'ssh', true, ''],
  ['remote.origin.url', 'https://example.com/a', true, 'a known host'],
  ['remote.origin.url', 'git@EXAMPLE.com:a/b.git', true, 'the same host, as ssh spells it'],
  ['remote.origin.url', 'ssh://git@example.com:22/a', true, ''],
  ['remote.origin.url', 'https://evil.example/a', false, 'a host that nobody granted'],
  ['remote.origin.url', 'https://example.com@evil.example/a', false, 'the host stands behind the last @'],
  ['remote.origin.url', 'evil.example:a', false, 'scp-like'],
  ['remote.origin.url', '../other.git', true, 'a local path'],
  ['remote.origin.url', './a:b', true, 'a slash before the colon: a path'],
  ['remote.origin.url', 'file:///srv/x.git', true, ''],
  ['remote.origin.url', 'ext::sh -c evil', false, 'a transport that runs a command'],
  ['remote.origin.url', 'foo://example.com/x', false, 'git-remote-foo'],
  ['remote.origin.url', '-uevil', false, 'an option'],
  ['remote.origin.url', undefined, false, 'any value'],
  ['remote.origin.pushurl', 'https://example.com/a', false, 'where the next push goes'],
  ['remote.origin.proxy', 'x', false, ''],
  ['remote.origin.uploadpack', 'x', false, ''],
  ['remote.origin.mirror', 'true', false, 'a push would remove what is not here'],
  ['remote.origin.push', '+a:main', false, 'a push would overwrite'],
  ['remote.origin.fetch', '+refs/heads/*:refs/remotes/origin/*', true, ''],
  ['remote.pushDefault', 'evil', false, ''],
  ['branch.main.remote', 'origin', true, 'push -u'],
  ['branch.main.remote', 'https://evil.example/x', false, 'an address in place of a name'],
  ['branch.main.pushRemote', 'origin', false, ''],
  ['branch.main.mergeOptions', '-s evil', false, 'git-merge-evil'],
  ['branch.main.merge', 'refs/heads/main', true, ''],
  ['include.path', 'x', false, ''],
  ['includeIf.gitdir:/x/.path', 'x', false, ''],
  ['protocol.ext.allow', 'always', false, ''],
  ['submodule.a.update', 'checkout', true, ''],
  ['submodule.a.update', '!evil', false, ''],
  ['submodule.a.url', '../x', true, ''],
  ['user.name', 'Some One', true, ''],
  ['user.name', 'a\u001b]52;c;x', false, 'what a terminal obeys'],
  ['user.email', undefined, true, 'a variable'],
  ['hook.a.command', 'x', false, 'hooks by configuration'],
  ['url.https://a/.insteadOf', 'git@', false, 'another place under the same name'],
  ['http.proxy', 'http://evil.example', false, ''],
  ['http.sslVerify', 'false', false, ''],
  ['http.https://x/.extraHeader', 'x', false, ''],
  ['http.curloptResolve', 'x', false, ''],
  ['http.postBuffer', '524288000', true, ''],
  ['extensions.worktreeConfig', 'true', true, 'that file is judged itself'],
  ['init.templateDir', 'x', false, ''],
  ['advice.detachedHead', 'false', true, ''],
  ['nosection', 'x', false, 'a name before the first section'],
  ['made.up', 'x', false, 'what is not on the list'],
  ['', '', false, 'nothing'],
]

test.each(keys)('%s = %j is harmless: %s (%s)', (key, value, harmless) => {
  expect(isHarmlessGitKey(key, value, facts)).toBe(harmless)
})

test('every row is reached by a key that it describes', () => {
  for (const [pattern, rule] of harmlessGitKeys) {
    expect(pattern).toBe(pattern.toLowerCase())
    expect([pattern, gitValueRule(pattern.replaceAll('*', 'x'))]).toEqual([pattern, rule])
  }
})

test('an address that cannot be told leads to no host', () => {
  for (const address of ['', ' ext::x', 'https://', 'https://[', 'a\nb:c', 'http://-x/'])
    expect([address, gitAddressHost(address)]).toEqual([address, undefined])
})
