/** Properties that hold for every policy and call: a deny never opens anything, and nothing crashes the batch. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BatchChecker } from '../../src/call/decide/batch.ts'
import { evaluate } from '../../src/policy/evaluate/evaluate.ts'
import { compareVerdicts, type Verdict } from '../../src/policy/order.ts'
import type { Mode, Policy } from '../../src/policy/policy.ts'
import { machineFiles } from '../../src/system/files.ts'
import { thisMachine } from '../../src/system/machine.ts'
import {
  bashCall,
  callOf,
  commandRule,
  fileFact,
  pathRule,
  policyOf,
  ROOT,
  sessionOf,
  sourced,
} from './policy-fixture.ts'

const modes: readonly Mode[] = ['default', 'auto_accept', 'plan', 'auto', 'contained', 'custom']
const commands = [
  'git status',
  'git push origin main',
  'timeout 5 git push',
  'FOO=1 rm -r build',
  '$x status',
  'git $sub',
  'for s in status push; do git $s; done',
  'find . -name a -exec rm {} ;',
  'echo hi && /bin/rm x',
  "sh -c 'git push'",
  'cat src/a.ts | grep x',
]
const patterns = ['git:*', 'git status:*', 'git push:*', 'rm', 'rm:*', 'echo:*', 'cat:*', 'grep:*', 'find:*', 'sh:*']
const paths = ['src/**', 'src/a.ts', '**', 'docs/*.md', '.env']
const files = ['src/a.ts', 'src/deep/b.ts', 'docs/x.md', '.env', '/etc/passwd', '.git/hooks/pre-commit', 'cordon.toml']

const policies = fc.record({
  mode: fc.constantFrom(...modes),
  auto: fc.boolean(),
  commands: fc.subarray(patterns),
  reads: fc.subarray(paths),
  writes: fc.subarray(paths),
  outside: fc.constantFrom<'ask' | 'deny'>('ask', 'deny'),
  level: fc.constantFrom<Verdict | null>('allow', 'ask', 'deny', null),
})

type Draft = typeof policies extends fc.Arbitrary<infer T> ? T : never

function build(draft: Draft, deny: { commands?: string; path?: string } = {}): Policy {
  const base = policyOf()
  const pathRules = (texts: readonly string[]) => ({
    allow: texts.map((text) => pathRule(text)),
    deny: deny.path ? [pathRule(deny.path)] : [],
    declared: texts.length > 0,
  })
  return policyOf({
    mode: sourced(draft.mode),
    autoAccept: sourced(draft.auto),
    outsideRoots: sourced(draft.outside),
    tools: new Map(draft.level ? [['bash', sourced(draft.level)]] : []),
    reads: pathRules(draft.reads),
    writes: pathRules(draft.writes),
    commands: {
      ...base.commands,
      allow: draft.commands.map((text) => commandRule(text)),
      deny: deny.commands ? [commandRule(deny.commands)] : [],
      declared: draft.commands.length > 0,
    },
  })
}

describe('adding a denial', () => {
  it('never makes a command more permissive', () => {
    fc.assert(
      fc.property(policies, fc.constantFrom(...commands), fc.constantFrom(...patterns), (draft, command, denied) => {
        const call = bashCall(command)
        const before = evaluate(build(draft), sessionOf(), call).decision
        const after = evaluate(build(draft, { commands: denied }), sessionOf(), call).decision
        expect(compareVerdicts(after, before)).toBeGreaterThanOrEqual(0)
      }),
    )
  })

  it('never makes a path more permissive', () => {
    fc.assert(
      fc.property(
        policies,
        fc.constantFrom('read', 'write'),
        fc.constantFrom(...files),
        fc.constantFrom(...paths),
        (draft, tool, file, denied) => {
          const call = callOf(tool, { [`${tool}s`]: [fileFact(file)] })
          const before = evaluate(build(draft), sessionOf(), call).decision
          const after = evaluate(build(draft, { path: denied }), sessionOf(), call).decision
          expect(compareVerdicts(after, before)).toBeGreaterThanOrEqual(0)
        },
      ),
    )
  })

  it.each([
    ['rm', 'rm -r x', 'deny'],
    ['rm', '/bin/rm x', 'deny'],
    ['rm', './rm x', 'deny'],
    ['rm', "'r'm x", 'deny'],
    ['rm', 'timeout 5 nice rm x', 'deny'],
    ['rm', 'find . -exec rm {} +', 'deny'],
    ['rm', "bash -c 'rm x'", 'deny'],
    ['rm', 'X=rm; $X y', 'deny'],
    ['rm', 'f() { rm x; }; f', 'deny'],
    ['rm', 'echo $(rm x)', 'deny'],
    ['git push:*', 'git -C sub push', 'deny'],
    ['git push:*', 'git -c a.b=c --no-pager push', 'deny'],
    ['git push:*', 'git log push', 'allow'],
    ['git push:*', 'git stash push', 'allow'],
    ['git push:*', 'git $x', 'ask'],
    ['npm publish:*', 'npm --workspace a publish', 'deny'],
    ['cargo publish:*', 'cargo +nightly publish', 'deny'],
  ])('deny %s applies to %s: %s, even in auto mode', (denied, command, expected) => {
    const base = policyOf()
    const policy = policyOf({
      mode: sourced('auto'),
      flags: { ...base.flags, command_substitution: sourced(true) },
      commands: { ...base.commands, deny: [commandRule(denied)] },
    })
    expect(evaluate(policy, sessionOf(), bashCall(command)).decision).toBe(expected)
  })
})

describe('check --batch', () => {
  const checker = () => new BatchChecker(thisMachine(), machineFiles, { kind: 'object', object: { schema_version: 1 } })

  it('answers any line without crashing', async () => {
    const batch = checker()
    await fc.assert(
      fc.asyncProperty(fc.oneof(fc.json(), fc.string()), async (line) => {
        const answer = await batch.answer(line)
        expect(answer.error ?? answer.decision).toEqual(expect.any(String))
      }),
    )
  })

  it('answers any tool, input, manifest and place without crashing', async () => {
    const batch = checker()
    const value = fc.jsonValue({ maxDepth: 2 })
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom('bash', 'read', 'write', 'http', 'apply_patch', 'nope'),
        fc.oneof(
          value,
          fc.record({ command: fc.string() }),
          fc.record({ path: fc.string() }),
          fc.record(
            { url: fc.oneof(fc.webUrl(), fc.string()), resolved: fc.array(fc.oneof(fc.ipV4(), fc.string())) },
            { requiredKeys: ['url'] },
          ),
          fc.record({ patch: fc.string() }),
        ),
        fc.option(value, { nil: undefined }),
        fc.option(fc.oneof(fc.constant(ROOT), fc.string()), { nil: undefined }),
        async (tool, input, manifest, root) => {
          const answer = await batch.answer(JSON.stringify({ id: 1, tool, input, manifest, root }))
          expect(answer.id).toBe(1)
          expect(answer.error ?? answer.decision).toEqual(expect.any(String))
        },
      ),
      { numRuns: 300 },
    )
  })
})
