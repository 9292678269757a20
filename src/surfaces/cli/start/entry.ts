/** The process entry of the bundled CLI: loads the program with its code cache before anything else, because start-up counts. */

import { writeSync } from 'node:fs'
import { ChunkLoader } from './code-cache.ts'
import { crashCode } from './crash-code.ts'

/** The name of the chunk of `main.ts`; the build puts it here. */
declare const MAIN_CHUNK: string
/** The files that hold all that a command needs at its start, by command. */
declare const STARTS: Readonly<Record<string, string>>
/** CommonJS gives it to the bundle. */
declare const require: (name: string) => unknown

// In older versions the program would fail later, and less plainly.
if (Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write(`cordon: needs Node.js 22.18 or newer, and this is ${process.version}\n`)
  process.exit(125)
}

const [, , command = ''] = process.argv
// Half an installation, or no descriptor left: Node's own code 1 would tell a host that its hook has nothing against the call.
let tell: ((error: unknown) => Promise<void>) | null = null
process.on('uncaughtException', (error) => {
  const end = () => process.exit(crashCode(process.argv))
  // One that comes while another one is told ends it.
  const told = tell
  tell = null
  if (told) return void told(error).finally(end)
  try {
    writeSync(2, `cordon: internal error: ${error instanceof Error ? error.message : String(error)}\n`)
  } catch {
    // The code says it all the same.
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
  // Whatever a command waits for is done, and what it printed is out. Clearing up a process that ends anyway takes Node
  // 5 ms and, after a run, waiting for bubblewrap 20 ms; an empty control group goes with the next start.
  if (command in STARTS) leave()
  process.exit()
})

/** Ends the process by a signal, without a core of Node's; comes back where the addon is not built, and the code has to do. */
function dieBy(signal: NodeJS.Signals): void {
  const { signals } = process.getBuiltinModule('node:os').constants
  loadAddon()?.die?.(signals[signal])
}

/** Ends the process at once: `process.exit` itself takes a millisecond. Comes back where the addon is not built. */
function leave(): void {
  loadAddon()?.exit?.(Number(process.exitCode ?? 0))
}

interface Addon {
  readonly exit?: (code: number) => never
  readonly die?: (signal: number) => never
}

/** Null where it is not built: the usual way is as good. */
function loadAddon(): Addon | null {
  const addon: { exports: Addon } = { exports: {} }
  try {
    process.dlopen(addon, `${import.meta.dirname}/native/cordon-launch-${process.arch}`)
    return addon.exports
  } catch {
    return null
  }
}
