/** What a person sees at a real terminal, compared as text: signing, the prompt at three widths, `cordon try`, `cordon` alone. */

import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { askView } from '../../src/approval/ask-view.ts'
import type { Suggestion } from '../../src/approval/suggestion.ts'
import { soleDecision } from '../../src/policy/decision.ts'
import { worstCaseOf } from '../../src/policy/worst-case.ts'
import { keepAsk, openAsks } from '../../src/questions/asks.ts'
import { thisMachine } from '../../src/system/machine.ts'
import { PtyChat } from './chat/chat-world.ts'
import { Project } from './cordon.ts'

const WIDTHS = [60, 80, 120]

let project: Project
let open: PtyChat[]
beforeEach(() => {
  project = new Project({ 'package.json': '{"scripts":{"test":"node --test","dev":"vite -p 4321"}}' })
  open = []
})
afterEach(async () => {
  for (const terminal of open) await terminal.kill()
  project.remove()
})

const env = () => ({
  PATH: process.env.PATH ?? '',
  HOME: project.home,
  TERM: 'xterm',
  NO_COLOR: '1',
  CORDON_KEYCHAIN: 'off',
})

function at(columns: number, args: readonly string[], rows = 40): PtyChat {
  const terminal = new PtyChat(args, project.directory, env(), columns, rows)
  open.push(terminal)
  return terminal
}

const SIGNING = [
  'With this manifest, an agent in this project:',
  '  runs unasked    what stays inside the sandbox, npm test:*,',
  '                  npm run dev:*',
  '  reaches         REGISTRY, the package hosts of node, npm',
  '  writes          the project',
  '  serves ports    4321',
  'In words:',
  '  + What stays inside the sandbox runs without asking; what',
  '    reaches out or cannot be undone asks.',
]

it('signing is a headline, then words, then the question; a later one begins with what changed', async () => {
  project.cordon(['init'])
  const first = at(60, ['sign'])
  await first.until(/Sign it\? \[y\/N\]/)
  // The registry is whatever npm is configured with here.
  const shown = first.screen.text.split('\n')
  expect(shown.slice(0, 3)).toEqual(SIGNING.slice(0, 3))
  const from = shown.findIndex((row) => row.startsWith('  writes'))
  expect(shown.slice(from, from + 5)).toEqual(SIGNING.slice(4))
  expect(first.screen.text).not.toMatch(/permission\.mode|security\.|\.claude/)
  first.type('y\r')
  await first.until(/signed [\s\S]*cordon\.toml/)
  expect(await first.ended()).toBe(0)

  project.write(
    'cordon.toml',
    project
      .cordon(['init', '--print'])
      .out.replace('"npm test:*",', '"npm test:*",\n  { command = "gh pr:*", domains = ["api.github.com"] },'),
  )
  const second = at(80, ['sign'])
  await second.until(/Sign it\? \[y\/N\]/)
  expect(second.screen.text.split('\n').slice(0, 3)).toEqual([
    'Since you last signed it:',
    '  + The command "gh pr:*" runs without asking (reaches api.github.com).',
    'With that, this project:',
  ])
  second.type('n\r')
  await second.until(/not signed/)
  expect(await second.ended()).toBe(1)
})

const GRANTS: readonly Suggestion[] = [
  { kind: 'command', value: 'deploy 日本', admits: 'exactly this command' },
  { kind: 'command', value: 'deploy:*', admits: 'deploy with any further words' },
]

const PROMPTS: Readonly<Record<number, string>> = {
  60: `── cordon asks: bash for codex ─────────────────────────────
Worst case: changes something on another machine (deploy
日本). Cannot be undone.
in PROJECT
│ deploy 日本 \\u{202e}evil 😀 && echo \\e[2J done
why  \`deploy 日本\` changes something elsewhere.
     [remote-write]
save command deploy 日本
     covers exactly this command

t for a time   a always   n no   d deny always   ← narrower
→ broader 1/2`,
  80: `── cordon asks: bash for codex ─────────────────────────────────────────────────
Worst case: changes something on another machine (deploy 日本). Cannot be
undone.
in PROJECT
│ deploy 日本 \\u{202e}evil 😀 && echo \\e[2J done
why  \`deploy 日本\` changes something elsewhere.
     [remote-write]
save command deploy 日本
     covers exactly this command

t for a time   a always   n no   d deny always   ← narrower   → broader 1/2`,
  120: `── cordon asks: bash for codex ─────────────────────────────────────────────────────────────────────────────────────────
Worst case: changes something on another machine (deploy 日本). Cannot be undone.
in PROJECT
│ deploy 日本 \\u{202e}evil 😀 && echo \\e[2J done
why  \`deploy 日本\` changes something elsewhere.
     [remote-write]
save command deploy 日本
     covers exactly this command

t for a time   a always   n no   d deny always   ← narrower   → broader 1/2`,
}

