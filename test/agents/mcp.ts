/** Cordon's MCP server and gateway with the clients and servers of others; what counts is what is on disk afterwards. */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { runMcpAgents } from './mcp-agents.ts'
import {
  type Driven,
  type HttpTarget,
  type McpClient,
  mcpClients,
  type Plan,
  type StdioTarget,
  type Target,
} from './mcp-clients.ts'
import { runConformance } from './mcp-conformance.ts'

const SECRET = 'hunter2-scripted-secret'
const node = realpathSync(process.execPath)

/** A server that knows the newest revision only, built with the official library. */
const STATELESS_SERVER = (library: string): string => `
import { McpServer, inputRequired } from ${JSON.stringify(join(library, 'index.mjs'))}
import { serveStdio } from ${JSON.stringify(join(library, 'stdio.mjs'))}
const schema = { '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value }), jsonSchema: { input: () => ({ type: 'object' }), output: () => ({ type: 'object' }) } } }
serveStdio(() => {
  const server = new McpServer({ name: 'stateless', version: '0' }, { capabilities: { tools: {} } })
  server.registerTool('where', { description: 'Says where it runs.', inputSchema: schema }, async () => ({ content: [{ type: 'text', text: 'stateless in ' + process.cwd() }] }))
  return server
}, { legacy: 'reject' })
`

interface World {
  readonly base: string
  readonly project: string
  readonly env: Readonly<Record<string, string>>
}

export interface McpRun {
  readonly cordon: readonly [string, string]
  readonly cache: string
}

/** Runs everything; each line is a problem, none when all is as it should be. */
export async function runMcp({ cordon, cache }: McpRun, say: (line: string) => void): Promise<number> {
  let failed = await runMcpAgents(say)
  const tell = (what: string, problems: readonly string[]): void => {
    if (problems.length > 0) failed++
    say(`${what}: ${problems.length === 0 ? 'as it should be' : problems.join('; ')}`)
  }
  for (const client of mcpClients) {
    for (const era of client.eras) {
      for (const transport of ['stdio', 'http'] as const) {
        tell(
          `cordon mcp, ${client.name}, ${era}, ${transport}`,
          await driveServer(client, era, transport, cordon, cache),
        )
      }
      tell(`cordon mcp wrap, ${client.name}, ${era}`, await driveGateway(client, era, cordon, cache))
    }
  }
  tell('cordon mcp, the conformance suite', await conform(cordon, cache))
  return failed
}

async function conform(cordon: readonly [string, string], cache: string): Promise<readonly string[]> {
  const { base, project, env } = openWorld()
  const served = await serve({ command: cordon[0], args: [cordon[1], 'mcp', '--root', project], env, cwd: project })
  try {
    return await runConformance(served.target, cache)
  } finally {
    await served.close()
    rmSync(base, { recursive: true, force: true })
  }
}

function openWorld(): World {
  const base = mkdtempSync(join(tmpdir(), 'cordon-mcp-agents-'))
  const project = join(base, 'project')
  mkdirSync(project)
  mkdirSync(join(base, 'home'))
  writeFileSync(join(project, 'a.txt'), 'hello from the project\n')
  writeFileSync(join(project, '.env'), `TOKEN=${SECRET}\n`)
  return { base, project, env: { PATH: process.env.PATH ?? '', HOME: join(base, 'home') } }
}

async function driveServer(
  client: McpClient,
  era: Plan['era'],
  transport: 'stdio' | 'http',
  cordon: readonly [string, string],
  cache: string,
): Promise<readonly string[]> {
  const { base, project, env } = openWorld()
  const stdio: StdioTarget = { command: cordon[0], args: [cordon[1], 'mcp', '--root', project], env, cwd: project }
  const served = transport === 'http' ? await serve(stdio) : null
  const target: Target = served?.target ?? stdio
  try {
    const outside = join(base, 'outside.txt')
    const calls = [
      { name: 'read', arguments: { path: 'a.txt' } },
      { name: 'write', arguments: { path: outside, content: 'x' } },
      { name: 'bash', arguments: { command: 'touch ran.txt' } },
    ]
    const yes = await client.drive({ target, era, answer: 'once', calls }, cache)
    const refused = [
      { name: 'read', arguments: { path: '.env' } },
      { name: 'bash', arguments: { command: 'touch refused.txt && cat .env' } },
    ]
    const no = await client.drive({ target, era, answer: 'deny', calls: refused }, cache)
    return failures([
      ['the revision is the one that was asked for', yes.revision === revisionOf(era)],
      ['the tools are listed', yes.tools.includes('apply_patch')],
      ['a file is read', yes.results[0]!.includes('hello')],
      ['the secret stays', !JSON.stringify(no.results).includes(SECRET)],
      ['nothing is written outside', !existsSync(outside)],
      ['the person is asked', yes.asked.some((question) => question.includes('touch ran.txt'))],
      ['a yes runs it', existsSync(join(project, 'ran.txt'))],
      ['a no does not', no.asked.length === 2 && !existsSync(join(project, 'refused.txt'))],
    ])
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    if (served) await served.close()
    rmSync(base, { recursive: true, force: true })
  }
}

