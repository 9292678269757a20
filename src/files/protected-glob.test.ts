import { describe, expect, it } from 'vitest'
import { protectedOfGlob } from './aimed-globs.ts'

const facts = {
  root: '/p',
  home: '/home/u',
  configDir: '/home/u/.config/cordon',
  stateDir: '/home/u/.local/state/cordon',
  manifestPath: '/p/cordon.toml',
}

describe('protectedOfGlob', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['/p/.gi?/hooks/pre-commit', true,  'the directory of git'],
    ['/p/.git/h*/pre-commit',    true,  'its hooks'],
    ['/p/.git/hooks/*',          false, 'the directory by its name is judged elsewhere'],
    ['/p/.g*',                   true,  'the repository itself'],
    ['/p/sub/.gi[t]/config',     true,  'brackets, deeper'],
    ['/p/cordon.tom?',           true,  'the manifest'],
    ['/p/.vscod?/tasks.json',    true,  'an editor setting'],
    ['/home/u/.bash*',           true,  'a file of the home'],
    ['/p/*',                     false, 'a catch-all names nothing in particular'],
    ['/p/*.toml',                false, 'only happens to match'],
    ['/p/x.code-work*',          true,  'a name that is itself an ending'],
    ['/p/a*',                    false, 'only happens to match an ending'],
    ['/p/x/*.json',              false, 'an extension says little'],
    ['/p/src/*.ts',              false, 'sources'],
    ['/p/.github/*',             false, 'not git'],
    ['/p/cordon.toml',           false, 'no glob at all is judged elsewhere'],
  ] as [string, boolean, string][])('%s: %s (%s)', (glob, expected) => {
    expect(protectedOfGlob(glob, facts) !== null).toBe(expected)
  })
})
