/** The process entry of the bundled CLI: loads the program with its code cache before anything else, because start-up counts. */

import { ChunkLoader } from './code-cache.ts'

/** The name of the chunk of `main.ts`; the build puts it here. */
declare const MAIN_CHUNK: string
/** CommonJS gives it to the bundle. */
declare const require: (name: string) => unknown

// In older versions the program would fail later, and less plainly.
if (Number.parseInt(process.versions.node, 10) < 22) {
  process.stderr.write(`cordon: needs Node.js 22.18 or newer, and this is ${process.version}\n`)
  process.exit(125)
}

const [, , command = ''] = process.argv
const loader = new ChunkLoader(
  `${import.meta.dirname}/chunks`,
  `${import.meta.dirname}/.code-cache/${process.version}-${process.arch}`,
  /^[a-z]{1,16}$/.test(command) ? command : 'main',
  require,
)
const { runProcess } = loader.load(MAIN_CHUNK) as typeof import('./main.ts')
void runProcess().then((known) => {
  if (known) loader.remember()
  // A check leaves nothing behind; of a run everything inside is dead by now, and what is left of its sandbox (bubblewrap
  // itself, an empty control group) goes by itself or with the next start. Waiting for that takes 20 ms.
  if (command === 'check' || command === 'run') process.exit()
})
