/** X: the surfaces themselves. */

import type { SessionUpdate } from '@agentclientprotocol/sdk'
import { expect } from 'vitest'
import { createCordon } from '../../../src/session/cordon.ts'
import { openAcp } from '../agents.ts'
import {
  bash,
  by,
  type Cell,
  fetchOf,
  no,
  own,
  type PromiseRow,
  remote,
  SURFACES,
  type SurfaceName,
} from '../promise.ts'

/** A promise about one surface, or a few. */
function only(cells: Partial<Record<SurfaceName, Cell>>, why: string): Record<SurfaceName, Cell> {
  return { ...(Object.fromEntries(SURFACES.map((name) => [name, no(why)])) as Record<SurfaceName, Cell>), ...cells }
}

export const SURFACE_ROWS: readonly PromiseRow[] = [
  {
    id: 'X1',
    promise: 'A command line with help, completions, JSON and meaningful exit codes.',
    shown: ['test/e2e/usage.test.ts', 'test/e2e/json.test.ts', 'src/surfaces/cli/start/help.test.ts'],
    on: only(
      {
        run: own(async (place) => {
          expect((await place.cordon(['run', '--', 'sh', '-c', 'exit 7'])).code).toBe(7)
          expect((await place.cordon(['run', '--', 'no-such-program'])).code).toBe(127)
          expect((await place.cordon(['run', '--nonsense'])).code).toBe(2)
        }),
        check: own(async (place) => {
          const { out, code } = await place.cordon(['check', '--json', '--', 'sudo ls'])
          expect([code, JSON.parse(out).decision]).toEqual([4, 'deny'])
        }),
      },
      'It is about the command line.',
    ),
  },
  {
    id: 'X2',
    promise: 'An MCP server, and a gateway that guards other servers.',
    shown: [
      'test/contract/mcp/server.test.ts',
      'test/contract/mcp/gateway.test.ts',
      'test/contract/mcp/remote.test.ts',
      'src/manifest/compile-mcp.test.ts',
    ],
    on: only(
      {
        mcp: own(async (place) => {
          const hello = { jsonrpc: '2.0', id: 1, method: 'initialize' }
          const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 't', version: '0' } }
          const { out } = await place.cordon(['mcp'], `${JSON.stringify({ ...hello, params })}\n`)
          expect(JSON.parse(out.split('\n')[0]!).result.capabilities).toHaveProperty('tools')
        }),
        gateway: by('test/contract/mcp/gateway.test.ts', 'the everything server answers through the gateway'),
      },
      'It is about MCP.',
    ),
  },
  {
    id: 'X3',
    promise: 'Hooks for other agents that fail closed.',
    shown: [
      'test/contract/hooks/protocol.test.ts',
      'test/contract/hooks/process.test.ts',
      'test/attacks/agent/unknown-tools.test.ts',
    ],
    on: only(
      {
        hook: own(async (place) => {
          const { code, err } = await place.cordon(['hook', 'claude-code'], 'no JSON')
          expect(code).toBe(2)
          expect(err.trim()).not.toBe('')
        }),
      },
      'It is about hooks.',
    ),
  },
  {
    id: 'X4',
    promise: 'A library without global state, with adapters and custom tools.',
    shown: ['test/e2e/library.test.ts', 'test/e2e/package.test.ts', 'test/contract/session/own-tools.test.ts'],
    on: only(
      {
        session: own(async ({ root, machine }) => {
          const malformed = { kind: 'always', grant: { kind: 'all', value: 5 } } as never
          const prompter = { name: 'bad', ask: async () => malformed }
          const cordon = await createCordon({ project: root, machine, prompter })
          const [one, other] = [cordon.openSession(), cordon.openSession()]
          one.setLevel('bash', 'deny')
          expect((await other.call('bash', { command: 'make x' })).status).toBe('refused')
          expect((await one.call('bash', { command: 'true' })).status).toBe('denied')
          await cordon.close()
          await (await createCordon({ project: root, machine })).close()
        }),
      },
      'It is about the library.',
    ),
  },
  {
    id: 'X5',
    promise: 'Cordon’s own agent in the terminal.',
    shown: ['test/e2e/chat/chat.test.ts', 'test/e2e/chat/print.test.ts'],
    on: only(
      { chat: by('test/e2e/chat/chat.test.ts', 'edits, is denied, plans, switches, and shows it all') },
      'It is about the chat.',
    ),
  },
  {
    id: 'X6',
    promise: 'A local page: approvals, the live audit, what the policy allows and why.',
    shown: ['test/contract/page/browser.test.ts', 'test/attacks/page/page.test.ts'],
    on: only(
      {
        page: by(
          'test/contract/page/browser.test.ts',
          'answers an ask, shows what came of it live, opens it with its diff, and puts it back',
        ),
      },
      'It is about the page.',
    ),
  },
  {
    id: 'X7',
    promise: 'Settings of other agents become a manifest; learning from a run.',
    shown: ['src/agents/import/manifest.test.ts', 'test/e2e/learn.test.ts', 'test/attacks/learn/learn.test.ts'],
    on: only({}, '`cordon learn` and `cordon import` propose a manifest before a surface starts.'),
  },
  {
    id: 'X8',
    promise: 'Fleets: the organisation’s signed policy, shipped records, asks answered centrally.',
    shown: [
      'test/attacks/fleet/organisation.test.ts',
      'test/contract/fleet/records.test.ts',
      'test/fleet/surfaces.test.ts',
    ],
    organisation:
      '[security]\ndeny_domains = ["bad.example.com"]\npipes = false\n[permission.tools]\n"mcp__s__drop" = "deny"\n[capabilities.deny.commands]\npatterns = ["whoami:*"]\n',
    manifest: { permission: { mode: 'auto' } },
    tries: [
      bash('whoami', { is: 'deny' }),
      bash('env whoami', { is: 'deny' }),
      bash('true', { is: 'allow' }),
      bash('echo a | cat', { is: 'deny' }),
      fetchOf('http://bad.example.com/', { is: 'deny' }),
    ],
    on: {
      gateway: {
        tries: [
          remote('drop', { is: 'deny' }),
          remote('echo', { is: 'allow' }),
          remote('get', { is: 'deny' }, 'http://bad.example.com/'),
        ],
      },
    },
  },
  {
    id: 'X9',
    promise: 'ACP: an editor sees each change as a diff, and the to-do list as a plan.',
    shown: ['test/e2e/chat/acp.test.ts'],
    on: only(
      {
        acp: own(async (place) => {
          const updates: SessionUpdate[] = []
          const editor = await openAcp(place, undefined, (update) => updates.push(update))
          await editor.call({ tool: 'write', input: { path: 'a.txt', content: 'new' } }, 'once')
          await editor.call({ tool: 'todowrite', input: { todos: [{ content: 'test it', priority: 'high' }] } }, 'once')
          await editor.close()
          const ended = updates.find((update) => update.sessionUpdate === 'tool_call_update')
          expect(ended).toMatchObject({ content: [{ type: 'diff', newText: 'new' }, { type: 'content' }] })
          expect(updates).toContainEqual({
            sessionUpdate: 'plan',
            entries: [{ content: 'test it', status: 'pending', priority: 'high' }],
          })
        }),
      },
      'It is about ACP.',
    ),
  },
  {
    id: 'X10',
    promise: 'First steps: `cordon shell`, `cordon add`, grants for one run, questions if something is missing.',
    shown: [
      'test/e2e/terminal/run-terminal.test.ts',
      'test/e2e/mistakes.test.ts',
      'test/attacks/grants/one-off.test.ts',
    ],
    on: only(
      {
        run: own(async (place) => {
          place.write('$B/aside/x.txt', 'aside\n')
          const path = place.path('$B/aside/x.txt')
          expect((await place.cordon(['run', '--read', path, '--', 'cat', path])).out).toContain('aside')
        }),
      },
      'It is about the command line.',
    ),
  },
  {
    id: 'X11',
    promise: 'Packages for npm, Debian, archives and images; installing, removing and repairing it; state is migrated.',
    shown: [
      'test/e2e/package.test.ts',
      'test/e2e/doctor-fix.test.ts',
      'test/e2e/state-version.test.ts',
      'test/e2e/terminal/come-and-go.test.ts',
    ],
    on: only(
      {
        run: own(async (place) => {
          await place.cordon(['setup', '--yes'])
          expect(JSON.parse((await place.cordon(['uninstall', '--json'])).out).files).toHaveLength(1)
          await place.cordon(['uninstall', '--yes'])
          expect(JSON.parse((await place.cordon(['uninstall', '--json'])).out).files).toEqual([])
        }),
      },
      'It is about installing.',
    ),
  },
]
