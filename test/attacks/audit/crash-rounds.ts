/** Kills pairs of writers at random moments, and checks what is left: nothing torn for good, nothing acknowledged lost. */

import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAuditLog } from '../../../src/audit/log.ts'
import { queryAudit } from '../../../src/audit/read.ts'
import { verifyAudit } from '../../../src/audit/verify.ts'
import { userPublicKey } from '../../../src/manifest/sign/sign.ts'
import { grantHash, projectMessage } from '../../../src/manifest/sign/signature.ts'
import { readSignatures } from '../../../src/manifest/sign/signature-file.ts'
import { isSignedBy } from '../../../src/system/keys/signing-key.ts'
import { createTrustStore } from '../../../src/tools/custom/trust.ts'

export type Work = 'sign' | 'trust' | 'audit'

export interface CrashTally {
  readonly rounds: number
  readonly acknowledged: number
  readonly recovered: number
  readonly problems: readonly string[]
}

const WORKER = join(import.meta.dirname, 'crash-worker.ts')

/** Runs rounds of one kind of work in one state directory: what a round leaves behind, the next one starts from. */
export async function crashRounds(work: Work, rounds: number, random: () => number): Promise<CrashTally> {
  const base = mkdtempSync(join(tmpdir(), `cordon-crash-${work}-`))
  const stateDir = join(base, 'state')
  const problems: string[] = []
  let acknowledged = 0
  let recovered = 0
  try {
    const everAcknowledged: string[] = []
    for (let round = 0; round < rounds && problems.length === 0; round++) {
      const ids = [`a${round}`, `b${round}`]
      const outputs = await Promise.all(ids.map((id) => runAndKill([stateDir, work, id], 5 + random() * 60)))
      const lines = outputs.flat()
      acknowledged += lines.length
      everAcknowledged.push(...lines)
      problems.push(...CHECKS[work](stateDir, lines, everAcknowledged).map((problem) => `round ${round}: ${problem}`))
    }
    if (work === 'audit') recovered = verifyAudit({ stateDir, keys: [] }).sessions[0]?.recovered ?? 0
  } finally {
    rmSync(base, { recursive: true })
  }
  return { rounds, acknowledged, recovered, problems }
}

/** Starts a worker, kills it a while after its first acknowledgement, and gives back what it acknowledged. */
function runAndKill(argv: readonly string[], afterMs: number): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, ...argv], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    let complaint = ''
    child.stderr.on('data', (chunk: Buffer) => {
      complaint += chunk
    })
    child.stdout.once('data', () => setTimeout(() => child.kill('SIGKILL'), afterMs))
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk
    })
    child.on('error', reject)
    child.on('close', (code) => {
      if (code !== null) reject(new Error(`the worker ended by itself with ${code}: ${complaint}`))
      else resolve(output.split('\n').slice(0, -1))
    })
  })
}

type Check = (stateDir: string, lines: readonly string[], ever: readonly string[]) => string[]

const CHECKS: Readonly<Record<Work, Check>> = {
  sign: (stateDir, lines) => {
    const key = userPublicKey(stateDir)!
    const records = readSignatures(stateDir, '/shared').signatures
    const bad = records.filter(
      ({ grant_hash, signature, canonical }) =>
        grantHash(canonical) !== grant_hash || !isSignedBy(key, projectMessage('/shared', grant_hash), signature),
    )
    // The file keeps the newest hundred: with fewer in it, every one of this round must be there.
    const kept = new Set(records.map((record) => record.canonical))
    const lost =
      records.length < 100
        ? lines.filter((line) => !kept.has(line))
        : lastOfEach(lines).filter((line) => !kept.has(line))
    return [...bad.map((record) => `a bad record ${record.canonical}`), ...lost.map((line) => `lost ${line}`)]
  },
  trust: (stateDir, lines) => {
    const store = createTrustStore(stateDir)
    const newest = new Map(lines.map((line) => line.split(' ') as [string, string]))
    // One more may have been stored and not yet acknowledged when the worker was killed.
    return [...newest].flatMap(([name, hash]) => {
      const stored = store.stored({ scope: '/shared', name })
      if (stored === null) return [`lost ${name}`]
      const writer = /^tool-(\w+)-/.exec(name)![1]!
      const number = (text: string) => Number.parseInt(text.slice(writer.length), 10)
      return stored.hash === hash || !Number.isNaN(number(stored.hash))
        ? []
        : [`${name} has ${stored.hash}, not ${hash}`]
    })
  },
  audit: (stateDir, _, ever) => {
    // A start closes what the kill left open.
    openAuditLog({
      stateDir,
      session: 'shared',
      now: () => new Date().toISOString(),
      redact: (text) => text,
      shared: true,
    }).record({
      type: 'warning',
      writer: 'check',
    })
    const { sessions } = verifyAudit({ stateDir, keys: [] })
    const stored = new Set(queryAudit(stateDir).map((line) => `${String(line.writer)} ${String(line.i)}`))
    return [
      ...sessions.flatMap((session) =>
        session.damage.map((damage) => `${damage.kind} ${damage.file}:${damage.line} ${damage.message}`),
      ),
      ...ever.filter((line) => !stored.has(line)).map((line) => `lost ${line}`),
    ]
  },
}

function lastOfEach(lines: readonly string[]): string[] {
  const last = new Map(lines.map((line) => [(JSON.parse(line) as { id: string }).id, line]))
  return [...last.values()]
}

if (process.argv[1] === import.meta.filename) {
  const rounds = Number(process.argv[2] ?? 500)
  for (const work of ['sign', 'trust', 'audit'] as const) {
    const started = performance.now()
    const tally = await crashRounds(work, Math.ceil(rounds / 3), Math.random)
    const seconds = ((performance.now() - started) / 1000).toFixed(0)
    console.log(JSON.stringify({ work, ...tally, seconds }))
    if (tally.problems.length > 0) process.exitCode = 1
  }
}
