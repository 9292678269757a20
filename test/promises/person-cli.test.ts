/** What a person reads and ends by the command line: the signature, outputs, residents. */

import { readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { Place } from './place.ts'

let place: Place
afterEach(() => place.close())

describe('cordon sign', () => {
  it('says what the other layers hold back', async () => {
    place = new Place({
      files: {
        '$H/.config/cordon/cordon.toml':
          'schema_version = 1\n[security]\ndeny_domains = ["*.example.com"]\n[limits]\ncommand_timeout = 60\n',
        'cordon.toml': `schema_version = 1
[limits]
command_timeout = 600
[http]
allowed_hosts = ["good.example.org"]
[capabilities.allow.commands]
patterns = [{ command = "curl:*", domains = ["evil.example.com", "good.example.org"] }]
[[secrets]]
name = "GITHUB_TOKEN"
source = "env:GITHUB_TOKEN"
hosts = ["good.example.org"]
`,
      },
    })
    const { out } = await place.cordon(['sign', '--yes'])
    expect(out).toMatch(/reaches +good\.example\.org\n/)
    expect(out).toMatch(/stays denied +evil\.example\.com\n/)
    expect(out.replace(/\n\s+/g, ' ')).toMatch(/evil\.example\.com stays denied \(\S+cordon\.toml:3:\d+\)/)
    expect(out.replace(/\n\s+/g, ' ')).toMatch(/600 \(it was 120\)\. In force: 60 \(\S+cordon\.toml:5:\d+\)/)
    expect(out).toContain('"GITHUB_TOKEN" (env:GITHUB_TOKEN) is a secret')
    expect(out).not.toContain('[REDACTED]')
  })
})

it.each([
  ['audit report', ['audit', 'report', '--out']],
  ['import', ['import', 'claude-code', '--out']],
])('%s writes no output through a link', async (_, words) => {
  place = new Place({ files: { 'kept.txt': 'kept\n', '$H/.claude/settings.json': '{}' } })
  symlinkSync('kept.txt', join(place.root, 'out'))
  const { code } = await place.cordon([...words, join(place.root, 'out')])
  expect(code).not.toBe(0)
  expect(readFileSync(join(place.root, 'kept.txt'), 'utf8')).toBe('kept\n')
})
