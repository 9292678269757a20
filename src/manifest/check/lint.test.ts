import { expect, test } from 'vitest'
import { loadManifest } from '../load.ts'
import { lintManifest } from './lint.ts'

const cases: readonly { name: string; text: string; warnings: string[]; note: string }[] = [
  {
    name: 'nothing to say',
    text: '[capabilities.allow.commands]\npatterns = ["git status:*", "npm run test:*", "rm -r dist"]',
    warnings: [],
    note: '',
  },
  {
    name: 'broad grants',
    text: '[capabilities.allow.commands]\npatterns = ["git:*", "npm run:*", "rm :*"]',
    warnings: ['3:13 broad-grant', '3:22 broad-grant', '3:35 broad-grant'],
    note: '',
  },
  {
    name: 'broad but asked',
    text: '[capabilities.allow.commands]\npatterns = [{ command = "git:*", prompt = true }]',
    warnings: [],
    note: '',
  },
  {
    name: 'the bare program',
    text: '[capabilities.allow.commands]\npatterns = ["git"]',
    warnings: [],
    note: 'exactly that',
  },
  {
    name: 'unused default domains',
    text: '[capabilities.allow.commands]\ndefault_domains = ["a.com"]\npatterns = [{ command = "ls", inherit_default_domains = false }]',
    warnings: ['3:1 unused'],
    note: '',
  },
  {
    name: 'used default domains',
    text: '[capabilities.allow.commands]\ndefault_domains = ["a.com"]\npatterns = ["ls"]',
    warnings: [],
    note: '',
  },
  {
    name: 'secrets by glob',
    text: '[capabilities.allow.read]\ndefault_files = ["*.key", "*"]\npaths = ["**"]',
    warnings: ['4:10 broad-grant'],
    note: '',
  },
  {
    name: 'secrets by path glob',
    text: '[capabilities.allow.read]\npaths = ["certs/*.pem", ".env.*"]',
    warnings: ['3:10 broad-grant', '3:25 broad-grant'],
    note: '',
  },
  {
    name: 'one secret by name',
    text: '[capabilities.allow.read]\npaths = [".env", ".env.local"]',
    warnings: [],
    note: 'meant',
  },
  {
    name: 'the whole home',
    text: '[capabilities.allow.write]\npaths = ["~/**"]\n[capabilities.allow]\nadditional_directories = ["/"]',
    warnings: ['3:10 broad-grant', '5:27 broad-grant'],
    note: '',
  },
  { name: 'private hosts', text: '[http]\nallow_private_hosts = true', warnings: ['3:1 dangerous-setting'], note: '' },
  {
    name: 'auto',
    text: '[permission]\nmode = "auto"\nauto_accept = true',
    warnings: ['3:1 dangerous-setting', '4:1 dangerous-setting'],
    note: '',
  },
  {
    name: 'variables that load code',
    text: '[capabilities.allow.commands]\ndefault_env_vars = ["LD_PRELOAD", "CI"]\npatterns = ["ls"]',
    warnings: ['3:21 dangerous-setting'],
    note: '',
  },
  { name: 'a filter of one letter', text: '[shell_policy]\nallow = ["e"]', warnings: ['3:10 broad-grant'], note: '' },
  { name: 'wrappers without bundles', text: '[sandbox.os]\nwrappers = ["make"]', warnings: ['3:1 unused'], note: '' },
]

test.each(cases)('$name', ({ text, warnings }) => {
  const result = loadManifest(`schema_version = 1\n${text}`, 'cordon.toml')
  if ('problems' in result) throw new Error(result.problems.map((problem) => problem.message).join('\n'))
  expect(lintManifest(result.manifest).map((found) => `${found.line}:${found.column} ${found.code}`)).toEqual(warnings)
})