it.each(WIDTHS)('the prompt in %i columns, and its answer', async (columns) => {
  const machine = { ...thisMachine(), stateDir: join(project.home, '.local/state/cordon'), home: project.home }
  mkdirSync(machine.stateDir, { recursive: true, mode: 0o700 })
  const subject = 'deploy 日本 \u202eevil 😀 && echo \u001b[2J done'
  const message = '`deploy 日本` changes something elsewhere.'
  const decision = soleDecision('ask', { kind: 'command', text: 'deploy 日本' }, { code: 'remote-write', message })
  const call = {
    input: { command: subject },
    call: 'hash',
    once: 'hash',
    facts: null,
    worst: worstCaseOf(decision, null),
  }
  const request = { tool: 'bash', subject, ...call, decision, asks: decision.segments, suggestions: GRANTS }
  const view = { ...askView(request), answers: ['time', 'always', 'deny', 'deny-always'] as const }
  keepAsk(machine, { host: 'codex', project: project.directory, tool: 'bash', view, suggestions: GRANTS }, Date.now())
  expect(openAsks(machine, Date.now())).toHaveLength(1)

  const terminal = at(columns, ['approvals', 'answer'])
  await terminal.until(/broader 1\/2/)
  const rows = terminal.screen.visible.trimEnd().split('\n')
  // The place is cut in the middle where it does not fit, and differs from run to run.
  const place = rows.findIndex((row) => row.startsWith('in '))
  expect(rows[place]).toMatch(/^in .*\/project$/)
  rows[place] = 'in PROJECT'
  expect(rows.join('\n').trimEnd()).toBe(PROMPTS[columns])
  terminal.type('\u001b[C')
  await terminal.until(/broader 2\/2/)
  expect(terminal.screen.visible).toContain('save command deploy:*')
  await terminal.answers('t')
  await terminal.until(/10 minutes/)
  terminal.type('2')
  await terminal.until(/granted for 60 minutes: command deploy:\*/)
  expect(await terminal.ended()).toBe(0)
  expect(project.cordon(['approvals']).out).toBe('no questions are waiting\n')
  expect(project.cordon(['grants']).out).toContain('deploy:*')
  const [grant] = JSON.parse(project.cordon(['grants', '--json']).out) as { readonly id: string }[]
  expect(project.cordon(['grants', 'revoke', grant!.id.slice(0, 12)]).out).toContain('command deploy:*')
  expect(project.cordon(['grants']).out).toBe('nothing was granted beyond the manifests\n')
})

it('the tour asks its one question at the terminal; a yes, a no and a terminal that goes away are as promised', async () => {
  // Between its steps it waits for a person to read, so all three are taken at once.
  const place = join(project.home, 'tmp')
  mkdirSync(place)
  const [yes, no] = [at(80, ['try']), at(80, ['try'])]
  const left = new PtyChat(['try'], project.directory, { ...env(), TMPDIR: place }, 80, 40)
  open.push(left)
  for (const tour of [left, yes, no]) {
    await tour.until((screen) => screen.isAlternate && screen.visible.includes('y once'))
    expect(tour.screen.visible).toContain('│ .env')
  }
  expect(readdirSync(place)).toHaveLength(1)
  process.kill(left.pid, 'SIGHUP')
  await yes.answers('y')
  no.type('n')
  await left.ended()
  expect(readdirSync(place)).toEqual([])
  for (const tour of [yes, no]) {
    await tour.until(/10 of 10 as promised/)
    expect(await tour.ended()).toBe(0)
    expect(tour.screen.text.includes('API_KEY=')).toBe(tour === yes)
  }
  expect(yes.screen.text).toMatch(
    /You undo that\n\$ cordon undo --last\n.*Undone: [^✓]*✓ every byte of the code is back/,
  )
})

it('cordon alone shows the state of the project', async () => {
  writeFileSync(join(project.directory, '.env'), 'A=1\n')
  expect(project.cordon([]).out).toContain('cordon init writes one')
  project.cordon(['init'])
  project.cordon(['sign', '--yes'])
  project.cordon(['run', '--', 'sh', '-c', 'cat .env; rm package.json'])
  const terminal = at(80, [])
  expect(await terminal.ended()).toBe(0)
  const day = new Date().toISOString().slice(0, 10)
  expect(terminal.screen.text.split('\n').slice(1)).toEqual([
    `manifest   signed by you, on ${day}`,
    'agents     no agent is guarded',
    '           see: cordon install --help',
    expect.stringMatching(/^stopped {4}file .*\.env$|^stopped {4}file .*…$/),
    '           secrets stay hidden; to use one unseen: cordon secrets --help',
    'asks       no open questions',
    expect.stringMatching(/^undo {7}1 call, the last: cat \.env; rm package\.json/),
    '           cordon undo --last, or --list',
    '',
    'cordon --help lists the commands',
    '',
  ])
})
