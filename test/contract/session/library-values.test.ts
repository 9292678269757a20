/** Every value that a program gives the library is parsed: a wrong one throws with its name and what is expected. */

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { aiSdkTools } from '../../../src/adapters/ai-sdk.ts'
import { compareVerdicts, stricter } from '../../../src/exports/policy.ts'
import { createCordon, defineTool, loadPolicy, openChecker, programmaticPrompter } from '../../../src/index.ts'
import type { Cordon } from '../../../src/session/cordon.ts'
import type { Session } from '../../../src/session/session.ts'
import { serveHttp } from '../../../src/surfaces/mcp/http.ts'
import { Fault } from '../../../src/system/fault.ts'
import { openSessionWorld, type SessionWorld } from './session-world.ts'

let world: SessionWorld
let cordon: Cordon
let session: Session
beforeAll(async () => {
  world = openSessionWorld()
  world.file('a.txt', 'one\n')
  cordon = await world.open({ manifest: { object: { schema_version: 1 } } })
})
beforeEach(() => {
  session = cordon.openSession()
})
afterEach(() => session.close())
afterAll(() => world.close())

const given = (value: unknown) => value as never
const tool = {
  name: 'mine',
  description: 'x',
  input: { type: 'object', properties: {}, required: [] },
  actions: () => ({}),
  run: async () => ({ text: '' }),
}
const opened = (more: object) => createCordon({ project: world.root, ...more } as never)
const server = { open: async () => cordon, fallback: { name: 'x', ask: async () => ({ kind: 'deny' as const }) } }

it.each<[name: string, call: () => unknown, says: RegExp]>([
  ['no options', () => createCordon(given(undefined)), /createCordon takes an object/],
  ['another field', () => opened({ mode: 'plan' }), /no field "mode"/],
  ['a project that is a file', () => opened({ project: `${world.root}/a.txt` }), /project of createCordon/],
  ['a project that is not there', () => opened({ project: `${world.root}/none` }), /project of createCordon/],
  ['a prompter that cannot ask', () => opened({ prompter: { name: 'x' } }), /prompter of createCordon/],
  ['a machine without its functions', () => opened({ machine: {} }), /machine of createCordon/],
  ['a backend that is a text', () => opened({ backend: 'bwrap' }), /backend of createCordon/],
  ['a resolver that is null', () => opened({ resolver: null }), /resolver of createCordon is null/],
  ['tools that are none', () => opened({ tools: [5] }), /tool 1 of createCordon is 5/],
  ['a tool without a schema', () => opened({ tools: [{ ...tool, input: {} }] }), /properties in the input/],
  [
    'a tool with a name that is taken',
    () => opened({ tools: [{ ...tool, name: 'bash' }] }),
    /"bash" cannot be the name/,
  ],
  ['an id that is a number', () => cordon.openSession(given({ id: 5 })), /id of openSession is 5/],
  ['a task that cannot run', () => cordon.openSession(given({ task: {} })), /task of openSession/],
  ['a sandbox in capitals', () => cordon.openSession(given({ sandbox: 'Own' })), /"Own"/],
  ['a leader that is not a session', () => cordon.openSession(given({ leader: {} })), /leader/],
  ['a mode in capitals', () => session.setMode(given('Plan')), /"Plan"/],
  ['an unknown agent', () => session.setAgent('Build'), /"Build"/],
  ['a level in capitals', () => session.setLevel('bash', given('DENY')), /"DENY"/],
  ['a level of a tool in capitals', () => session.setLevel('Bash', 'deny'), /"Bash"/],
  ['a level of several tools', () => session.setLevel('mcp__s__*', 'deny'), /mcp__s__\*/],
  ['an envelope that is a text', () => session.widenEnvelope(given('src/**')), /list of globs/],
  ['an envelope that is not a glob', () => session.widenEnvelope(['[']), /envelope/],
  ['a listener that is not a function', () => session.subscribe(given({})), /listener of subscribe/],
  ['offered tools that are none', () => session.offer(given({})), /tools of offer/],
  ['an offered tool without a run', () => session.offer(given([{ ...tool, run: null }])), /tool 1 of offer/],
  ['a session that follows itself', () => session.follow(session), /would follow itself/],
  ['a session that follows none', () => session.follow(given(cordon)), /follow takes a session/],
  ['a tool without a name', () => session.call(given(undefined), {}), /tool of call/],
  ['another option of a call', () => session.call('bash', {}, given({ timeout: 5 })), /no field "timeout"/],
  ['a signal that is a number', () => session.call('bash', {}, given({ signal: 5 })), /signal of call/],
  ['an empty definition', () => defineTool(given({})), /definition of defineTool/],
  ['labels that there are none of', () => defineTool(given({ ...tool, labels: ['net'] })), /"net"/],
  ['a prompter of no function', () => programmaticPrompter(given('once')), /programmaticPrompter/],
  ['a policy of nothing', () => loadPolicy(given({})), /machine of loadPolicy/],
  ['a checker of nothing', () => openChecker(given(null), given(null), given(null)), /policy of openChecker/],
  ['tools of no session', () => aiSdkTools(given({})), /session of aiSdkTools/],
  ['tools by a wrong name', () => aiSdkTools(session, { only: ['Bash'] }), /"Bash"/],
  ['a token that can be guessed', () => serveHttp(server, 0, 'secret'), /token of serveHttp can be guessed/],
  ['a port that is a text', () => serveHttp(server, given('80')), /port of serveHttp/],
  ['a verdict in capitals', () => stricter('allow', given('DENY')), /"DENY"/],
  ['a verdict that is not a text', () => compareVerdicts('allow', given(undefined)), /verdict is undefined/],
])('%s', async (_, call, says) => {
  const thrown: unknown = await Promise.resolve()
    .then(call)
    .then(
      () => 'it was taken',
      (error: unknown) => error,
    )
  expect(thrown).toBeInstanceOf(Fault)
  expect((thrown as Fault).message).toMatch(says)
})

it('a second leader does not replace the first, nor make a circle', () => {
  const [strict, other] = [cordon.openSession(), cordon.openSession()]
  session.follow(strict)
  expect(() => session.follow(other)).toThrow(/follows one already/)
  expect(() => strict.follow(session)).toThrow(/would follow itself/)
})

it('a closed project opens no session', async () => {
  const closed = await world.open({ manifest: { object: { schema_version: 1 } } })
  await closed.close()
  expect(() => closed.openSession()).toThrow(/closed/)
})
