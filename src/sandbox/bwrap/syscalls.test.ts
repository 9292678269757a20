import { existsSync, readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { type Architecture, INSPECTED_CALLS, LAST_KNOWN_CALL, LOOKING_CALLS, REFUSED_CALLS } from './syscalls.ts'

/** The kernel's own tables, which come with the C library. arm64 uses the generic one. */
const HEADERS: Readonly<Record<Architecture, readonly string[]>> = {
  arm64: ['/usr/include/asm-generic/unistd.h'],
  x64: ['/usr/include/x86_64-linux-gnu/asm/unistd_64.h', '/usr/include/asm/unistd_64.h'],
}

function numbersOf(architecture: Architecture): Map<string, number> | null {
  const header = HEADERS[architecture].find((path) => existsSync(path))
  if (header === undefined) return null
  const lines = readFileSync(header, 'utf8').matchAll(/^#define __NR_(\w+)[ \t]+(\d+)$/gm)
  return new Map([...lines].map(([, name, number]) => [name!, Number(number)]))
}

const calls = [
  ...REFUSED_CALLS,
  // The generic table has it by another name.
  ...LOOKING_CALLS.map((call) => (call.name === 'newfstatat' ? { ...call, arm64: null } : call)),
  ...Object.entries(INSPECTED_CALLS).map(([name, numbers]) => ({ name, ...numbers })),
].map(({ name, x64, arm64 }) => ({ name, x64, arm64 }))

describe('the table of system calls', () => {
  const present = (['x64', 'arm64'] as const).filter((architecture) => numbersOf(architecture) !== null)

  test('can be compared with the kernel’s for this machine', () => {
    expect(present).toContain(process.arch)
  })

  test.each(present)('has the kernel’s numbers for %s', (architecture) => {
    const kernel = numbersOf(architecture)!
    // A header older than the call does not know it.
    const newest = Math.max(...kernel.values())
    const wrong = calls.filter((call) => {
      const ours = call[architecture]
      const theirs = kernel.get(call.name) ?? null
      return ours !== theirs && !(theirs === null && ours !== null && ours >= newest)
    })
    expect(wrong).toEqual([])
    expect(kernel.size).toBeGreaterThan(250)
  })

  test('names no call twice, and none beyond what it was checked against', () => {
    for (const architecture of ['x64', 'arm64'] as const) {
      const numbers = calls.flatMap((call) => call[architecture] ?? [])
      expect(new Set(numbers).size).toBe(numbers.length)
      expect(Math.max(...numbers)).toBeLessThanOrEqual(LAST_KNOWN_CALL)
    }
  })
})

test('the init knows every call that is sent to it for learning', () => {
  const source = readFileSync('native/init/learn.c', 'utf8')
  const cases = new Set([...source.matchAll(/case (?:SYS_(\w+)|439)/g)].map(([, name]) => name ?? 'faccessat2'))
  expect(LOOKING_CALLS.filter(({ name }) => !cases.has(name))).toEqual([])
})
