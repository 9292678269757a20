import { describe, expect, it } from 'vitest'
import { analyze } from '../../shell/walk/analyze.ts'
import { parseCommandPattern } from '../command-pattern.ts'
import type { CommandRule, Policy } from '../policy.ts'
import { type StartScene, undeclared } from './start.ts'

const sourced = <T>(value: T) => ({ value, rule: 'r', source: 'cordon.toml:1:1' })

function grant(text: string, prompt = false): CommandRule {
  const parsed = parseCommandPattern(text)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return { pattern: parsed.pattern, prompt, rule: 'r', source: 's' } as unknown as CommandRule
}

function scene(text: string, ...granted: readonly CommandRule[]): StartScene {
  const analysis = analyze(text, { cwd: '/p', home: '/h', variables: {} })
  return {
    policy: {
      root: '/p',
      commands: { allow: granted },
      flags: { implicit_coordinators: sourced(true) },
      everyProgram: sourced(true),
    } as unknown as Policy,
    session: { grants: { commands: [] } },
    commands: 'facts' in analysis ? analysis.facts.commands : [],
    path: () => '/opt/bin:/usr/bin',
  } as unknown as StartScene
}

function verdict(at: StartScene, argv: readonly string[], cwd = '/p'): string {
  const [path = ''] = argv
  const start = { argv, path, file: path, aliases: [], interpreter: null, cwd, cut: false }
  return undeclared(at, start, argv.join(' '))?.reason.code ?? 'runs'
}

const GRANTED = scene('npm test', grant('npm test:*'), grant('./build.sh'), grant('git fetch:*'), grant('make', true))

describe('a start', () => {
  it.each<[string, readonly string[], string]>([
    ['that the text names', ['/usr/bin/npm', 'test'], 'runs'],
    ['that a grant covers', ['/opt/bin/npm', 'test', '-w', 'a'], 'runs'],
    ['of the interpreter of one', ['/usr/bin/node', '/usr/bin/npm', 'test'], 'runs'],
    ['of a script of the project', ['./build.sh'], 'runs'],
    ['of its interpreter', ['/bin/sh', './build.sh'], 'runs'],
    ['by a joined name', ['/usr/lib/git-core/git-fetch', 'x'], 'runs'],
    ['of a shell with text', ['/bin/sh', '-c', 'anything'], 'runs'],
    ['of a wrapper', ['/usr/bin/env', 'anything'], 'runs'],
    ['of a coordinator', ['/bin/echo', 'x'], 'runs'],
    ['with other words', ['/usr/bin/npm', 'publish'], 'not-granted'],
    ['of the interpreter with an option', ['/usr/bin/node', '-r', './x.js', '/usr/bin/npm', 'test'], 'not-granted'],
    ['of a program of the project by that name', ['./npm', 'test'], 'not-granted'],
    ['of the same in an interpreter', ['/usr/bin/node', 'npm', 'test'], 'not-granted'],
    ['of the same by its whole path', ['/p/npm', 'test'], 'not-granted'],
    ['of a script that only has the name', ['/tmp/build.sh'], 'not-granted'],
    ['of a shell of the project', ['./sh', '-c', 'x'], 'not-granted'],
    ['of a wrapper of the project', ['/p/env', 'x'], 'not-granted'],
    ['of a shell with a file', ['/bin/sh', 'x.sh'], 'not-granted'],
    ['of busybox', ['/usr/bin/busybox', 'sh', '-c', 'x'], 'not-granted'],
    ['of a grant that asks', ['/usr/bin/make'], 'grant-prompts'],
  ])('%s', (_, argv, expected) => expect(verdict(GRANTED, argv)).toBe(expected))

  it('is found from another directory by its place in the project', () => {
    expect(verdict(GRANTED, ['../build.sh'], '/p/sub')).toBe('runs')
    expect(verdict(GRANTED, ['/p/build.sh'], '/tmp')).toBe('runs')
    expect(verdict(GRANTED, ['./build.sh'], '/p/sub')).toBe('not-granted')
  })

  it('is one of the text with words that nobody knew before', () => {
    expect(verdict(scene('tool run $x'), ['/usr/bin/tool', 'run', 'a', 'b'])).toBe('runs')
    expect(verdict(scene('tool run $x'), ['/usr/bin/tool', 'walk', 'a'])).toBe('not-granted')
    expect(verdict(scene('$x'), ['/usr/bin/tool'])).toBe('not-granted')
  })
})
