/** Writes, edits, patches and answers "always" through a session until it is killed; started by session-crash.ts. */

import { join } from 'node:path'
import { programmaticPrompter } from '../../../src/approval/prompter.ts'
import { createCordon } from '../../../src/session/cordon.ts'
import { thisMachine } from '../../../src/system/machine.ts'
import { contentOf } from './session-crash.ts'

const base = process.argv[2]!
let round = Number(process.argv[3])
process.env.CORDON_KEYCHAIN = 'off'
const root = join(base, 'project')
const machine = {
  ...thisMachine(),
  cwd: root,
  home: join(base, 'home'),
  configDir: join(base, 'config'),
  stateDir: join(base, 'state'),
  cacheDir: join(base, 'cache'),
}
const prompter = programmaticPrompter(({ suggestions: [grant], subject }) => {
  if (!grant) return { kind: 'once' }
  return subject.startsWith('always/') ? { kind: 'always', grant } : { kind: 'time', grant, seconds: 600 }
})
const session = (await createCordon({ project: root, machine, prompter })).openSession()
process.send?.('ready')
for (;;) {
  const next = contentOf(++round)
  await session.call('write', { path: 'written.txt', content: next })
  await session.call('write', { path: `asked/${round % 7}.txt`, content: next })
  const read = await session.call('read', { path: 'edited.txt' })
  const old = read.status === 'done' ? read.output.text.split('\n')[0]! : ''
  await session.call('edit', {
    path: 'edited.txt',
    old_string: old,
    new_string: `generation ${round}`,
    replace_all: true,
  })
  const lines = contentOf(0)
    .split('\n')
    .filter((line) => line !== '')
  await session.call('apply_patch', { patch: patchOf('patched-a.txt', 'patched-b.txt', lines.length) })
  // An "always": the manifest is edited and signed again.
  await session.call('write', { path: `always/${round}.txt`, content: next })
}

/** Two files in one patch. */
function patchOf(one: string, two: string, lines: number): string {
  const add = (name: string) => [
    `*** Add File: ${name}.${round}`,
    ...Array.from({ length: lines }, () => `+generation ${round}`),
  ]
  return ['*** Begin Patch', ...add(one), ...add(two), '*** End Patch', ''].join('\n')
}
