import { describe, expect, it } from 'vitest'
import { guessRole, takesCommand } from './report.ts'

describe('what an unlisted option takes', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['--out',              'write',  'a place'],
    ['--outDir',           'write',  'camel case'],
    ['--output_file',      'write',  'underscores'],
    ['--go_out',           'write',  'a generator of protoc'],
    ['--results-directory','write',  'where results go'],
    ['outputDirectory',    'write',  'a property of a build'],
    ['-o',                 'write',  'the short form'],
    ['--require',          'module', 'code'],
    ['--plugin-dir',       'module', 'a directory of code'],
    ['--exec',             'run',    'a command'],
    ['--npm-client',       'run',    'a program'],
    ['--onSuccess',        'run',    'a hook'],
    ['--timeout',          null,     'ends in out, but is not a place'],
    ['--format',           null,     'a way to print'],
    ['--verbose',          null,     'a flag'],
  ] as [string, string | null, string][])('%s: %s (%s)', (name, role) => {
    expect(guessRole(name)).toBe(role)
  })

  it('knows names whose value is a command line, however short', () => {
    expect(['--exec', '--onSuccess', '--post-build-cmd'].every(takesCommand)).toBe(true)
    expect(['--shell', '--editor', '--output'].some(takesCommand)).toBe(false)
  })
})
