import { describe, expect, it } from 'vitest'
import { bashCall, policyOf, sessionOf, sourced } from '../../../test/cases/policy-fixture.ts'
import { evaluate } from './evaluate.ts'

const contained = policyOf({ mode: sourced('contained', 'permission.mode') })
const withTmp = policyOf({ ...contained, additionalDirectories: [sourced('/tmp')] })

describe('moves into the private /tmp', () => {
  it.each([
    'mv src /tmp/src.bak',
    'mv src/*.ts /tmp',
    'mv -t /tmp a b',
    'mv --target-directory=/tmp a',
    'cd src && mv a.ts /tmp/',
    'rsync -a --remove-source-files src/ /tmp/x',
    'mv a /tmp/a; mv /tmp/b b',
  ])('asks: %s', (command) => {
    expect(evaluate(contained, sessionOf(), bashCall(command))).toMatchObject({
      decision: 'ask',
      reason: { code: 'destructive' },
    })
  })

  it.each(['mv /tmp/a src/a', 'cp src/a /tmp/a', 'mv /tmp/a /tmp/b', 'mv a b', 'mv a /tmp/a; npm test; mv /tmp/a a'])(
    'allows: %s',
    (command) => {
      expect(evaluate(contained, sessionOf(), bashCall(command)).decision).toBe('allow')
    },
  )

  it('allows it where /tmp is a directory of the manifest', () => {
    expect(evaluate(withTmp, sessionOf(), bashCall('mv src /tmp/src.bak')).decision).toBe('allow')
  })
})

describe('what undo does not keep', () => {
  const undo = sessionOf({ undo: true })
  it.each([
    'docker exec db rm -rf /data',
    'docker compose exec -T app git reset --hard',
    "podman exec db sh -c 'rm -rf /data'",
  ])('asks: %s', (command) => {
    expect(evaluate(contained, undo, bashCall(command))).toMatchObject({
      decision: 'ask',
      reason: { code: 'destructive' },
    })
  })

  it.each(['rm -rf dist', 'git reset --hard', 'docker exec app ls'])('allows: %s', (command) => {
    expect(evaluate(contained, undo, bashCall(command)).decision).toBe('allow')
  })
})
