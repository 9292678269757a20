import { expect, test } from 'vitest'
import { gitKeyCases } from '../../test/cases/git-key-cases.ts'
import { gitAddressHost, gitKeyLines, gitValueRule, harmlessGitKeys, isHarmlessGitKey } from './git-keys.ts'

const facts = {
  isKnownHost: (host: string) => host === 'example.com',
  isOwnFolder: (value: string) => value === '../../../sub',
}

test.each(gitKeyCases)('%s = %j is harmless: %s (%s)', (key, value, harmless) => {
  expect(isHarmlessGitKey(key, value, facts)).toBe(harmless)
})

test('every row is reached by a key that it describes', () => {
  for (const [pattern, rule] of harmlessGitKeys) {
    expect(pattern).toBe(pattern.toLowerCase())
    expect([pattern, gitValueRule(pattern.replaceAll('*', 'x'))]).toEqual([pattern, rule])
  }
})

test('a computed address names no host', () => {
  for (const address of ['', ' ext::x', 'https://', 'https://[', 'a\nb:c', 'http://-x/'])
    expect([address, gitAddressHost(address)]).toEqual([address, undefined])
})

test('the setup message has each row and host on a separate line', () => {
  const setup = gitKeyLines(['*.example.org'])
  expect(setup).toHaveLength(harmlessGitKeys.length + 1)
  expect(setup).toContain('remote.*.url\turl')
  expect(setup.at(-1)).toBe('host\t*.example.org')
  expect(setup.every((line) => /^[^\t\n]+\t[^\t\n]+$/.test(line))).toBe(true)
})
