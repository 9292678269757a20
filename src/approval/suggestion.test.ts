import { describe, expect, it } from 'vitest'
import type { Decision, PartDecision } from '../policy/decision.ts'
import { analyze } from '../shell/walk/analyze.ts'
import { suggestGrants } from './suggestion.ts'

const places = {
  root: '/p',
  home: '/home/u',
  resolve: (given: string) => (given.startsWith('/') ? given : `/p/${given}`),
}

function decisionOf(...parts: PartDecision[]): Decision {
  return { decision: 'ask', reason: parts[0]!.reason, rules: [], segments: parts }
}

function part(kind: PartDecision['kind'], text: string, more: Partial<PartDecision> = {}): PartDecision {
  return {
    kind,
    text,
    decision: 'ask',
    reason: { code: 'not-granted', message: 'No grant covers it.' },
    rules: [],
    step: 4,
    ...more,
  }
}

function forCommand(command: string): string[] {
  const analysis = analyze(command, { cwd: '/p', home: '/home/u' })
  if (!('facts' in analysis)) throw new Error(`does not parse: ${command}`)
  const at = analysis.facts.commands.length - 1
  return suggestGrants(decisionOf(part('command', command, { command: at })), analysis.facts, places).map(
    (suggestion) => suggestion.value,
  )
}

const outside = { reason: { code: 'outside-roots', message: 'It is outside.' } } as const
const commands: readonly { command: string; expected: readonly string[]; note: string }[] = [
  { command: 'cargo build --release', expected: ['cargo build --release', 'cargo build:*'], note: 'a subcommand' },
  { command: 'npm run lint', expected: ['npm run lint', 'npm run lint:*'], note: 'never npm run:*' },
  { command: 'npm run', expected: ['npm run'], note: 'a bare root stays exact' },
  { command: 'git status', expected: ['git status', 'git status:*'], note: 'never git:*' },
  { command: 'git', expected: ['git'], note: 'never git:*' },
  { command: 'git -C sub status', expected: ['git -C sub status'], note: 'an option is not a subcommand' },
  { command: 'git push -u origin x', expected: ['git push origin:kind'], note: 'a push to this remote, not forced' },
  { command: 'git -C sub push', expected: ['git push origin:kind'], note: 'without a remote it is origin' },
  { command: 'git push -f origin x', expected: [], note: 'a forced push is asked each time' },
  { command: 'git push origin +x', expected: [], note: 'a plus forces as well' },
  { command: 'git push origin :x', expected: [], note: 'a deletion is asked each time' },
  { command: 'git push origin $x', expected: [], note: 'what is pushed is not known' },
  { command: 'git push --receive-pack=x origin', expected: [], note: 'it runs a program' },
  { command: 'gh pr comment 1 -b x', expected: ['gh pr comment:kind'], note: 'a comment in this repository' },
  { command: 'gh pr comment 1 -R a/b -b x', expected: ['gh pr comment --repo a/b:kind'], note: 'and in another one' },
  { command: 'gh pr merge 1', expected: ['gh pr merge 1'], note: 'a merge stays exact' },
  { command: 'gh repo delete a/b', expected: [], note: 'a deletion is asked each time' },
  { command: 'npm publish', expected: [], note: 'a publish is asked each time' },
  { command: 'terraform apply', expected: ['terraform apply'], note: 'other remote writes stay exact' },
  { command: 'rm -rf build', expected: ['rm -rf build'], note: 'never rm:*' },
  { command: 'python3 -c "print(1)"', expected: [], note: 'an interpreter' },
  { command: 'node build.js', expected: [], note: 'an interpreter' },
  { command: 'docker run -v /:/x alpine', expected: ['docker run -v /:/x alpine'], note: 'never docker run:*' },
  { command: 'ls "$x"', expected: ['ls:*'], note: 'a word that is not known has no exact form' },
  { command: "grep 'a b' src", expected: ["grep 'a b' src", "grep 'a b':*", 'grep:*'], note: 'quotes are kept' },
  { command: 'curl https://x.example', expected: ['curl https://x.example'], note: 'never curl:*' },
  { command: 'env', expected: [], note: 'a wrapper' },
]

