/** What is read from a command's complaints, as a table. */

import { expect, it } from 'vitest'
import { needsInOutput } from './learn.ts'

const env = { BUILD_TARGET: 'x', API_TOKEN: 'hunter2', LC_ALL: 'C', EMPTY_ONE: '' }

it.each<[note: string, command: string, said: string, found: readonly string[], withheld: readonly string[]]>([
  ['a variable', 'x', './x: 7: BUILD_TARGET: parameter not set', ['variable BUILD_TARGET'], []],
  ['one that the person does not have', 'x', 'OTHER_TARGET is not set, EMPTY_ONE is empty', [], []],
  ['one that it sees', 'x', 'LC_ALL is wrong', [], []],
  ['a secret', 'x', "KeyError: 'API_TOKEN'", [], ['$API_TOKEN']],
  ['part of another name', 'x', 'MY_BUILD_TARGET_X', [], []],
  ['a variable in its words', 'sh -c echo/$BUILD_TARGET', '', ['variable BUILD_TARGET'], []],
  ['code that asks for one', `python3 -c os.environ["BUILD_TARGET"]`, '', ['variable BUILD_TARGET'], []],
  ['one that it sets itself', 'env BUILD_TARGET=y x', '', [], []],
  ['a secret in its words', 'sh -c echo/${API_TOKEN}', '', [], ['$API_TOKEN']],
  ['a port in its words', 'curl http://127.0.0.1:5432/', '', ['host 127.0.0.1:5432'], []],
  ['curl', 'x', 'Failed to connect to localhost port 5432 after 0 ms', ['host 127.0.0.1:5432'], []],
  ['Node', 'x', 'Error: connect ECONNREFUSED 127.0.0.1:5432', ['host 127.0.0.1:5432'], []],
  ['psql', 'x', 'connection to server at "localhost" (127.0.0.1), port 5432 failed', ['host 127.0.0.1:5432'], []],
  ['a port where nothing listens', 'x', 'connect ECONNREFUSED 127.0.0.1:6379', [], []],
  ['another machine', 'x', 'connect ECONNREFUSED 10.0.0.1:5432', [], []],
])('%s', (_, command, said, found, kept) => {
  const { needs, withheld } = needsInOutput(command.split(' '), said, { env }, null, new Set([5432]))
  expect(needs.map(({ kind, value }) => `${kind} ${value}`)).toEqual(found)
  expect(withheld.map(({ subject }) => subject)).toEqual(kept)
})
