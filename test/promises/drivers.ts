/** Each surface as something that takes a call: opened on a project, answered by a person who says what a row wants. */

import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { expect } from 'vitest'
import { openGatewayJudge } from '../../src/agents/mcp/judge.ts'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { openRecord } from '../../src/call/record/open.ts'
import { resultText } from '../../src/call/tool-result.ts'
import { createCordon } from '../../src/session/cordon.ts'
import { parseArguments } from '../../src/surfaces/cli/arguments.ts'
import { run as runCheck } from '../../src/surfaces/cli/commands/policy/check.ts'
import { run as runExplain } from '../../src/surfaces/cli/commands/policy/explain.ts'
import { commandRow, commands } from '../../src/surfaces/cli/start/commands.ts'
import { answerHook, type HookAnswer } from '../../src/surfaces/hook/answer-hook.ts'
import { findHost } from '../../src/surfaces/hook/hosts/hosts.ts'
import { GatewayGate } from '../../src/surfaces/mcp/gateway/gate.ts'
import { terminalConsent } from '../../src/surfaces/page/consent.ts'
import { servePage } from '../../src/surfaces/page/page-server.ts'
import type { Resolver } from '../../src/system/dns.ts'
import { machineFiles } from '../../src/system/files.ts'
import type { Json } from '../../src/system/json-rpc.ts'
import { claude, effectOf } from '../contract/hooks/world.ts'
import { envelope, rawClient } from '../contract/mcp/mcp-world.ts'
import { PageClient } from '../contract/page/page-client.ts'
import { CLI } from '../e2e/cordon.ts'
import { openAcp, openChat } from './agents.ts'
import { Person } from './person.ts'
import type { Place } from './place.ts'
import type { Call, Driver, SurfaceName, Verdict } from './promise.ts'

/** Nothing of a test reaches a network. */
const nowhere: Resolver = { resolve: async () => [] }

async function openSession(place: Place): Promise<Driver> {
  const person = new Person()
  const { machine, root } = place
  const cordon = await createCordon({ project: root, machine, prompter: person.prompter, resolver: nowhere })
  const session = cordon.openSession()
  return {
    call: async ({ tool, input }, answer) => {
      person.expect(answer)
      const result = await session.call(tool, input)
      return person.outcome(result.status, resultText(result))
    },
    close: () => cordon.close(),
  }
}

async function openMcp(place: Place): Promise<Driver> {
  const person = new Person()
  const { machine, root } = place
  const client = rawClient({
    open: (prompter) => createCordon({ project: root, machine, prompter, resolver: nowhere }),
    fallback: person.prompter,
  })
  return {
    call: async ({ tool, input }, answer) => {
      person.expect(answer)
      const params = { name: tool, arguments: input as Json, _meta: envelope() }
      const asked = client.peer.request('tools/call', params, new AbortController().signal)
      const result = (await asked.catch(({ message }: Error) => ({
        content: [{ text: message }],
        structuredContent: { status: 'refused' },
      }))) as Json
      const text = (result.content as { text: string }[]).map((part) => part.text).join('\n')
      return person.outcome(String((result.structuredContent as Json | undefined)?.status), text)
    },
    close: () => client.close(),
  }
}

/** What a host's own tools take, and what they do once the hook lets them. */
const HOST_TOOLS: Readonly<Record<string, (input: Call['input']) => readonly [string, object, () => string]>> = {
  bash: ({ command, background }) => [
    'Bash',
    { command, ...(background === true && { run_in_background: true }) },
    () => '',
  ],
  read: ({ path }) => ['Read', { file_path: path }, () => readFileSync(String(path), 'utf8')],
  write: ({ path, content }) => [
    'Write',
    { file_path: path, content },
    () => {
      writeFileSync(String(path), String(content))
      return 'written'
    },
  ],
  glob: ({ pattern }) => ['Glob', { pattern }, () => ''],
  grep: ({ pattern, path }) => ['Grep', { pattern, path }, () => ''],
  webfetch: ({ url }) => ['WebFetch', { url, prompt: 'x' }, () => ''],
}

async function openHook(place: Place): Promise<Driver> {
  const { machine, root } = place
  const host = findHost('claude-code')!
  const cordon = [process.execPath, CLI]
  const setting = { machine, files: machineFiles, root, cordon, inside: false, commandLines: () => [] }
  return {
    call: async ({ tool, input }, answer) => {
      const given = 'path' in input ? { ...input, path: place.path(String(input.path)) } : input
      const [name, fields, act] = HOST_TOOLS[tool]?.(given) ?? [tool, input, () => '']
      const asked = JSON.stringify(claude(name, fields)).replaceAll('$P', root)
      const said = await answerHook(host, asked, setting)
      const effect = effectOf('claude-code', said)
      const reason = said.stdout + said.stderr
      if (effect === 'block' || effect === 'deny') return { verdict: 'deny', text: reason, question: '' }
      const verdict = effect === 'ask' ? 'ask' : 'allow'
      const question = effect === 'ask' ? reason : ''
      if (effect === 'ask' && answer === undefined) return { verdict, text: '', question }
      const command = commandOf(said)
      const text = command === null ? act() : await runText(command, place)
      return { verdict, text, question }
    },
    close: async () => {},
  }
}

