/** The lock file is whole: `npm ci` takes it on every platform, and what runs here is pinned by a hash. */

import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { type LockedPackage, missingPlatforms } from '../../scripts/lock-file.ts'

const packages = JSON.parse(readFileSync('package-lock.json', 'utf8')).packages as Record<string, LockedPackage>

it('names every optional package (scripts/complete-lock.ts adds what is missing)', () => {
  expect(missingPlatforms(packages).map(([place]) => place)).toEqual([])
})

it('has a hash for every package of a platform that Cordon runs on', () => {
  const runsHere = ({ os, cpu, libc }: LockedPackage) =>
    (os?.includes('linux') ?? true) &&
    (cpu?.some((name) => name === 'x64' || name === 'arm64') ?? true) &&
    (libc?.includes('glibc') ?? true)
  const without = Object.entries(packages).filter(
    ([place, entry]) => place !== '' && runsHere(entry) && !entry.integrity,
  )
  expect(without.map(([place]) => place)).toEqual([])
})

it('names no registry', () => {
  expect(readFileSync('package-lock.json', 'utf8')).not.toContain('"resolved"')
})

it('a missing platform is found, with its own version where another is at the top', () => {
  const some: Record<string, LockedPackage> = {
    'node_modules/a': { version: '2.0.0', dev: true, optionalDependencies: { '@a/linux-arm64-gnu': '2.0.0' } },
    'node_modules/b/node_modules/a': { version: '1.0.0', optionalDependencies: { '@a/linux-arm64-gnu': '1.0.0' } },
    'node_modules/@a/linux-arm64-gnu': { version: '2.0.0' },
  }
  expect(missingPlatforms(some)).toEqual([
    [
      'node_modules/b/node_modules/@a/linux-arm64-gnu',
      { version: '1.0.0', cpu: ['arm64'], os: ['linux'], libc: ['glibc'], optional: true },
    ],
  ])
})
