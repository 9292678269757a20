/** The rewrite survives a real shell, whatever the command contains. */

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { commandInside, sandboxedCommand, sandboxedText } from './sandboxed-command.ts'

const form = { program: "/opt/a b/it's/cordon-run", key: '0123456789ab' }

it('reads back what it wrote, and a shell sees the same words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      const command = text.replaceAll('\0', '')
      const posix = { ...form, quoting: 'posix', readOnly: true } as const
      const plain = sandboxedCommand(command, posix)
      expect(commandInside(plain, posix)).toBe(command)
      expect(sandboxedText(plain, form.program)).not.toBeNull()
      expect(sandboxedText(`${plain};id`, form.program)).toBeNull()
      const said = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${plain}`], { encoding: 'utf8' }).stdout.split('\0')
      expect(said.slice(0, -1)).toEqual([form.program, `${form.key}+read`, command])
      const written = sandboxedCommand(command, form)
      expect(commandInside(written, form)).toBe(command)
      const shown = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${written}`], { encoding: 'utf8' }).stdout.split('\0')
      expect(shown.slice(0, -1)).toEqual([form.program, form.key, command])
      const answered = sandboxedCommand(command, form, { answer: 'deadbeef' })
      expect(commandInside(answered, form)).toBe(command)
      const moved = sandboxedCommand(command, form, { move: { from: "/a'b", to: '/tmp' }, answer: 'deadbeef' })
      for (const form of [written, answered, moved])
        expect(sandboxedText(form, "/opt/a b/it's/cordon-run")).not.toBeNull()
      for (const other of [`${written}; id`, `id; ${moved}`, `${answered} 'id'`, command]) {
        expect(sandboxedText(other, form.program)).toBeNull()
      }
    }),
    { numRuns: 60, examples: [["'"], ["''"], ["'\\''"], ['\\'], ['$(id)'], ['`id`'], ['!x'], ['-n'], ['a\nb'], ['']] },
  )
})

/** The words of a text as fish reads them: between single quotes a backslash escapes a quote and a backslash. */
function fishWords(text: string): string[] {
  const words = ['']
  let quoted = false
  for (let at = 0; at < text.length; at++) {
    const character = text[at]!
    const next = text[at + 1]
    if (character === "'") quoted = !quoted
    else if (character === '\\' && (!quoted || next === "'" || next === '\\'))
      words[words.length - 1] += text[++at] ?? ''
    else if (character === ' ' && !quoted) words.push('')
    else if (!quoted && /[;&|\n$()]/.test(character))
      throw new Error(`fish would run what follows ${text.slice(0, at)}`)
    else words[words.length - 1] += character
  }
  if (quoted) throw new Error('the quotes are not closed')
  return words
}

it('is one word to fish as well', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("'", '\\', ' ', ';', 'a', '\n', '$', '"') }), (command) => {
      expect(fishWords(sandboxedCommand(command, form)).at(-1)).toBe(command)
    }),
    { numRuns: 300, examples: [["x\\'; touch y; echo '"], ['\\'], ["\\'"], ['\\\\']] },
  )
})

it('moves the host’s shell first, starts the command where it was, and nothing else', () => {
  const moved = { program: '/bin/echo', key: form.key }
  const written = `${sandboxedCommand('cd sub', moved, { move: { from: "/a'b", to: '/tmp' } })}; echo $? && pwd`
  const run = spawnSync('/bin/sh', ['-c', written], { encoding: 'utf8', cwd: '/' })
  expect(run.stdout.split('\n')).toEqual(["0123456789ab --in /a'b cd sub", '0', '/tmp', ''])
  expect(commandInside(sandboxedCommand('ls', moved, { move: { from: '/', to: '/tmp' } }), moved)).toBeNull()
})

it.each([
  ['another program', "/bin/cordon-run 0123456789ab 'ls'"],
  ['more behind it', `${sandboxedCommand('ls', form)} ; id`],
  ['two words', `${sandboxedCommand('ls', form)} 'id'`],
  ['a substitution between the quotes', `${sandboxedCommand('ls', form).slice(0, -1)}'$(id)''`],
  ['another session', sandboxedCommand('ls', { ...form, key: 'ba9876543210' })],
])('does not take %s for its own', (_, text) => {
  expect(commandInside(text, form)).toBeNull()
})
