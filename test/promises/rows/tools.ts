/** T: tools. */

import { expect } from 'vitest'
import { bash, by, no, type PromiseRow, SURFACES, type Try } from '../promise.ts'
import { GATEWAY, NO_OWN_TOOLS, NO_TOOLS, OWN_TOOLS, RUNS_NOTHING } from './reasons.ts'

const of = (tool: string, input: Try['input'], expected: Partial<Try> = {}): Try => ({ tool, input, ...expected })
const CORDONS_OWN = { run: NO_TOOLS, hook: OWN_TOOLS, gateway: GATEWAY, check: RUNS_NOTHING, page: RUNS_NOTHING }

const TOOL = {
  '$H/.config/cordon/tools/hello.json': JSON.stringify({ name: 'hello', description: 'Greets.', script: 'hello.sh' }),
  '$H/.config/cordon/tools/hello.sh': '#!/bin/sh\necho greetings; cat "$HOME/note.txt"\n',
  '$H/note.txt': 'note of the home\n',
}

export const TOOL_ROWS: readonly PromiseRow[] = [
  {
    id: 'T1',
    promise: 'The built-in tools leave nothing behind, whether they succeed, fail, are cancelled or called wrongly.',
    shown: ['test/contract/tools/tools.test.ts', 'test/contract/session/session.test.ts'],
    files: { 'a.txt': 'one\n' },
    tries: [
      of(
        'edit',
        { path: 'a.txt', old_string: 'one', new_string: 'two' },
        { is: 'allow', leaves: { 'a.txt': 'two\n' } },
      ),
      of('list', { path: '.' }, { is: 'allow', says: /a\.txt/ }),
      of('mkdir', { path: 'sub' }, { is: 'allow' }),
      of('copy', { source: 'a.txt', destination: 'sub/b.txt' }, { is: 'allow', leaves: { 'sub/b.txt': 'two\n' } }),
    ],
    on: { run: NO_TOOLS, hook: OWN_TOOLS, gateway: GATEWAY },
  },
  {
    id: 'T2',
    promise:
      'Custom tools with arguments, limits and labels that the sandbox enforces. Built-in tools have labels in the record.',
    shown: ['src/tools/custom/custom.test.ts', 'test/contract/session/own-tools.test.ts'],
    files: TOOL,
    trusted: ['hello'],
    manifest: { permission: { tools: { hello: 'allow' } } },
    tries: [of('hello', {}, { is: 'allow', says: /greetings/, hides: /note of the home/ })],
    on: { run: NO_TOOLS, hook: OWN_TOOLS, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'T2',
    promise: 'Arguments are checked by their schema. Without the label `network` a tool reaches nothing.',
    shown: ['src/tools/custom/custom.test.ts'],
    served: 'pages',
    files: {
      '$H/.config/cordon/tools/greet.json': JSON.stringify({
        ...{ name: 'greet', description: 'x', script: 'greet.sh', labels: ['execute'] },
        arguments: { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] },
      }),
      '$H/.config/cordon/tools/greet.sh':
        '#!/bin/sh\ncat; echo x > new.txt; curl -sS -m 3 http://127.0.0.1:$PORT/ 2>&1; true\n',
    },
    trusted: ['greet'],
    manifest: { permission: { tools: { greet: 'allow' } } },
    tries: [
      of('greet', { name: 'Ada' }, { is: 'allow', says: /Ada|^$/, hides: /answered/, leaves: { 'new.txt': null } }),
      of('greet', { name: 5 }, { says: /name/, hides: /answered/ }),
    ],
    on: CORDONS_OWN,
  },
  {
    id: 'T2',
    promise: 'A tool that a project brings along does not run untrusted, in auto mode neither.',
    shown: ['src/tools/custom/custom.test.ts'],
    files: {
      '.cordon/tools/evil.json': JSON.stringify({ name: 'evil', description: 'x', script: 'evil.sh' }),
      '.cordon/tools/evil.sh': '#!/bin/sh\necho evil ran\n',
    },
    manifest: { permission: { mode: 'auto' } },
    tries: [of('evil', {}, { hides: /evil ran/ })],
    on: CORDONS_OWN,
  },
  {
    id: 'T3',
    promise: 'Exactly the trusted bytes run.',
    shown: ['src/tools/custom/custom.test.ts', 'test/contract/session/promises.test.ts'],
    files: TOOL,
    manifest: { permission: { tools: { hello: 'allow' } } },
    on: {
      ...Object.fromEntries(
        (['session', 'mcp', 'chat', 'acp'] as const).map((name) => [
          name,
          { tries: [of('hello', {}, { says: /no tool|unknown/i, hides: /greetings/ })] },
        ]),
      ),
      check: { tries: [of('hello', {}, { is: 'deny' })] },
      page: { tries: [of('hello', {}, { is: 'deny' })] },
      run: NO_TOOLS,
      hook: OWN_TOOLS,
      gateway: by(
        'test/contract/mcp/gateway-tools.test.ts',
        'withholds a tool whose description changes between the list and the call',
      ),
    },
  },
  {
    id: 'T3',
    promise: 'A tool whose script changes after it was trusted does not run.',
    shown: ['src/tools/custom/custom.test.ts'],
    files: TOOL,
    trusted: ['hello'],
    manifest: { permission: { tools: { hello: 'allow' } } },
    tries: [
      of(
        'hello',
        {},
        {
          is: 'allow',
          says: /greetings/,
          after: (place) => place.write('$H/.config/cordon/tools/hello.sh', '#!/bin/sh\necho swapped\n'),
        },
      ),
      of('hello', {}, { hides: /swapped|greetings/ }),
    ],
    on: { ...CORDONS_OWN, gateway: NO_OWN_TOOLS },
  },
  {
    id: 'T3',
    promise: 'A script of a project’s skill asks until a person has approved its bytes.',
    shown: ['test/contract/session/promises.test.ts'],
    files: {
      '.agents/skills/demo/SKILL.md': '---\nname: demo\ndescription: d\n---\nRun go.sh.\n',
      '.agents/skills/demo/go.sh': '#!/bin/sh\necho went\n',
    },
    manifest: { permission: { mode: 'auto', tools: { bash: 'allow' } } },
    tries: [
      bash('sh .agents/skills/demo/go.sh', { is: 'ask', typed: 'allow' }),
      bash('cd .agents/skills/demo && ./go.sh', { is: 'ask', typed: 'allow' }),
      bash('./.agents/skills/demo/go.sh', {
        is: 'ask',
        typed: 'allow',
        asks: /approve demo/,
        after: async (place) => {
          expect((await place.cordon(['skills', 'approve', 'demo'])).code).toBe(0)
          const { out, code } = await place.cordon(['check', '--', './.agents/skills/demo/go.sh'])
          expect(code, out).toBe(0)
        },
      }),
    ],
    on: { gateway: GATEWAY },
  },
  {
    id: 'T4',
    promise: 'Code runs in a new container.',
    shown: ['test/contract/code/engines.test.ts'],
    manifest: { permission: { tools: { sandbox_run: 'allow' } }, sandbox: { run: { engines: ['os'] } } },
    files: { '.env': 'A=given\n' },
    tries: [
      of(
        'sandbox_run',
        { language: 'bash', code: 'cat .env', files: ['.env'] },
        { is: 'ask', answer: 'once', says: /A=given/ },
      ),
      of('sandbox_run', { language: 'bash', code: 'echo ran; cat /etc/shadow' }, { says: /ran/, hides: /root:/ }),
    ],
    on: CORDONS_OWN,
  },
  {
    id: 'T5',
    promise: 'Python and JavaScript reach tools only through guarded calls.',
    shown: ['test/contract/code/programs.test.ts'],
    files: { 'private/x': 'closed\n', 'a.txt': 'open\n' },
    manifest: {
      permission: { tools: { code_exec: 'allow', python_exec: 'allow' } },
      capabilities: { deny: { read: { paths: ['private/**'] } } },
    },
    tries: [
      of('code_exec', { code: 'return await cordon.read({ path: "private/x" })' }, { hides: /closed/ }),
      of('code_exec', { code: 'typeof process' }, { hides: /object/ }),
      of('python_exec', { code: 'import cordon\nprint(cordon.read(path="a.txt"))' }, { says: /open/ }),
      of('python_exec', { code: 'import cordon\nprint(cordon.read(path="private/x"))' }, { hides: /closed/ }),
      of('python_exec', { code: 'print(open("private/x").read())' }, { hides: /closed/ }),
    ],
    on: CORDONS_OWN,
  },
  {
    id: 'T6',
    promise: 'An agent as a component whose only imports are guarded calls.',
    shown: [
      'test/contract/code/component.test.ts',
      'test/components/hostile.test.ts',
      'test/components/agents.test.ts',
    ],
    on: Object.fromEntries(
      SURFACES.map((name) => [
        name,
        no('A component is an agent that `cordon agent` runs; the tests beside it drive it.'),
      ]),
    ),
  },
]
