/** Hosts that words name by other protocols than the web's are asked about by host and port. */

import { describe, expect, it } from 'vitest'
import { bashCall, policyOf, sessionOf, sourced } from '../../test/cases/policy-fixture.ts'
import { evaluate } from './evaluate.ts'

const policy = policyOf({ mode: sourced('contained', 'permission.mode') })

function hostsOf(command: string): string[] {
  return evaluate(policy, sessionOf(), bashCall(command))
    .segments.filter((part) => part.kind === 'host' && part.decision === 'ask')
    .map((part) => part.text)
}

describe('hosts of a command in contained mode', () => {
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
