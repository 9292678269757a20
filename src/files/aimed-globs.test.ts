import { describe, expect, it } from 'vitest'
import { secretOfGlob } from './aimed-globs.ts'

describe('secretOfGlob', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    ['/p/.en*',        '/p/.env',       'a prefix of a dot file'],
    ['/p/.e[n]v',      '/p/.env',       'brackets'],
    ['/p/.en?',        '/p/.env',       'one character'],
    ['/p/id_*',        '/p/id_rsa',     'key names'],
    ['/p/*.pem',       '/p/x.pem',      'an extension'],
    ['/etc/shado?',    '/etc/shadow',   'a place'],
    ['/etc/sh*',       '/etc/shadow',   'a place by its beginning'],
    ['/home/u/.ss*',   '/home/u/.ssh',  'a directory of secrets'],
    ['/p/.env.pro*',   '/p/.env.x',     'a longer name'],
    ['/p/server.k*',   '/p/x.key',      'an extension that is cut'],
    ['/p/cred*.json',  '/p/credentials.json', 'a kind of file by the beginning of a name'],
    ['/p/*.json',      null,            'every file of a kind; the masks hide the one'],
    ['/home/u/.aws/cre*', '/home/u/.aws/credentials.json', 'a place by the beginning of its name'],
    ['/p/foo*',        null,            'only happens to match a key'],
    ['/p/*.*',         null,            'any extension'],
    ['/p/*',           null,            'a catch-all names nothing in particular'],
    ['/p/*.ts',        null,            'sources'],
    ['/p/[a-z]*.md',   null,            'docs'],
    ['/p/service-acc*.json', '/p/service-accountx.json', 'a name with a wildcard inside'],
    ['/p/e*',          null,            'a wildcard does not match a leading dot'],
  ] as [string, string | null, string][])('%s: %s (%s)', (glob, expected) => {
    expect(secretOfGlob(glob, '/home/u')).toBe(expected)
  })
})
