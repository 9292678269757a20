import { describe, expect, test } from 'vitest'
import { loadManifest, manifestFromObject } from '../load.ts'
import { canonicalManifest } from './canonical.ts'

function canonical(text: string): string {
  const result = loadManifest(`schema_version = 1\n${text}`, 'cordon.toml', { matches: () => true })
  if ('problems' in result) throw new Error(result.problems.map((problem) => problem.message).join('\n'))
  return canonicalManifest(result.manifest)
}

const same: readonly { name: string; a: string; b: string; note: string }[] = [
  { name: 'comments', a: '[security]\npipes = false', b: '# x\n[security] # y\npipes   =   false # z', note: '' },
  {
    name: 'order of keys',
    a: '[security]\npipes = false\ncompound = false',
    b: '[security]\ncompound = false\npipes = false',
    note: '',
  },
  {
    name: 'order of sections',
    a: '[http]\n[security]\npipes = false',
    b: '[security]\npipes = false\n[http]',
    note: '',
  },
  { name: 'order of rules', a: '[shell_policy]\ndeny = ["a", "b"]', b: '[shell_policy]\ndeny = ["b", "a"]', note: '' },
  {
    name: 'short and long entries',
    a: '[capabilities.deny.commands]\npatterns = ["rm"]',
    b: '[capabilities.deny.commands]\npatterns = [{ command = "rm" }]',
    note: '',
  },
  {
    name: 'unset fields',
    a: '[capabilities.allow.commands]\npatterns = ["ls"]',
    b: '[capabilities.allow.commands]\npatterns = [{ command = "ls", prompt = false, inherit_default_domains = true }]',
    note: '',
  },
  {
    name: 'a written default of what a project can only make stricter',
    a: '',
    b: '[security]\npipes = true\nredirects = "streams"\n[limits]\nprocesses = 1024',
    note: 'it opens nothing, whatever the user has set',
  },
  { name: 'measures', a: '[limits]\nmemory = "1 KiB"', b: '[limits]\nmemory = 1024', note: '' },
  {
    name: 'examples',
    a: '[capabilities.allow.commands]\npatterns = ["ls"]',
    b: '[capabilities.allow.commands]\npatterns = [{ command = "ls", match = ["ls"] }]',
    note: 'they grant nothing',
  },
  {
    name: 'default_files or files',
    a: '[capabilities.deny.read]\ndefault_files = ["*.x"]\npaths = ["**"]',
    b: '[capabilities.deny.read]\npaths = [{ path = "**", files = ["*.x"] }]',
    note: '',
  },
]

const different: readonly { name: string; a: string; b: string; note: string }[] = [
  { name: 'a value', a: '[security]\npipes = false', b: '[security]\npipes = true', note: '' },
  {
    name: 'a written default',
    a: '',
    b: '[permission]\nmode = "custom"',
    note: "over the user's layer it takes effect",
  },
  { name: 'an empty section', a: '', b: '[capabilities.allow.read]', note: 'now reads ask' },
  { name: 'an agent', a: '', b: '[agents.rev]', note: '' },
  {
    name: 'a prompt',
    a: '[capabilities.allow.commands]\npatterns = ["ls"]',
    b: '[capabilities.allow.commands]\npatterns = [{ command = "ls", prompt = true }]',
    note: '',
  },
  { name: 'hosts open and closed', a: '[http]\nallowed_hosts = []', b: '[http]\nallowed_hosts = ["a.com"]', note: '' },
]

describe('the same grants', () => {
  test.each(same)('$name', ({ a, b }) => {
    expect(canonical(a)).toBe(canonical(b))
  })
})

describe('other grants', () => {
  test.each(different)('$name', ({ a, b }) => {
    expect(canonical(a)).not.toBe(canonical(b))
  })
})

test('TOML and object form are the same manifest', () => {
  const result = manifestFromObject({
    security: { pipes: false },
    schema_version: 1,
    http: { allowed_hosts: ['a.com'] },
  })
  expect('manifest' in result && canonicalManifest(result.manifest)).toBe(
    canonical('[http]\nallowed_hosts = ["a.com"]\n[security]\npipes = false'),
  )
})
