/** Builds dist/: the bundled CLI, the library with its types, and the sandbox's init. */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'

process.chdir(new URL('..', import.meta.url).pathname)
// The stamp goes first: a build that fails half-way is not taken for a finished one.
rmSync('dist/.built', { force: true })
mkdirSync('dist', { recursive: true })

const bundle = await rolldown({
  input: { cordon: 'src/surfaces/cli/entry.ts' },
  platform: 'node',
  external: [/^@napi-rs\//],
  logLevel: 'warn',
})
rmSync('dist/chunks', { recursive: true, force: true })
await bundle.write({ dir: 'dist', format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js', minify: false })
rmSync('dist/.compile-cache', { recursive: true, force: true })

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })

if (existsSync('native/build.sh')) execFileSync('bash', ['native/build.sh'], { stdio: 'inherit' })
if (existsSync('src/sandbox/seatbelt/profiles')) cpSync('src/sandbox/seatbelt/profiles', 'dist/profiles', { recursive: true })

writeFileSync('dist/.built', '')
