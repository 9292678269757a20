import { expect, test } from 'vitest'
import { maskGitTokens } from './git-tokens.ts'

const SECRET = 'ghp_TOPSECRETTOKEN0123'
const remote = (url: string) => `[remote "origin"]\n\turl = ${url}\n`

const rows: readonly [note: string, text: string, value: string | null, host: string | null][] = [
  ['a password', remote(`https://bob:${SECRET}@github.com/x/y`), SECRET, 'github.com:443'],
  ['a token as the user', remote(`https://${SECRET}@github.com/x/y`), SECRET, 'github.com:443'],
  ['a port', remote(`http://bob:${SECRET}@git.example.org:8080/x`), SECRET, 'git.example.org:8080'],
  ['escaped in the URL', remote('https://bob:top%40secret@h.example/x'), 'top@secret', 'h.example:443'],
  ['quoted, with an @ inside', remote('"https://bob:top@secret@h.example/x"'), 'top@secret', 'h.example:443'],
  ['not by HTTPS', remote(`ssh://bob:${SECRET}@h.example/x`), SECRET, null],
  ['longer than most', remote(`https://aws:${SECRET.repeat(80)}@h.example/x`), SECRET.repeat(80), 'h.example:443'],
  ['in a section', `[url "https://bob:${SECRET}@github.com/"]\n\tinsteadOf = x:\n`, SECRET, 'github.com:443'],
  ['in a comment', `# https://bob:${SECRET}@github.com/x\n[core]\n\tbare = false\n`, SECRET, 'github.com:443'],
  [
    'a header of a CI system',
    `[http "https://github.com/"]\n\textraheader = AUTHORIZATION: basic ${SECRET}==\n`,
    `${SECRET}==`,
    'github.com:443',
  ],
  ['a header for every host', `[http]\n\textraHeader = "X-Key: ${SECRET}"\n`, SECRET, null],
  ['a token of a tool', `[github]\n\ttoken = ${SECRET}\n`, SECRET, null],
  ['a helper', `[credential]\n\thelper = "!f() { echo password=${SECRET}; }; f"\n`, SECRET, null],
]

test.each(rows)('%s', (_, text, value, host) => {
  const masked = maskGitTokens(text)!
  expect(masked.text).not.toContain(SECRET)
  expect(masked.tokens).toMatchObject([{ value, host }])
  expect(masked.text).toContain(masked.tokens[0]!.placeholder)
  expect(maskGitTokens(text)).toEqual(masked)
})

test('a value that shows only once lines are joined is left out', () => {
  const text = `[remote "origin"]\n\turl = https://bob:${SECRET.slice(0, 9)}\\\n${SECRET.slice(9)}@github.com/x\n\tfetch = a\n`
  expect(maskGitTokens(text)?.text).toBe('[remote "origin"]\n\t\tfetch = a\n')
})

test.each([
  ['', 'nothing'],
  [remote('https://github.com/x/y'), 'no user'],
  [remote('https://bob@github.com/x/y'), 'a name alone'],
  [remote('ssh://git@github.com/x/y'), 'a login'],
  [remote('git@github.com:x/y'), 'scp'],
  [remote('https://github.com/x/y@1'), 'an @ in the path'],
  ['[credential]\n\thelper = store\n[http]\n\tcookieFile = /x\n[core]\n\taskpass = /y\n', 'helpers'],
])('%j stays as it is: %s', (text) => {
  expect(maskGitTokens(text)).toBeNull()
})