/** `cordon mcp --http` as a process, with the token it prints. */
async function serve(
  stdio: StdioTarget,
): Promise<{ readonly target: HttpTarget; readonly close: () => Promise<void> }> {
  const child: ChildProcess = spawn(stdio.command, [...stdio.args, '--http'], {
    env: { ...stdio.env },
    cwd: stdio.cwd,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  let said = ''
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  await Promise.race([
    ended,
    new Promise<void>((resolve) =>
      child.stderr!.on('data', (data) => {
        said += data
        if (/Bearer \S+\n/.test(said)) resolve()
      }),
    ),
  ])
  const url = /http:\S+/.exec(said)?.[0]
  const token = /Bearer (\S+)/.exec(said)?.[1]
  if (!url || !token) throw new Error(`cordon mcp --http did not start: ${said}`)
  return {
    target: { url, token },
    close: async () => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

async function driveGateway(
  client: McpClient,
  era: Plan['era'],
  cordon: readonly [string, string],
  cache: string,
): Promise<readonly string[]> {
  const { base, project, env } = openWorld()
  try {
    const modules = join(cache, 'node_modules')
    writeFileSync(join(project, 'stateless.mjs'), STATELESS_SERVER(join(modules, '@modelcontextprotocol/server/dist')))
    const published = (name: string): string => `${node} ${modules}/@modelcontextprotocol/${name}/dist/index.js`
    const places = JSON.stringify([dirname(node), modules]).slice(1, -1)
    writeFileSync(
      join(project, 'cordon.toml'),
      `schema_version = 1
[permission]
mode = "contained"
[permission.tools]
mcp__files__read_text_file = "allow"
mcp__files__write_file = "deny"
mcp__all__echo = "allow"
mcp__new__where = "allow"
mcp_prompts__all = "allow"
mcp_resources__all = "allow"
[mcp_servers.files]
command = "${published('server-filesystem')} ${project}"
read = ["**", ${places}]
[mcp_servers.all]
command = "${published('server-everything')}"
read = [${places}]
[mcp_servers.new]
command = "${node} ${project}/stateless.mjs"
read = ["stateless.mjs", ${places}]
`,
    )
    const signed = spawnSync(cordon[0], [cordon[1], 'sign', '--yes'], { cwd: project, env, encoding: 'utf8' })
    if (signed.status !== 0) return [signed.stderr]
    const target = { command: cordon[0], args: [cordon[1], 'mcp', 'wrap', '--root', project], env, cwd: project }
    const calls = [
      { name: 'files__read_text_file', arguments: { path: join(project, 'a.txt') } },
      { name: 'files__read_text_file', arguments: { path: join(project, '.env') } },
      { name: 'files__write_file', arguments: { path: join(project, 'denied.txt'), content: 'x' } },
      { name: 'files__list_directory', arguments: { path: project } },
      { name: 'all__echo', arguments: { message: 'through the gateway' } },
      { name: 'new__where', arguments: {} },
    ]
    const plan = { target, era, answer: 'no', calls, prompt: 'all__simple-prompt', resource: RESOURCE }
    const driven: Driven = await client.drive(plan, cache)
    const [file, secret, denied, listed, echoed, where] = driven.results
    return failures([
      ['the revision is the one that was asked for', driven.revision === revisionOf(era)],
      [
        'every server’s tools are listed',
        ['files__read_text_file', 'all__echo', 'new__where'].every((name) => driven.tools.includes(name)),
      ],
      ['a file is read', file!.includes('hello from the project')],
      ['the secret stays', !`${secret}${driven.results.join()}`.includes(SECRET)],
      ['a denied tool does not run', denied!.includes('Denied') && !existsSync(join(project, 'denied.txt'))],
      ['an asked tool asks, and a no is a no', driven.asked.length === 1 && listed!.includes('said no')],
      ['the everything server answers', echoed!.includes('through the gateway')],
      ['a server of the newest revision answers', where!.includes('stateless in')],
      ['a prompt comes through', driven.prompt?.includes('simple prompt') === true],
      ['a resource comes through', driven.resource?.includes('Architecture') === true],
    ])
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  } finally {
    rmSync(base, { recursive: true, force: true })
  }
}

const RESOURCE = 'cordon://all/demo://resource/static/document/architecture.md'

function revisionOf(era: Plan['era']): string {
  return era === 'handshake' ? '2025-11-25' : '2026-07-28'
}

function failures(checks: readonly (readonly [what: string, isTrue: boolean])[]): readonly string[] {
  return checks.filter(([, isTrue]) => !isTrue).map(([what]) => `not so: ${what}`)
}
