/**
 * `npm test -- conformance`: the published MCP conformance suite against its own server kind, alone and behind `cordon mcp
 * wrap`, which runs it here or reaches it over HTTP. Fails when a check that passes for the server alone does not pass there.
 */

import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Bridged, openBridge } from '../test/agents/conformance-bridge.ts'
import { CONFORMANCE_PACKAGE } from '../test/agents/mcp-conformance.ts'
import { cache, cordon, install } from '../test/agents/program.ts'

const checkout = realpathSync(join(import.meta.dirname, '..'))
const node = realpathSync(process.execPath)
const server = join(checkout, 'test/agents/conformance-server.ts')
const LABEL = 'suite'

const manifestOf = (server: string): string => `schema_version = 1
[permission]
mode = "auto"
[mcp_servers.${LABEL}]
${server}
requests = ["elicitation", "sampling"]
`

const LOCAL = `command = "${node} ${server}"
read = ["${join(checkout, 'test/agents')}/**", "${join(checkout, 'node_modules')}/**", "${join(checkout, 'package.json')}", "${dirname(dirname(node))}/**"]`

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** The checks by scenario and name; the worst of those with the same. */
async function runSuite(bridged: Bridged, results: string): Promise<Map<string, Check>> {
  const bridge = await openBridge(bridged)
  const program = join(cache, 'node_modules', CONFORMANCE_PACKAGE, 'dist/index.js')
  const args = [program, 'server', '--url', bridge.url, '--output-dir', results]
  await new Promise((resolve) => spawn(node, args, { stdio: 'ignore', cwd: results }).on('close', resolve))
  await bridge.close()
  const checks = new Map<string, Check>()
  for (const folder of readdirSync(results)) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-\d{2}-\d{2}T.*$/, '')
    for (const check of JSON.parse(readFileSync(join(results, folder, 'checks.json'), 'utf8')) as Check[]) {
      const key = `${scenario}: ${check.id}`
      if (checks.get(key)?.status !== 'FAILURE') checks.set(key, check)
    }
  }
  return checks
}

const missing = install({ package: `${CONFORMANCE_PACKAGE}@0.1.16`, program: 'conformance' })
if (missing !== null) throw new Error(missing)
const base = mkdtempSync(join(tmpdir(), 'cordon-conformance-'))
try {
  const project = join(base, 'project')
  for (const folder of ['project', 'home', 'alone', 'here', 'remote']) mkdirSync(join(base, folder))
  const env = { PATH: process.env.PATH ?? '', HOME: join(base, 'home'), CORDON_KEYCHAIN: 'off' }
  const bare = { command: node, args: [server], env, cwd: project, label: null }
  const alone = await runSuite(bare, join(base, 'alone'))
  const kept = [...alone].filter(([, { status }]) => status === 'SUCCESS')
  console.log(`${alone.size} checks; alone ${kept.length} pass`)
  for (const [key, { status, errorMessage }] of alone)
    if (status === 'FAILURE') console.log(`not alone either: ${key}: ${errorMessage ?? ''}`)
  const far = await openBridge(bare)
  const places = { here: LOCAL, remote: `url = "${far.url.replace('localhost', '127.0.0.1')}"` }
  for (const [where, definition] of Object.entries(places)) {
    writeFileSync(join(project, 'cordon.toml'), manifestOf(definition))
    const sign = [cordon[1], 'sign', '--yes', '--root', project]
    const signed = spawnSync(cordon[0], sign, { env, cwd: project, encoding: 'utf8' })
    if (signed.status !== 0) throw new Error(signed.stderr)
    const args = [cordon[1], 'mcp', 'wrap', '--root', project]
    const wrap = { command: cordon[0], args, env, cwd: project, label: LABEL }
    const behind = await runSuite(wrap, join(base, where))
    const lost = kept.filter(([key]) => behind.get(key)?.status !== 'SUCCESS')
    console.log(`behind the gateway, ${where}: ${kept.length - lost.length} of these`)
    for (const [key] of lost) console.log(`lost: ${key}: ${behind.get(key)?.errorMessage ?? 'not there'}`)
    if (lost.length > 0 || kept.length < 20) process.exitCode = 1
  }
  await far.close()
} finally {
  rmSync(base, { recursive: true, force: true })
}
