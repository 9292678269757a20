/** The hosts that a command names, as contained mode asks about them. */

import { describe, expect, it } from 'vitest'
import { bashCall, policyOf, sessionOf, sourced } from '../../test/cases/policy-fixture.ts'
import { hosts } from '../../test/egress/world.ts'
import { tldtsSuffixes } from '../hosts/suffix.ts'
import { evaluate } from './evaluate.ts'

const base = policyOf()
const policy = policyOf({
  mode: sourced('contained', 'permission.mode'),
  http: { ...base.http, suffixes: tldtsSuffixes },
  commands: { ...base.commands, defaultDomains: hosts('*.amazonaws.com', 'db.example.org:8443') },
})

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
})
