import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { tldtsSuffixes } from '../../hosts/suffix.ts'
import { knownHostsFor, sshPatterns } from './known-hosts.ts'

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ0w'

function patterns(...entries: readonly string[]) {
  return entries.map((entry) => {
    const parsed = parseHostPattern(entry, tldtsSuffixes)
    if ('problem' in parsed) throw new TypeError(parsed.problem)
    return parsed.pattern
  })
}

const rows: { name: string; text: string; grants: string[]; lines: string[] }[] = [
  {
    name: 'a plain line',
    text: `github.com ${KEY}\nother.org ${KEY}\n`,
    grants: ['github.com:22'],
    lines: [`github.com ${KEY}`],
  },
  {
    name: 'one name of several, the others left out',
    text: `github.com,140.82.112.3 ${KEY}`,
    grants: ['github.com:22'],
    lines: [`github.com ${KEY}`],
  },
  {
    name: 'its own port',
    text: `[git.org]:2222 ${KEY}\ngit.org ${KEY}`,
    grants: ['git.org:2222'],
    lines: [`[git.org]:2222 ${KEY}`],
  },
  { name: 'a wildcard line', text: `*.git.org ${KEY}`, grants: ['a.git.org:22'], lines: [`a.git.org ${KEY}`] },
  {
    name: 'a wildcard line with an exception',
    text: `*.git.org,!a.git.org ${KEY}`,
    grants: ['a.git.org:22'],
    lines: [],
  },
  {
    name: 'a wildcard grant',
    text: `a.git.org ${KEY}\ngit.org ${KEY}\nx.org ${KEY}`,
    grants: ['*.git.org:22'],
    lines: [`a.git.org ${KEY}`],
  },
  {
    name: 'an authority, and a revoked key',
    text: `@cert-authority *.git.org ${KEY}\n@revoked a.git.org ${KEY}`,
    grants: ['a.git.org:22'],
    lines: [`@cert-authority a.git.org ${KEY}`, `@revoked a.git.org ${KEY}`],
  },
  { name: 'the web alone', text: `github.com ${KEY}`, grants: ['github.com'], lines: [] },
  { name: 'comments and broken lines', text: `# github.com x\n\ngithub.com\n`, grants: ['github.com:22'], lines: [] },
  { name: 'what looks like an expression', text: `git(.*)+$ ${KEY}`, grants: ['git.org:22'], lines: [] },
]

describe('known_hosts', () => {
  it.each(rows)('$name', ({ text, grants, lines }) => {
    expect(knownHostsFor(text, sshPatterns(patterns(...grants)))).toBe(lines.map((line) => `${line}\n`).join(''))
  })

  it('hashed names, as ssh-keygen writes them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'cordon-known-'))
    try {
      const file = join(folder, 'known_hosts')
      execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(folder, 'key')])
      const [type, key] = readFileSync(join(folder, 'key.pub'), 'utf8').split(' ')
      writeFileSync(
        file,
        ['github.com', '[git.org]:2222', 'other.org'].map((name) => `${name} ${type} ${key}\n`).join(''),
      )
      execFileSync('ssh-keygen', ['-q', '-H', '-f', file], { stdio: 'ignore' })
      const hashed = readFileSync(file, 'utf8')
      expect(hashed).not.toContain('github.com')
      expect(knownHostsFor(hashed, patterns('github.com:22', 'git.org:2222'))).toBe(
        `github.com ${type} ${key}\n[git.org]:2222 ${type} ${key}\n`,
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})
