import { expect, test } from 'vitest'
import { readGitCall } from './git-call.ts'

const read = (user: string, protocol: string, command: string) =>
  readGitCall(Buffer.from(`${user}\n${protocol}\n${command}`).toString('base64'))

test('a service of one repository', () => {
  const path = 'acme/tool.git'
  expect(read('git', 'version=2', `git-upload-pack '${path}'`)).toEqual({
    user: 'git',
    protocol: 'version=2',
    service: 'upload-pack',
    path,
  })
  expect(read('', '', `git receive-pack '/${path}'`)).toMatchObject({
    user: null,
    protocol: null,
    service: 'receive-pack',
  })
})

test.each([
  ['another program', 'a', '', 'id', /only git-upload-pack/],
  ['a service that the client opens', 'a', '', "git-upload-archive 'x'", /only git-upload-pack/],
  ['a second command', 'a', '', "git-upload-pack 'x'; id", /only git-upload-pack/],
  ['a second command in the quotes', 'a', '', "git-upload-pack 'x';id'y'", /only git-upload-pack/],
  ['a line more', 'a', '', "git-upload-pack 'x'\nid", /three lines/],
  ['an option for a repository', 'a', '', "git-upload-pack '--help'", /only git-upload-pack/],
  ['no quotes', 'a', '', 'git-upload-pack x', /only git-upload-pack/],
  ['an option for a user', '-oProxyCommand=id', '', "git-upload-pack 'x'", /the user of ssh/],
  ['another variable', 'a', 'version=2 X=y', "git-upload-pack 'x'", /GIT_PROTOCOL/],
])('%s is refused', (_, user, protocol, command, problem) => {
  expect(read(user, protocol, command)).toMatchObject({ problem: expect.stringMatching(problem) })
})

test('what is not base64 is refused', () => {
  expect(readGitCall('%%%')).toHaveProperty('problem')
})
