import { describe, expect, it } from 'vitest'
import { changeRules } from './change-rules.ts'

const facts = (named: readonly string[]) => ({
  home: '/home/ada',
  write: ['/home/ada/work', '/home/ada/.claude/projects'],
  named,
  own: {
    configDir: '/home/ada/.config/cordon',
    stateDir: '/home/ada/.local/state/cordon',
    manifestPath: '/home/ada/work/cordon.toml',
  },
})

/** The places that a manifest's own words open, of rules that are one byte and a text each. */
const opened = (named: readonly string[]) =>
  changeRules(facts(named))
    .slice(1)
    .join('')
    .split('\0')
    .filter((rule) => rule.startsWith('\u0004/'))
    .map((rule) => rule.slice(1))

describe('a write grant opens a protected place only where it names it', () => {
  it.each([
    ['the place itself', ['/home/ada/work/.envrc'], ['/home/ada/work/.envrc']],
    ['a folder of an agent', ['/home/ada/.claude/projects/**'], ['/home/ada/.claude/projects']],
    ['git hooks', ['/home/ada/work/.git/hooks/**'], ['/home/ada/work/.git/hooks']],
    ['everything', ['/home/ada/work/**'], []],
    ['a folder by name', ['/home/ada/work/src'], []],
    ['a folder with all below it', ['/home/ada/work/src/**'], []],
    ['the root', ['/home/ada/work'], []],
    ["Cordon's own state", ['/home/ada/.local/state/cordon'], []],
  ])('%s', (_, named, places) => {
    expect(opened(named)).toEqual(places)
  })
})
