import { describe, expect, test } from 'vitest'
import { planSandbox, type SandboxRequest } from '../../plan.ts'
import { ancestorsOf, compileProfile, quote, type RefusalMark } from './profile.ts'

function profile(change: Partial<SandboxRequest> = {}, mark: RefusalMark | null = null): string {
  const directory = (real: string) => [real, { kind: 'directory' as const, real }] as const
  const request: SandboxRequest = {
    argv: ['true'],
    cwd: '/Users/ada/work',
    env: {},
    baseline: 'system',
    home: '/Users/ada',
    uid: 501,
    gid: 20,
    reads: ['/Users/ada/docs'],
    writes: ['/Users/ada/work'],
    masks: ['/Users/ada/work/.env'],
    pins: [{ path: '/Users/ada/work/.git/hooks', mode: 'read-only' }],
    network: 'none',
    unixSockets: false,
    limits: {},
    facts: {
      paths: new Map(['/usr', '/bin', '/Users/ada/docs', '/Users/ada/work'].map(directory)),
      sockets: [],
      kernelMounts: [],
    },
    ...change,
  }
  return compileProfile(planSandbox(request), mark)
}

/** The text of the rule that starts so, up to its end. */
function ruleOf(text: string, start: string): string {
  const from = text.indexOf(start)
  return from < 0 ? '' : text.slice(from, text.indexOf('\n)', from))
}

describe('compileProfile', () => {
  test.each([{}, { masks: [], pins: [] }])('a mark adds words to denials, and no rule: %j', (change) => {
    const marked = profile(change, 'cordon-00112233445566778899aabb')
    const words = '(with message "cordon-00112233445566778899aabb")'
    expect(marked.split('\n')[1]).toBe(`(deny default ${words})`)
    expect(marked.replace(` ${words}`, '').replaceAll(`  ${words}\n`, '')).toBe(profile(change))
  })

  test('denies by default, before anything else', () => {
    expect(profile().split('\n').slice(0, 2)).toEqual(['(version 1)', '(deny default)'])
  })

  test.each([
    { name: 'read grant', start: '(allow file-read*\n', contains: '(subpath "/Users/ada/docs")' },
    { name: 'write grant', start: '(allow file-write*\n', contains: '(subpath "/Users/ada/work")' },
    { name: 'ancestor', start: '(allow file-read-metadata', contains: '(literal "/Users/ada")' },
    { name: 'root', start: '(allow file-read-metadata', contains: '(literal "/")' },
    { name: 'mask', start: '(deny file-read* file-write*', contains: '(subpath "/Users/ada/work/.env")' },
    { name: 'pin', start: '(deny file-write*\n', contains: '(subpath "/Users/ada/work/.git/hooks")' },
    { name: 'pin’s ancestor', start: '(deny file-write-unlink', contains: '(literal "/Users/ada/work/.git")' },
  ])('$name', ({ start, contains }) => {
    expect(ruleOf(profile(), start)).toContain(contains)
  })

  test('a read grant is not writable, and home as a whole is neither', () => {
    expect(ruleOf(profile(), '(allow file-write*\n')).not.toContain('docs')
    expect(profile()).not.toContain('(subpath "/Users/ada")')
  })

  test('denials of masks come after every allow, so that every order of reading agrees', () => {
    const text = profile({ network: 'listener', unixSockets: true, terminal: { rows: 1, columns: 1 } })
    expect(text.lastIndexOf('(allow')).toBeLessThan(text.indexOf('(deny file-read* file-write*'))
  })

  test.each([
    { name: 'none', network: 'none' as const, outbound: false },
    { name: 'one port', network: 'listener' as const, outbound: true },
  ])('network: $name', ({ network, outbound }) => {
    expect(profile({ network }).includes('(allow network-outbound\n  (remote ip "localhost:3128")\n)')).toBe(outbound)
  })

  test('the none baseline shows no system', () => {
    expect(profile({ baseline: 'none' })).not.toContain('/System')
  })
})

test.each([
  { name: 'plain', text: '/a b', quoted: '"/a b"' },
  { name: 'a quote cannot end the string', text: '/a") (allow default', quoted: '"/a\\") (allow default"' },
  { name: 'a backslash cannot hide a quote', text: '/a\\"', quoted: '"/a\\\\\\""' },
])('quote: $name', ({ text, quoted }) => {
  expect(quote(text)).toBe(quoted)
})

test('ancestorsOf names each directory once, without the paths themselves', () => {
  expect(ancestorsOf(['/a/b/c', '/a/d'])).toEqual(['/', '/a', '/a/b'])
})
