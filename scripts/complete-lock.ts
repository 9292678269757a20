/**
 * Completes package-lock.json after an install: a registry that mirrors only some platforms leaves the optional binaries
 * of the others out, and `npm ci` then refuses the file everywhere. Each gets an entry with its exact version, marked for
 * its platform, which npm passes over on every other. `--check` only says what is missing.
 */

import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { missingPlatforms } from './lock-file.ts'

const check = process.argv.includes('--check')
const lock = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const missing = missingPlatforms(lock.packages)
for (const [place] of missing) console.log(`${check ? 'missing' : 'added'}: ${place}`)
if (check) process.exitCode = missing.length > 0 ? 1 : 0
else {
  const known = missing.map(([place, entry]) => [place, { ...entry, ...hashOf(place, entry.version!) }] as const)
  const entries = [...Object.entries(lock.packages), ...known]
  lock.packages = Object.fromEntries(entries.toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
  writeFileSync('package-lock.json', `${JSON.stringify(lock, null, 2)}\n`)
}

/** The hash of a package that the configured registry has after all. */
function hashOf(place: string, version: string): { readonly integrity?: string } {
  const name = place.slice(place.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const view = spawnSync('npm', ['view', `${name}@${version}`, 'dist.integrity'], { encoding: 'utf8' })
  const integrity = view.stdout.trim()
  return view.status === 0 && /^sha512-/.test(integrity) ? { integrity } : {}
}
