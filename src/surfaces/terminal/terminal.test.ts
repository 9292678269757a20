import { expect, it } from 'vitest'
import { wrapNotices } from './terminal.ts'

const LONG = 'cordon: ~/notes/a.txt is outside the project, and the command does not see it; '
const yellow = (text: string) => `\u001b[33m${text}\u001b[39m`

it.each<[note: string, text: string, width: number | null, shown: string]>([
  ['one that fits', 'cordon: short\n', 40, 'cordon: short\n'],
  ['no terminal', `${LONG}done\n`, null, `${LONG}done\n`],
  ['another text', `${'word '.repeat(20)}\n`, 40, `${'word '.repeat(20)}\n`],
  [
    'a long one, between words',
    `${LONG}done\n`,
    40,
    'cordon: ~/notes/a.txt is outside the\n  project, and the command does not see\n  it; done\n',
  ],
  [
    'colours count nothing',
    `${yellow('cordon:')} ${'word '.repeat(14)}end\n`,
    72,
    `${yellow('cordon:')} ${'word '.repeat(12)}word\n  word end\n`,
  ],
  [
    'a command stays whole',
    `${LONG}to show it: cordon run --read ~/notes/a.txt …\n`,
    60,
    `cordon: ~/notes/a.txt is outside the project, and the\n  command does not see it; to show it:\n  cordon run --read ~/notes/a.txt …\n`,
  ],
  [
    'a command that is longer than a row is left to the terminal',
    `${LONG}cordon run --read ${'~/deep'.repeat(10)} …\n`,
    60,
    `cordon: ~/notes/a.txt is outside the project, and the\n  command does not see it;\n  cordon run --read ${'~/deep'.repeat(10)} …\n`,
  ],
  [
    'a port is part of its host, and what is quoted stays whole',
    'cordon: to reach it: cordon run --allow-host 127.0.0.1:43701 …, or `set it  for all of them` (cordon add host 127.0.0.1:43701).\n',
    64,
    'cordon: to reach it: cordon run --allow-host 127.0.0.1:43701 …,\n  or `set it  for all of them`\n  (cordon add host 127.0.0.1:43701).\n',
  ],
  ['the remedy below', `  ${'word '.repeat(13)}end\n`, 40, `  ${'word '.repeat(6)}word\n  ${'word '.repeat(6)}end\n`],
])('%s', (_, text, width, shown) => {
  expect(wrapNotices(text, () => width)).toBe(shown)
})
