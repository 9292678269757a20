import { expect, it } from 'vitest'
import { storedSpelling } from './files.ts'

const FOLDERS: Readonly<Record<string, readonly string[]>> = {
  '/': ['Users'],
  '/Users': ['ada'],
  '/Users/ada': ['Secrets', 'Caf\u00e9', 'work', '.ssh', 'stra\u00dfe'],
  '/Users/ada/Secrets': ['Key.pem'],
}

it.each([
  { path: '/users/ADA/secrets/key.PEM', stored: '/Users/ada/Secrets/Key.pem', note: 'case' },
  { path: '/Users/ada/Cafe\u0301', stored: '/Users/ada/Caf\u00e9', note: 'a letter and its accent apart' },
  { path: '/Users/ada/.s\u200csh', stored: '/Users/ada/.ssh', note: 'a code point that is not seen' },
  { path: '/Users/ada/.\u017fs\u210a', stored: '/Users/ada/.\u017fs\u210a', note: 'another letter' },
  { path: '/Users/ada/.\u017f\u017fh', stored: '/Users/ada/.ssh', note: 'a long s, whose upper case is S' },
  { path: '/Users/ada/wor\u212a', stored: '/Users/ada/work', note: 'the sign for kelvin' },
  { path: '/Users/ada/STRASSE', stored: '/Users/ada/STRASSE', note: 'two letters are not one' },
  { path: '/Users/ada/WORK/New/File', stored: '/Users/ada/work/New/File', note: 'what is not there yet' },
  { path: '/', stored: '/', note: 'the root' },
])('$path is $stored ($note)', ({ path, stored }) => {
  expect(storedSpelling(path, (folder) => FOLDERS[folder] ?? [])).toBe(stored)
})

it('takes the exact name if a folder contains both', () => {
  expect(storedSpelling('/A/b', (folder) => (folder === '/' ? ['a', 'A'] : []))).toBe('/A/b')
})
