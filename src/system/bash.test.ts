import { expect, test } from 'vitest'
import { bashSyntaxError } from './processes.ts'

test.each(['ls', 'echo "$(date)"', 'if true; then :; fi', 'cat <<E\nx\nE'])('a command: %j', (command) => {
  expect(bashSyntaxError(command)).toBeNull()
})

test.each([
  ['echo "', 'unexpected EOF'],
  ['if true; then', 'syntax error'],
  ['git ( status', 'syntax error'],
  // bash only warns, and takes the rest of the text for the here-document.
  ['cat <<E\nx', 'here-document'],
])('no command: %j', (command, complaint) => {
  expect(bashSyntaxError(command)).toContain(complaint)
})

test('a text that bash cannot be given is not a command', () => {
  expect(bashSyntaxError(`echo ${'x'.repeat(4_000_000)}`)).toContain('could not be asked')
})