describe('suggestions for commands', () => {
  it.each(commands)('$command ($note)', ({ command, expected }) => {
    expect(forCommand(command)).toEqual(expected)
  })

  it('offers several commands of one text together, narrow and broad', () => {
    const command = 'cargo build --release && cargo test && git push origin main'
    const analysis = analyze(command, { cwd: '/p', home: '/home/u' })
    if (!('facts' in analysis)) throw new Error('does not parse')
    const asks = analysis.facts.commands.map((_, at) => part('command', `part ${at}`, { command: at }))
    const [narrow, broad, ...more] = suggestGrants(decisionOf(...asks), analysis.facts, places)
    expect(more).toEqual([])
    expect([narrow?.value, ...(narrow?.also ?? []).map((one) => one.value)]).toEqual([
      'cargo build --release',
      'cargo test',
      'git push origin:kind',
    ])
    expect([broad?.value, ...(broad?.also ?? []).map((one) => one.value)]).toEqual([
      'cargo build:*',
      'cargo test:*',
      'git push origin:kind',
    ])
    expect(narrow?.also?.map(({ value }) => value)).toContain('git push origin:kind')
  })

  it('offers nothing for a text of which one command should not be saved', () => {
    const analysis = analyze('cargo build && python3 -c x', { cwd: '/p', home: '/home/u' })
    if (!('facts' in analysis)) throw new Error('does not parse')
    const asks = analysis.facts.commands.map((_, at) => part('command', `part ${at}`, { command: at }))
    expect(suggestGrants(decisionOf(...asks), analysis.facts, places)).toEqual([])
  })

  it('offers all parts together, what covers another alone', () => {
    const one = part('read', 'a.txt')
    const [both] = suggestGrants(decisionOf(one, part('read', 'b.txt')), null, places)
    expect([both?.value, ...(both?.also ?? []).map(({ value }) => value)]).toEqual(['a.txt', 'b.txt'])
    const write = part('write', '/data/sets/b.csv', outside)
    const [work, ...more] = suggestGrants(decisionOf(part('read', '/data/sets/a.csv', outside), write), null, places)
    expect([work?.kind, work?.value, work?.also, more]).toEqual(['directory', '/data/sets', undefined, []])
  })

  it('offers nothing for a firm ask, or a grant that prompts', () => {
    const one = part('read', 'a.txt')
    expect(suggestGrants(decisionOf({ ...one, firm: true }), null, places)).toEqual([])
    const prompts = part('read', 'a.txt', { reason: { code: 'grant-prompts', message: 'It says so.' } })
    expect(suggestGrants(decisionOf(prompts), null, places)).toEqual([])
    expect(suggestGrants(decisionOf(one, one), null, places)).toHaveLength(1)
  })
})

const paths: readonly { name: string; part: PartDecision; expected: readonly string[] }[] = [
  { name: 'a file in the project', part: part('write', 'src/a.ts'), expected: ['src/a.ts', 'src/**'] },
  { name: 'a file at the root never gives the whole project', part: part('read', 'a.ts'), expected: ['a.ts'] },
  {
    name: 'a directory outside',
    part: part('read', '/data/sets/a.csv', outside),
    expected: ['/data/sets/**', '/data/sets'],
  },
  { name: 'a file of the home', part: part('read', '/home/u/notes', outside), expected: ['/home/u/notes'] },
  {
    name: 'a repository beside',
    part: part('read', '/home/u/code/lib/src/a.ts', outside),
    expected: ['/home/u/code/lib/**', '/home/u/code/lib'],
  },
  {
    name: 'a folder of a tool',
    part: part('read', '/home/u/.claude/projects/x/y.txt', outside),
    expected: ['/home/u/.claude/projects/x/**', '/home/u/.claude/projects/x'],
  },
  {
    name: 'a file of a tool is not its folder',
    part: part('read', '/home/u/.codex/hooks.json', outside),
    expected: ['/home/u/.codex/hooks.json'],
  },
  { name: 'a key is never offered', part: part('read', '/home/u/.ssh/id_rsa', outside), expected: [] },
  {
    name: 'a write gives the folder to work in',
    part: part('write', '/home/u/code/lib/a.ts', outside),
    expected: ['/home/u/code/lib'],
  },
  { name: 'the home itself', part: part('read', '/home/u', outside), expected: [] },
  { name: 'the root of the machine', part: part('read', '/', outside), expected: [] },
  { name: 'a path that a pattern cannot name', part: part('read', 'src/[id].ts'), expected: [] },
  { name: 'a URL gives its host', part: part('host', 'https://api.example.com/v1?x=1'), expected: ['api.example.com'] },
  {
    name: 'another port is named',
    part: part('host', 'http://api.example.com:8080/'),
    expected: ['api.example.com:8080'],
  },
]

describe('suggestions for paths and hosts', () => {
  it.each(paths)('$name', ({ part, expected }) => {
    expect(suggestGrants(decisionOf(part), null, places).map((suggestion) => suggestion.value)).toEqual(expected)
  })
})
