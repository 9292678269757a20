/**
 * Drives the real agents, installed from npm in the versions that are written down, through Cordon with a scripted model. What
 * counts is what is on disk and on the wire afterwards, not the hook's word.
 *
 *   npm test -- agents [AGENT…] [--control | --bare-only] [--row=ROW…] [--as-user] [--jobs=N] [--afresh] [--page=FILE]
 *   npm test -- agents --latest [AGENT…] [--record] [--row=ROW…]
 *
 * `--latest` takes today's versions instead, reports every tool, flag, event and file that test/agents/catalogue.json does not
 * have, and drives them through the ten attempts, headless and at a terminal; `--record` writes that file.
 *
 * What came of each session is kept in the ignored cache: a run that is stopped goes on with what is missing or failed, and `--page` makes
 * docs/agents/tried.md of it; `--afresh` begins again.
 */

import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ATTEMPTS } from '../test/agents/attempts.ts'
import { reportNewest } from '../test/agents/catalogue.ts'
import { driveRow, runMatrix, unexplained } from '../test/agents/matrix.ts'
import { runMcp } from '../test/agents/mcp.ts'
import { installMcp } from '../test/agents/mcp-install.ts'
import { ownAgent } from '../test/agents/own-agent.ts'
import { cache, cordon } from '../test/agents/program.ts'
import { AT_TERMINAL } from '../test/agents/scenario-screen.ts'
import { asNobody } from '../test/agents/session.ts'
import { pageOf, recordedTrials } from '../test/agents/tried.ts'

const words = process.argv.slice(2)
const wanted = words.filter((word) => !word.startsWith('--'))
const flagOf = (flag: string): string | undefined =>
  words.find((word) => word.startsWith(`${flag}=`))?.slice(flag.length + 1)
const isNewest = words.includes('--latest')
const named = words.filter((word) => word.startsWith('--row=')).map((word) => word.slice('--row='.length))
const rows = named.length === 0 && isNewest ? [ATTEMPTS.row, AT_TERMINAL.row] : named
/** The agents alone, without MCP clients and Cordon's own agent. */
const matrixAlone = words.includes('--matrix') || rows.length > 0
const isWanted = (name: string): boolean => wanted.includes(name) || (wanted.length === 0 && !matrixAlone && !asNobody)
const say = (line: string): void => console.log(line)

const results = join(cache, 'tried.jsonl')
mkdirSync(cache, { recursive: true })
if (words.includes('--afresh')) rmSync(results, { force: true })

let [ran, failed] = [0, 0]
for (const cell of unexplained()) {
  say(`${cell}: neither tried nor explained, and that is a failure`)
  failed++
}
if (isWanted('mcp')) {
  const missing = installMcp(cache)
  if (missing) say(`MCP: not run, and that is a failure: ${missing}`)
  failed += missing ? 1 : await runMcp({ cordon, cache }, say)
  ran++
}
if (isWanted(ownAgent.name)) {
  const problems = await driveRow(ownAgent, ATTEMPTS, true)
  ran++
  if (problems.length > 0) failed++
  say(`cordon chat, without a hook: ${problems.length === 0 ? 'as it should be' : problems.join('; ')}`)
}
if (isNewest && named.length === 0) failed += await reportNewest(wanted, words.includes('--record'), say)
const others = wanted.filter((name) => name !== 'mcp' && name !== ownAgent.name)
if (wanted.length === 0 || others.length > 0) {
  const jobs = Number(flagOf('--jobs') ?? 1)
  const guarded = words.includes('--bare-only') ? [false] : words.includes('--control') ? [false, true] : [true]
  const matrix = await runMatrix({ agents: others, rows, guarded, jobs, results }, say)
  ran += matrix.ran
  failed += matrix.failed
  say(`\n${matrix.table.join('\n')}`)
  const page = flagOf('--page')
  if (page !== undefined) writeFileSync(page, pageOf(recordedTrials(results)))
}
if (ran === 0) say('no agent could be run, and that is a failure: on a machine with an npm registry they can')
process.exitCode = ran === 0 || failed > 0 ? 1 : 0
