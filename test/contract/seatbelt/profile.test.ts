/** The profile for macOS against the plan for Linux: never wider, closed where it must be, and the same in both readings. */

import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'
import { isInside } from '../../../src/files/baseline.ts'
import { compileProfile } from '../../../src/sandbox/experimental/seatbelt/profile.ts'
import { type Profile, type Question, readProfile } from './evaluator.ts'
import { type Chance, chanceFrom, OPERATIONS, planAllows, planOf, randomPath, randomRequest } from './world.ts'

const POLICIES = 500
const QUESTIONS = 200

/** Every policy with its profile, and paths to ask about. */
function* worlds(seed: number): Generator<{ plan: ReturnType<typeof planOf>; profile: Profile; chance: Chance }> {
  const chance = chanceFrom(seed)
  for (let count = 0; count < POLICIES; count++) {
    const plan = planOf(randomRequest(chance))
    yield { plan, profile: readProfile(compileProfile(plan)), chance }
  }
}

const both = (profile: Profile, question: Question) =>
  [profile.decide(question, 'last'), profile.decide(question, 'specific')] as const

describe(`${POLICIES * QUESTIONS} questions about ${POLICIES} policies`, () => {
  it('are never answered wider than the bubblewrap plan does, and alike in both readings', () => {
    const wrong: string[] = []
    let allowed = 0
    for (const { plan, profile, chance } of worlds(1)) {
      for (let count = 0; count < QUESTIONS; count++) {
        const path = randomPath(chance, plan)
        const operation = OPERATIONS[chance(OPERATIONS.length)]!
        const [last, specific] = both(profile, { operation, path })
        if (last !== specific) wrong.push(`${operation} ${path}: ${last} or ${specific}`)
        if (last === 'deny') continue
        allowed++
        const onlyAbove = operation === 'file-read-metadata' && isAbove(plan, path)
        if (!onlyAbove && !planAllows(plan, operation, path)) wrong.push(`${operation} ${path} is allowed`)
      }
    }
    expect(wrong.slice(0, 20)).toEqual([])
    expect(allowed).toBeGreaterThan((POLICIES * QUESTIONS) / 20)
  })

  it('leave ordinary work possible: what the plan shows and nothing denies is allowed', () => {
    const refused: string[] = []
    for (const { plan, profile } of worlds(2)) {
      for (const { path, mode } of plan.binds) {
        if (path === '/') continue
        const file = `${path}/ordinary.txt`
        if (
          planAllows(plan, 'file-read-data', file) &&
          profile.decide({ operation: 'file-read-data', path: file }, 'last') === 'deny'
        )
          refused.push(`read ${file}`)
        if (mode === 'read-write' && profile.decide({ operation: 'file-write-create', path: file }, 'last') === 'deny')
          refused.push(`write ${file}`)
      }
    }
    expect(refused.filter((text) => !text.includes('/Volumes/')).slice(0, 10)).toEqual([])
  })
})

/** Names of what lies above a grant, and the system's links, are shown without their contents. */
function isAbove(plan: ReturnType<typeof planOf>, path: string): boolean {
  const shown = [...plan.binds.map((bind) => bind.path), plan.cwd, '/dev/null', '/System/Volumes/Preboot/Cryptexes']
  const links = ['/etc', '/tmp', '/var', ...plan.links.map((link) => link.path)]
  const system = [
    '/private/etc',
    '/private/preboot/Cryptexes',
    '/private/var/db/dyld',
    '/Library/Apple',
    '/Applications/Xcode.app/Contents/Developer',
    '/Library/Developer/CommandLineTools',
  ]
  return links.includes(path) || [...shown, ...system].some((grant) => isInside(grant, path))
}

describe('whatever the policy', () => {
  const outside: readonly Question[] = [
    { operation: 'network-outbound', remote: '93.184.216.34:443' },
    { operation: 'network-outbound', remote: 'localhost:1' },
    { operation: 'network-outbound', path: '/private/var/run/mDNSResponder' },
    { operation: 'mach-lookup', service: 'com.apple.coreservices.launchservicesd' },
    { operation: 'mach-lookup', service: 'com.apple.SecurityServer' },
    { operation: 'process-info-pidinfo', target: 'others' },
    { operation: 'signal', target: 'others' },
    { operation: 'nvram-get' },
    { operation: 'iokit-get-properties' },
    { operation: 'file-link', path: '/Users/ada/work/a.txt' },
    { operation: 'job-creation' },
    { operation: 'appleevent-send' },
    { operation: 'file-mount' },
    { operation: 'system-privilege' },
  ]

  it.each(outside)('$operation $remote $service $path $target is denied', (question) => {
    for (const { profile } of worlds(3)) expect(both(profile, question)).toEqual(['deny', 'deny'])
  })

  it('what a denial is bound to cannot be moved away from it', () => {
    for (const { plan, profile } of worlds(4)) {
      const writable = (path: string) =>
        plan.binds.some((bind) => bind.mode === 'read-write' && isInside(path, bind.path))
      for (const kept of [...plan.masks, ...plan.pins.filter((pin) => pin.mode === 'read-only').map((pin) => pin.path)])
        for (let path = kept; path !== '/' && writable(path); path = posix.dirname(path))
          expect(both(profile, { operation: 'file-write-unlink', path })).toEqual(['deny', 'deny'])
    }
  })

  it('only the proxy’s port is reached, and only where hosts are granted', () => {
    for (const { plan, profile } of worlds(5)) {
      const remote = `localhost:${plan.network.kind === 'listener' ? plan.network.port : 3128}`
      const wanted = plan.network.kind === 'listener' ? 'allow' : 'deny'
      expect(both(profile, { operation: 'network-outbound', remote })).toEqual([wanted, wanted])
    }
  })
})

describe('the evaluator refuses', () => {
  const ground = '(version 1)\n(deny default)\n'
  it.each([
    ['another first rule', '(version 1)\n(allow default)'],
    ['an unknown operation', `${ground}(allow file-everything)`],
    ['an unknown filter', `${ground}(allow file-read* (prefix "/x"))`],
    ['an import', `${ground}(import "system.sb")`],
    ['a host beyond loopback', `${ground}(allow network-outbound (remote ip "*:443"))`],
    ['a local filter that is open', `${ground}(allow network-outbound (local ip "*:*"))`],
    ['an open regex', `${ground}(allow file-read* (regex #"/dev/tty"))`],
    ['a path with dots', `${ground}(allow file-read* (subpath "/a/../b"))`],
    ['a relative path', `${ground}(allow file-read* (subpath "a"))`],
    ['an open bracket', `${ground}(allow file-read*`],
    ['a string that does not end', `${ground}(allow file-read* (subpath "/x))`],
  ])('%s', (_, text) => {
    expect(() => readProfile(text)).toThrow()
  })

  it('a profile that reads differently in the two readings is seen', () => {
    const text = `${ground}(deny file-read* (subpath "/s"))\n(allow file-read* (subpath "/"))`
    expect(both(readProfile(text), { operation: 'file-read-data', path: '/s/x' })).toEqual(['allow', 'deny'])
  })
})
