/** The process entry of the bundled CLI: loads the program with its code cache, because start-up counts. */

import { writeSync } from 'node:fs'
import { ChunkLoader } from './code-cache.ts'
import { crashCode } from './crash-code.ts'

/** The chunk of `main.ts`, inserted by the build. */
declare const MAIN_CHUNK: string
declare const STARTS: Readonly<Record<string, string>>
declare const require: (name: string) => unknown

// Older versions would fail later, with a less clear error.
if (Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write(`cordon: needs Node.js 22.18 or newer, and this is ${process.version}\n`)
  process.exit(125)
}

const [, , command = ''] = process.argv
// On a broken installation or without descriptors, Node's exit code 1 would mean consent to a host.
let tell: ((error: unknown) => Promise<void>) | null = null
process.on('uncaughtException', (error) => {
  const end = () => process.exit(crashCode(process.argv))
  // A crash while reporting a crash ends the process.
  const reported = tell
  tell = null
  if (reported) return void reported(error).finally(end)
  try {
    writeSync(2, `cordon: internal error: ${error instanceof Error ? error.message : String(error)}\n`)
  } catch {
    // The exit code still reports it.
  }
  end()
})
const loader = new ChunkLoader(
  `${import.meta.dirname}/chunks`,
  `${import.meta.dirname}/.code-cache/${process.version}-${process.arch}`,
  /^[a-z]{1,16}$/.test(command) ? command : 'main',
  require,
)
const { runProcess, tellCrash } = loader.load(MAIN_CHUNK, STARTS[command]) as typeof import('./main.ts')
tell = tellCrash
void runProcess(() => loader.remember()).then(({ known, signal }) => {
  if (known) loader.remember()
  if (signal !== null) dieBy(signal)
  // Output is written and nothing is pending. Cleaning up would cost Node 5 ms, and 20 ms of waiting for bubblewrap
  // after a run; the next start removes the empty control group.
  if (command in STARTS) leave()
  process.exit()
})

/** Ends the process by a signal without a core dump; returns if the addon is not built. */
function dieBy(signal: NodeJS.Signals): void {
  const { signals } = process.getBuiltinModule('node:os').constants
  loadAddon()?.die?.(signals[signal])
}

/** Ends the process at once, because `process.exit` takes a millisecond; returns if the addon is not built. */
function leave(): void {
  loadAddon()?.exit?.(Number(process.exitCode ?? 0))
}

interface Addon {
  readonly exit?: (code: number) => never
  readonly die?: (signal: number) => never
}

/** Null if the addon is not built: Node's own exit works too. */
function loadAddon(): Addon | null {
  const addon: { exports: Addon } = { exports: {} }
  try {
    process.dlopen(addon, `${import.meta.dirname}/native/cordon-launch-${process.arch}`)
    return addon.exports
  } catch {
    return null
  }
}
