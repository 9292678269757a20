/** The hosts that a command names, as contained mode asks about them. */

import { describe, expect, it } from 'vitest'
import { bashCall, policyOf, sessionOf, sourced } from '../../../test/cases/policy-fixture.ts'
import { hosts } from '../../../test/contract/egress/world.ts'
import { tldtsSuffixes } from '../../hosts/suffix.ts'
import { evaluate } from './evaluate.ts'

const base = policyOf()
const policy = policyOf({
  mode: sourced('contained', 'permission.mode'),
  http: { ...base.http, suffixes: tldtsSuffixes },
  commands: { ...base.commands, defaultDomains: hosts('*.amazonaws.com', 'db.example.org:8443') },
})

function hostsOf(command: string): string[] {
  return evaluate(policy, sessionOf(), bashCall(command))
    .segments.filter((part) => part.kind === 'host' && part.decision === 'ask')
    .map((part) => part.text)
}

describe('hosts of commands in contained mode', () => {
  it.each([
    { command: 'curl https://sts.amazonaws.com/', decision: 'allow', note: 'below the wildcard' },
    { command: 'curl https://bucket.s3.amazonaws.com/', decision: 'ask', note: "a stranger's, below a public suffix" },
    { command: 'curl https://amazonaws.com/', decision: 'ask', note: 'the domain itself' },
    { command: 'curl https://db.example.org:8443/', decision: 'allow', note: 'with its port' },
    { command: 'curl https://db.example.org/', decision: 'ask', note: 'another port' },
  ])('$decision: $command ($note)', ({ command, decision }) => {
    expect(evaluate(policy, sessionOf(), bashCall(command)).decision).toBe(decision)
  })

  it.each([
    ['git clone git@example.com:a/b.git', 'example.com:22'],
    ['git clone ssh://git@example.com:2222/a', 'example.com:2222'],
    ['git clone git://example.com/a', 'example.com:9418'],
    ['curl ftp://example.com/x', 'example.com:21'],
    ['curl https://example.com/x', 'example.com'],
    ['curl example.com', 'example.com'],
    ['pip install git+https://example.com/x', 'example.com'],
    ['npm install git+ssh://git@example.com/x', 'example.com:22'],
    ['npx https://example.com/x.tgz', 'example.com'],
  ])('%s reaches for %s', (command, host) => {
    expect(hostsOf(command)).toEqual([host])
  })

  it.each(['git clone file:///srv/x', 'git fetch origin', 'curl http://localhost:3000', 'git clone ssh://localhost/x'])(
    '%s names none',
    (command) => {
      expect(hostsOf(command)).toEqual([])
    },
  )
})
