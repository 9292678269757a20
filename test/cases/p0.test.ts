/**
 * P0 as a table. Every combination of level, mode, agent, grant and auto_accept is decided by the first row that fits;
 * every row is needed. Then every decision is settled with and without a prompter and runtime grants.
 */

import { describe, expect, it } from 'vitest'
import type { Decision } from '../../src/policy/decision.ts'
import { evaluate } from '../../src/policy/evaluate/evaluate.ts'
import type { Verdict } from '../../src/policy/order.ts'
import type { Mode, Policy } from '../../src/policy/policy.ts'
import { settle } from '../../src/policy/settle.ts'
import { bashCall, callOf, commandRule, fileFact, pathRule, policyOf, sessionOf, sourced } from './policy-fixture.ts'

const LEVELS = ['-', 'allow', 'ask', 'deny'] as const
const MODES = ['default', 'auto_accept', 'plan', 'auto', 'contained', 'custom'] as const
const AGENTS = ['build', 'plan'] as const
/** `-`: none declared; `other`: declared, not covering; `covers`; `prompts`: covers, with prompt = true. */
const GRANTS = ['-', 'other', 'covers', 'prompts'] as const
const AUTO_ACCEPT = ['no', 'yes'] as const

interface Situation {
  readonly level: (typeof LEVELS)[number]
  readonly mode: Mode
  readonly agent: (typeof AGENTS)[number]
  readonly grant: (typeof GRANTS)[number]
  readonly auto: (typeof AUTO_ACCEPT)[number]
}

/** `*` fits anything; several values are separated by `/`. */
type Row = readonly [level: string, mode: string, agent: string, grant: string, auto: string, expected: string]

// biome-ignore format: a table is read by its columns.
const COMMAND: readonly Row[] = [
  // level        mode                  agent    grant      auto_accept  decision by step
  ['deny',        '*',                  '*',     '*',       '*',         'deny 1'],   // a level of deny; nothing answers it
  ['*',           'plan',               '*',     '*',       '*',         'deny 1'],   // plan mode runs nothing
  ['*',           '*',                  'plan',  '*',       '*',         'deny 1'],   // nor does the plan agent
  ['*',           '*',                  'build', 'covers',  '*',         'allow 2'],  // a grant comes before levels and modes
  ['*',           'auto',               'build', 'prompts', '*',         'allow 2'],  // its prompt is an ask that auto answers
  ['*',           'custom',             'build', 'prompts', 'yes',       'allow 2'],  // and so does auto_accept, in custom mode only
  ['*',           '*',                  'build', 'prompts', '*',         'ask 2'],
  ['allow',       '*',                  'build', '*',       '*',         'allow 3'],  // an explicit level
  ['ask',         'auto',               'build', '*',       '*',         'allow 3'],
  ['ask',         'custom',             'build', '*',       'yes',       'allow 3'],
  ['ask',         '*',                  'build', '*',       '*',         'ask 3'],
  ['-',           'default/auto_accept', 'build', '*',      '*',         'ask 3'],    // both modes ask before commands
  ['-',           'contained',          'build', '*',       '*',         'allow 3'],  // it stays in the box
  ['-',           'auto',               'build', '*',       '*',         'allow 4'],
  ['-',           'custom',             'build', '*',       'yes',       'allow 4'],
  ['-',           'custom',             'build', '*',       'no',        'ask 4'],    // no grant covers it; bash asks by itself
]

// biome-ignore format: a table is read by its columns.
const WRITE: readonly Row[] = [
  ['deny',        '*',                  '*',     '*',       '*',         'deny 1'],
  ['*',           'plan',               '*',     '*',       '*',         'deny 1'],
  ['*',           '*',                  'plan',  '*',       '*',         'deny 1'],
  ['*',           '*',                  'build', 'covers',  '*',         'allow 2'],
  ['*',           'auto',               'build', 'prompts', '*',         'allow 2'],
  ['*',           'custom',             'build', 'prompts', 'yes',       'allow 2'],
  ['*',           '*',                  'build', 'prompts', '*',         'ask 2'],
  ['allow',       '*',                  'build', '*',       '*',         'allow 3'],
  ['ask',         'auto',               'build', '*',       '*',         'allow 3'],
  ['ask',         'custom',             'build', '*',       'yes',       'allow 3'],
  ['ask',         '*',                  'build', '*',       '*',         'ask 3'],
  ['-',           'default',            'build', '*',       '*',         'ask 3'],    // default asks before edits
  ['-',           'auto_accept/contained', 'build', '*',    '*',         'allow 3'],  // these edit by themselves
  ['-',           '*',                  'build', '-',       '*',         'allow 4'],  // the built-in level of write, inside the roots
  ['-',           'auto',               'build', 'other',   '*',         'allow 4'],
  ['-',           'custom',             'build', 'other',   'yes',       'allow 4'],
  ['-',           'custom',             'build', 'other',   'no',        'ask 4'],    // write grants are declared, none covers it
]

