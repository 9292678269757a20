/** The public table of shell cases: nothing is decided less strictly than a row accepts, and what is benign is allowed. */

import { readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { machineFiles } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'

interface ShellCase {
  readonly id: string
  readonly command: string
  readonly category: string
  readonly why: string
  readonly accept: readonly string[]
  readonly grants: readonly string[]
  readonly flags: Readonly<Record<string, unknown>>
  readonly tier: number
}

const FLAG_NAMES: Record<string, string> = {
  commandSubstitution: 'command_substitution',
  parameterExpansion: 'parameter_expansion',
  doubleSemi: 'case_terminator',
}

function readCases(file: string): ShellCase[] {
  const lines = readFileSync(new URL(file, import.meta.url), 'utf8')
    .trim()
    .split('\n')
  return lines.map((line) => JSON.parse(line))
}

const cases: readonly ShellCase[] = [...readCases('./shell.jsonl'), ...readCases('./shell-own.jsonl')]

/** Judges a row the way its table says: its grants less those that a manifest may not hold. */
async function judge(checker: BatchChecker, row: ShellCase): Promise<string> {
  const flags = Object.fromEntries(
    Object.entries(row.flags ?? {}).map(([name, value]) => [FLAG_NAMES[name] ?? name, value]),
  )
  let patterns = row.grants
  for (;;) {
    const manifest = {
      schema_version: 1,
      security: flags,
      capabilities: { allow: { read: { paths: ['**'] }, commands: { patterns } } },
    }
    const line = { id: row.id, tool: 'bash', input: { command: row.command }, root: '/home/dev/project', manifest }
    const answer = await checker.answer(JSON.stringify(line))
    if (answer.error === undefined) return String(answer.decision)
    const refused = /patterns\[(\d+)\]/.exec(String(answer.error))
    if (!refused) throw new Error(`${row.id}: ${answer.error}`)
    patterns = patterns.filter((_, index) => index !== Number(refused[1]))
  }
}

afterEach(() => {
  vi.restoreAllMocks()
  Object.defineProperty(process, 'platform', { value: HERE })
})

const HERE = process.platform
/** Every row costs a shell and a manifest, as in the table below: `npm test -- macos` judges all of them. */
const ON_DARWIN = cases.filter((_, index) => process.env.CORDON_CORPUS === 'whole' || index % 8 === 0)

describe('corpus of shell commands, on macOS', () => {
  const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })

  it('every row is judged as it may be', { timeout: 300_000 }, async () => {
    Object.defineProperty(process, 'platform', { value: 'darwin' })
    // Each part of each path is looked up in its folder: the folders of this machine stay as they are meanwhile.
    const { list } = machineFiles
    const listed = new Map<string, readonly string[]>()
    vi.spyOn(machineFiles, 'list').mockImplementation((folder) => {
      if (!listed.has(folder)) listed.set(folder, list(folder))
      return listed.get(folder)!
    })
    const wrong: string[] = []
    for (const row of ON_DARWIN) {
      const decision = await judge(checker, row)
      if (!row.accept.includes(decision)) wrong.push(`${row.id}: ${decision} for ${row.command.slice(0, 100)}`)
    }
    expect(wrong).toEqual([])
  })
})

describe('corpus of shell commands', () => {
  const checker = new BatchChecker({ ...thisMachine(), home: '/home/dev' }, machineFiles, { kind: 'project' })

  it.each(cases)('$id: $why', async (row) => {
    expect(row.accept, row.command.slice(0, 200)).toContain(await judge(checker, row))
  })
})
