/** A substitute for macOS's sandbox-exec: writes down what it was given, and runs the command under bubblewrap with what the profile allows. */

import { spawn } from 'node:child_process'
import { appendFileSync, existsSync, statSync } from 'node:fs'
import { constants } from 'node:os'
import { type Profile, type Question, readProfile } from '../evaluator.ts'

/** What a profile that is for a Mac leaves out and a Linux cannot do without. */
const LINUX = ['/lib', '/lib32', '/lib64', '/libx32', '/etc']

const [log, mode, ...args] = process.argv.slice(2) as [string, string, ...string[]]
appendFileSync(log, `${JSON.stringify(args)}\n`)
const [option, text, separator, ...command] = args
if (option !== '-p' || separator !== '--') throw new Error(`unexpected arguments: ${args.slice(0, 1)} … ${separator}`)

if (mode === 'fail') {
  process.stderr.write('sandbox-exec: profile:3: unbound variable\n')
  process.exit(65)
}
if (mode === 'quiet') process.exit(0)
if (mode === 'hang') setInterval(() => {}, 1000)
else run(mode === 'open' ? command : ['bwrap', ...boxOf(readProfile(text!), text!), '--', ...command])

function run([program, ...words]: readonly string[]): void {
  const child = spawn(program!, words, { stdio: ['inherit', 'inherit', 'inherit', 'inherit'] })
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal!]))
}

/** Both readings of the profile must agree, or this is not a test of it. */
function allows(profile: Profile, question: Question): boolean {
  const [last, specific] = (['last', 'specific'] as const).map((reading) => profile.decide(question, reading))
  if (last !== specific) throw new Error(`the readings differ: ${JSON.stringify(question)}`)
  return last === 'allow'
}

function boxOf(profile: Profile, source: string): string[] {
  const paths = [...source.matchAll(/\((?:subpath|literal) "((?:[^"\\]|\\.)*)"\)/g)].map(([, path]) =>
    path!.replace(/\\(.)/g, '$1'),
  )
  const mounts = [...new Set(paths)]
    .filter((path) => path !== '/' && !path.startsWith('/dev') && existsSync(path))
    .sort((a, b) => a.length - b.length)
    .flatMap((path) => mountOf(profile, path))
  const ports = [...source.matchAll(/localhost:(\d+)/g)].map(([, port]) => port!)
  const network = ports.some((port) => allows(profile, { operation: 'network-outbound', remote: `localhost:${port}` }))
  return [
    '--unshare-pid',
    '--proc',
    '/proc',
    '--dev',
    '/dev',
    ...LINUX.filter((path) => existsSync(path)).flatMap((path) => ['--ro-bind', path, path]),
    ...mounts,
    ...(network ? [] : ['--unshare-net']),
  ]
}

function mountOf(profile: Profile, path: string): string[] {
  const isFolder = statSync(path).isDirectory()
  const inside = isFolder ? `${path}/below` : path
  if (!allows(profile, { operation: 'file-read-data', path: inside })) {
    // Where only its metadata is allowed it is a way to something else.
    if (allows(profile, { operation: 'file-read-metadata', path })) return []
    return isFolder ? ['--tmpfs', path] : ['--ro-bind', '/dev/null', path]
  }
  return [allows(profile, { operation: 'file-write-create', path: inside }) ? '--bind' : '--ro-bind', path, path]
}
