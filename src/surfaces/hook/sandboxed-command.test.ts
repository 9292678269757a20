/** The rewrite survives a real shell, whatever the command holds. */

import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { commandInside, sandboxedCommand } from './sandboxed-command.ts'

const form = { cordon: ['/opt/a b/node', "/opt/it's"], host: 'codex', root: '/p/$x', session: 'a;b' }

it('reads back what it wrote, and a shell sees the same words', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', maxLength: 40 }), (text) => {
      const command = text.replaceAll('\0', '')
      const written = sandboxedCommand(command, form)
      expect(commandInside(written, form)).toBe(command)
      const shown = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${written}`], { encoding: 'utf8' }).stdout.split('\0')
      expect(shown.slice(0, -1)).toEqual([
        ...form.cordon,
        ...['hook', 'run', '--host', 'codex', '--root', '/p/$x', '--session', 'a;b', '--', command],
      ])
    }),
    { numRuns: 60, examples: [["'"], ["''"], ["'\\''"], ['\\'], ['$(id)'], ['`id`'], ['!x'], ['-n'], ['a\nb'], ['']] },
  )
})

it.each([
  ['another program', "/bin/node /opt/it's hook run -- 'ls'"],
  ['more behind it', `${sandboxedCommand('ls', form)} ; id`],
  ['two words', `${sandboxedCommand('ls', form)} 'id'`],
  ['a substitution between the quotes', `${sandboxedCommand('ls', form).slice(0, -1)}'$(id)''`],
  ['another session', sandboxedCommand('ls', { ...form, session: 'other' })],
])('does not take %s for its own', (_, text) => {
  expect(commandInside(text, form)).toBeNull()
})