/** The command as the host is to run it. */
function commandOf({ stdout }: HookAnswer): string | null {
  if (stdout === '') return null
  const { hookSpecificOutput } = JSON.parse(stdout) as { hookSpecificOutput?: { updatedInput?: { command?: string } } }
  return hookSpecificOutput?.updatedInput?.command ?? null
}

async function runText(command: string, place: Place): Promise<string> {
  const child = spawn('bash', ['-c', command], { cwd: place.root, env: place.env, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part
    })
  await new Promise((resolve) => child.once('close', resolve))
  return text
}

async function openRun(place: Place): Promise<Driver> {
  return {
    call: async ({ input }) => {
      const command = String(input.command)
      const argv = /^[\w@%+:,./= -]+$/.test(command) ? command.split(' ') : ['bash', '-c', command]
      const { code, out, err } = await place.cordon(['run', '--', ...argv])
      // Cordon's own sentence with a code, and nothing that the command said.
      const refused = (code === 125 || code === 126) && /^cordon: .*\[[\w-]+\]/m.test(err)
      return { verdict: refused ? 'deny' : 'allow', text: out + err, question: '' }
    },
    close: async () => {},
  }
}

async function openCheck(place: Place): Promise<Driver> {
  const printed = async (run: typeof runCheck, { tool, input }: Call): Promise<Json> => {
    const said = { out: '', err: '' }
    const into = (stream: keyof typeof said) => (more: string) => {
      said[stream] += more
    }
    const terminal = { out: into('out'), err: into('err'), color: false, width: 80 }
    const argv = ['--json', '--tool', tool, '--input', JSON.stringify(input)]
    const row = commandRow('check')!
    const args = parseArguments(row, argv)
    await place.as(() => run({ terminal, bare: terminal, argv, args, row, commands }))
    if (said.out === '') throw new Error(said.err)
    return JSON.parse(said.out) as Json
  }
  const batch = new BatchChecker(place.machine, machineFiles, { kind: 'project' })
  return {
    call: async ({ tool, input }) => {
      const checked = await printed(runCheck, { tool, input })
      if (checked.decision === undefined) throw new Error(JSON.stringify(checked))
      const explained = await printed(runExplain, { tool, input })
      const line = await batch.answer(JSON.stringify({ id: 1, tool, input }))
      expect([explained.decision, line.decision], 'explain and --batch agree with check').toEqual([
        checked.decision,
        checked.decision,
      ])
      expect([explained.worst, line.worst]).toEqual([checked.worst, checked.worst])
      const worst = (checked.worst as { text?: string } | undefined)?.text
      const text = `${JSON.stringify(checked.reason)} Worst case: ${worst}`
      return { verdict: checked.decision as Verdict, text, question: '' }
    },
    close: async () => {},
  }
}

async function openPage(place: Place): Promise<Driver> {
  const { machine, root } = place
  const server = await servePage({
    machine,
    root,
    port: 0,
    notices: { webhook: null, format: 'json', answerUrl: null, desktop: false },
    consent: terminalConsent(() => true),
    health: async () => ({ support: null, score: { holds: 0, of: 0 }, agents: [] }) as never,
    warn: () => {},
  })
  const client = new PageClient(server.link)
  return {
    call: async (call) => {
      const { text } = await client.send({ path: '/api/explain', method: 'POST', body: JSON.stringify(call) })
      const { verdict, reason, remedy, why, worst } = JSON.parse(text) as Record<string, string>
      if (verdict === undefined) throw new Error(why)
      return { verdict: verdict as Verdict, text: `${reason} ${remedy ?? ''} Worst case: ${worst}`, question: '' }
    },
    close: () => server.close(),
  }
}

async function openGateway(place: Place): Promise<Driver> {
  const judge = await openGatewayJudge(place.root, place.machine)
  const recorder = openRecord(judge.answered.loaded, place.machine, { by: 'gateway', name: 's' })
  const elsewhere = {
    share: <Inner>(inner: Inner) => inner,
    wait: async () => {},
    fleet: async () => null,
    taken: () => null,
    keep: () => 'no one is there',
  }
  const gate = new GatewayGate({ judge, recorder, elsewhere })
  return {
    call: async ({ tool, input }, answer) => {
      let question: string | null = null
      const elicit = async (params: Json) => {
        question = String(params.message)
        return { action: 'accept', content: { answer: answer ?? 'deny' } }
      }
      const work = async () => ({ json: {}, text: 'answered', isError: false, injection: null })
      const call = { called: tool, input: input as Json, server: 's', elicit }
      const gated = await gate.pass(call, work, new AbortController().signal)
      const text = 'result' in gated ? gated.result.text : 'refused' in gated ? gated.refused : gated.failed
      const verdict: Verdict = 'result' in gated ? 'allow' : text.startsWith('Denied') ? 'deny' : 'refused'
      return { verdict: question === null ? verdict : 'ask', text, question: question ?? '' }
    },
    close: async () => recorder.close(),
  }
}

export const DRIVERS: Readonly<Record<SurfaceName, (place: Place) => Promise<Driver>>> = {
  session: openSession,
  run: openRun,
  check: openCheck,
  hook: openHook,
  mcp: openMcp,
  gateway: openGateway,
  chat: openChat,
  acp: openAcp,
  page: openPage,
}
