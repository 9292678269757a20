import { describe, expect, it } from 'vitest'
import { parseCommandPattern } from '../command-pattern.ts'
import type { Policy } from '../policy.ts'
import { type StartFact, startDenial } from './start.ts'
import { programTable } from './table.ts'

function policy(...denied: string[]): Policy {
  const deny = denied.map((text) => {
    const parsed = parseCommandPattern(text)
    if ('problem' in parsed) throw new Error(parsed.problem)
    return { pattern: parsed.pattern, rule: 'deny', source: 'cordon.toml:1:1' }
  })
  const flags = { privilege_wrappers: { value: false, rule: 'security.privilege_wrappers', source: 'built-in' } }
  return { root: '/p', commands: { deny }, shellPolicy: { allow: [], deny: [] }, flags } as unknown as Policy
}

function start(argv: readonly string[], more: Partial<StartFact> = {}): StartFact {
  const path = argv[0] ?? ''
  return { argv, path, file: path, aliases: [], interpreter: null, cwd: '/p', cut: false, ...more }
}

describe('a denied program', () => {
  it.each<[string, string, StartFact, boolean]>([
    ['by its name', 'rm', start(['/bin/rm', 'x']), true],
    ['under another name', 'rm', start(['/bin/ls', 'x'], { file: '/usr/bin/rm' }), true],
    ['by what it calls itself', 'rm', start(['rm', 'x'], { path: '/bin/busybox', file: '/bin/busybox' }), true],
    ['a copy', 'rm', start(['./a', 'x'], { aliases: ['rm'] }), true],
    ['with options between', 'git push', start(['git', '-C', 'x', 'push']), true],
    ['another subcommand', 'git push', start(['git', 'log', 'push']), false],
    ['by its joined name', 'git push', start(['/usr/lib/git-core/git-push']), true],
    ['inside busybox', 'rm', start(['busybox', 'rm', 'x']), true],
    ['by the loader', 'rm', start(['/lib64/ld-linux-x86-64.so.2', '--argv0', 'x', '/bin/rm', 'y']), true],
    ['a script by its interpreter', 'deploy.sh', start(['bash', '-e', './deploy.sh']), true],
    ['among the words of another', 'rm', start(['ls', '/bin/rm']), false],
    ['a path', 'ci/deploy.sh', start(['bash', 'deploy.sh'], { cwd: '/p/ci' }), true],
    ['another file of that name', 'ci/deploy.sh', start(['bash', 'deploy.sh'], { cwd: '/p/other' }), false],
    [
      'as an interpreter',
      'rm',
      start(['./s'], { interpreter: { file: '/usr/bin/rm', aliases: [], argv: ['/bin/rm', './s'] } }),
      true,
    ],
    ['with words that are not shown', 'git push', start(['git', '-c', 'x'], { cut: true }), true],
  ])('%s', (_, denied, fact, expected) => {
    expect(startDenial(policy(denied), fact, 'agent') !== null).toBe(expected)
  })
})

it('privileges are for nobody but the person', () => {
  expect(startDenial(policy(), start(['sudo', 'x']), 'agent')?.reason.code).toBe('privilege')
  expect(startDenial(policy(), start(['sudo', 'x']), 'person')).toBeNull()
})

describe('the table', () => {
  it('is empty where a person starts it and nothing is denied', () => {
    expect(programTable({ policy: policy(), by: 'person', changing: [] }, '/bin')).toEqual([])
  })
  it('names the program with its words, and where it is', () => {
    const lines = programTable({ policy: policy('git push'), by: 'person', changing: [] }, '/opt/bin:relative')
    expect(lines).toContain('n git\tpush')
    expect(lines).toContain('i git\t/opt/bin/git')
    expect(lines.join('\n')).not.toContain('relative')
  })
})
