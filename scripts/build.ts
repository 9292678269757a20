/** Builds dist/: the bundled CLI, the library with its types, and the sandbox's init. */

import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { rolldown } from 'rolldown'

process.chdir(new URL('..', import.meta.url).pathname)
// The stamp goes first: a build that fails half-way is not taken for a finished one.
rmSync('dist/.built', { force: true })
mkdirSync('dist', { recursive: true })

/** What `cordon check`, `hook` and `run` all need. */
const CORE =
  /src\/(policy|files|hosts|manifest|tools|system|version)|src\/runtime\/(check-call|load-policy|resolve-call|manifest-report)|src\/shell\/tables\/interpreters|src\/surfaces\/cli\/(arguments|open-policy|requested-call|check)\.ts/

const bundle = await rolldown({
  input: { cordon: 'src/surfaces/cli/entry.ts' },
  platform: 'node',
  external: [/^@napi-rs\//],
  logLevel: 'warn',
})
rmSync('dist/chunks', { recursive: true, force: true })
await bundle.write({
  dir: 'dist',
  // CommonJS, because Node loads it about 8 ms faster than ESM: no facades for built-in modules, no asynchronous linking.
  format: 'cjs',
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name]-[hash].cjs',
  // One file for the way every start goes, one for the shell: each further file costs a third of a millisecond.
  codeSplitting: {
    groups: [
      { name: 'shell', test: /src\/shell\/(?!tables\/interpreters)|node_modules\/unbash/, priority: 3 },
      { name: 'suffix', test: /node_modules\/tldts|hosts\/suffix/, priority: 3 },
      { name: 'core', test: CORE, priority: 2 },
    ],
  },
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
})
rmSync('dist/.compile-cache', { recursive: true, force: true })

execFileSync('tsc', ['-p', 'tsconfig.build.json'], { stdio: 'inherit' })

if (existsSync('native/build.sh')) execFileSync('bash', ['native/build.sh'], { stdio: 'inherit' })
if (existsSync('src/sandbox/seatbelt/profiles'))
  cpSync('src/sandbox/seatbelt/profiles', 'dist/profiles', { recursive: true })

writeFileSync('dist/.built', '')