// biome-ignore format: a table is read by its columns.
const READ: readonly Row[] = [
  ['deny',        '*',                  '*',     '*',       '*',         'deny 1'],
  ['*',           '*',                  '*',     'covers',  '*',         'allow 2'],  // plan mode and the plan agent read
  ['*',           'auto',               '*',     'prompts', '*',         'allow 2'],
  ['*',           'custom',             '*',     'prompts', 'yes',       'allow 2'],
  ['*',           '*',                  '*',     'prompts', '*',         'ask 2'],
  ['allow',       '*',                  '*',     '*',       '*',         'allow 3'],
  ['ask',         'auto',               '*',     '*',       '*',         'allow 3'],
  ['ask',         'custom',             '*',     '*',       'yes',       'allow 3'],
  ['ask',         '*',                  '*',     '*',       '*',         'ask 3'],
  ['-',           'contained',          '*',     '*',       '*',         'allow 3'],
  ['-',           '*',                  '*',     '-',       '*',         'allow 4'],  // the built-in level of read
  ['-',           'auto',               '*',     'other',   '*',         'allow 4'],
  ['-',           'custom',             '*',     'other',   'yes',       'allow 4'],
  ['-',           '*',                  '*',     'other',   '*',         'ask 4'],    // prompt_reads: read grants are declared
]

const TABLES = { bash: COMMAND, write: WRITE, read: READ } as const

function situations(): Situation[] {
  return LEVELS.flatMap((level) =>
    MODES.flatMap((mode) =>
      AGENTS.flatMap((agent) =>
        GRANTS.flatMap((grant) => AUTO_ACCEPT.map((auto) => ({ level, mode, agent, grant, auto }))),
      ),
    ),
  )
}

function policyFor(tool: keyof typeof TABLES, situation: Situation): Policy {
  const levels = situation.level === '-' ? [] : [[tool, sourced<Verdict>(situation.level)] as const]
  const declared = situation.grant !== '-'
  const prompt = situation.grant === 'prompts'
  const covers = situation.grant === 'covers' || prompt
  const paths = { allow: declared ? [pathRule(covers ? 'src/**' : 'docs/**', prompt)] : [], deny: [], declared }
  const base = policyOf()
  return policyOf({
    mode: sourced(situation.mode),
    agent: sourced(situation.agent),
    autoAccept: sourced(situation.auto === 'yes'),
    tools: new Map(levels),
    ...(tool === 'read' && { reads: paths }),
    ...(tool === 'write' && { writes: paths }),
    ...(tool === 'bash' && {
      commands: {
        ...base.commands,
        allow: declared ? [commandRule(covers ? 'make test:*' : 'make lint:*', prompt)] : [],
        declared,
      },
    }),
  })
}

function decide(tool: keyof typeof TABLES, policy: Policy): Decision {
  const call = tool === 'bash' ? bashCall('make test') : callOf(tool, { [`${tool}s`]: [fileFact('src/a.ts')] })
  return evaluate(policy, sessionOf(), call)
}

function fits(row: Row, situation: Situation): boolean {
  const values = [situation.level, situation.mode, situation.agent, situation.grant, situation.auto]
  return values.every((value, index) => row[index] === '*' || row[index]!.split('/').includes(value))
}

describe.each(Object.keys(TABLES) as (keyof typeof TABLES)[])('P0 for %s', (tool) => {
  it('decides every combination as its first fitting row says', () => {
    const wrong = situations().flatMap((situation) => {
      const expected = TABLES[tool].find((row) => fits(row, situation))?.[5] ?? 'no row'
      const { decision, segments } = decide(tool, policyFor(tool, situation))
      const step = segments.find((segment) => segment.decision === decision)?.step
      const found = `${decision} ${step}`
      return found === expected ? [] : [{ ...situation, expected, found }]
    })
    expect(wrong).toEqual([])
  })

  it('needs every row', () => {
    const used = new Set(situations().map((situation) => TABLES[tool].find((row) => fits(row, situation))))
    expect(TABLES[tool].filter((row) => !used.has(row))).toEqual([])
  })
})

describe('settling', () => {
  const decided = (decision: Verdict): Decision => ({
    decision,
    reason: { code: 'granted', message: '' },
    rules: [],
    segments: [],
  })

  // biome-ignore format: a table is read by its columns.
  it.each([
    // decision   prompter  runtime_grants  interactive   outcome
    ['allow',     true,     true,           true,         'run'],
    ['allow',     false,    false,          false,        'run'],     // nobody needs to be asked
    ['deny',      true,     true,           true,         'deny'],    // nothing answers a deny
    ['deny',      false,    false,          false,        'deny'],
    ['ask',       true,     true,           true,         'prompt'],
    ['ask',       false,    true,           true,         'refuse'],  // an ask without a prompter
    ['ask',       true,     false,          true,         'refuse'],  // locked to the signed set
    ['ask',       false,    false,          true,         'refuse'],
    ['ask',       true,     true,           false,        'refuse'],  // interactive = false
  ] as const)('%s, prompter %s, runtime_grants %s, interactive %s: %s', (verdict, prompter, runtimeGrants, interactive, outcome) => {
    const policy = policyOf({ runtimeGrants: sourced(runtimeGrants), interactive: sourced(interactive) })
    expect(settle(decided(verdict), policy, prompter).outcome).toBe(outcome)
  })
})
