/**
 * Asks about hosts at its own terminal, as `cordon run` does while a command has it. The clock is the typist's: each key takes 170 ms, and
 * `PAUSE` a second. Prints what became of every question.
 */

import { openTerminal, type PromptClock, type PromptTerminal } from '../../../src/approval/terminal-prompter.ts'
import type { HostQuestion } from '../../../src/egress/route/gate.ts'
import { TypedQuestions } from '../../../src/one-off/questions.ts'
import { loadPolicy } from '../../../src/project/load/load.ts'
import { machineFiles } from '../../../src/system/files.ts'
import { thisMachine } from '../../../src/system/machine.ts'

const PAUSE = '\u001d'
const KEY_MS = 170
const PAUSE_MS = 1000

let now = 0
let later: { readonly at: number; readonly work: () => void }[] = []
const clock: PromptClock = {
  now: () => now,
  after: (ms, work) => {
    const entry = { at: now + ms, work }
    later.push(entry)
    return () => {
      later = later.filter((other) => other !== entry)
    }
  },
}

function pass(ms: number): void {
  now += ms
  const due = later.filter(({ at }) => at <= now)
  later = later.filter(({ at }) => at > now)
  for (const { work } of due) work()
}

/** The terminal of this process, key by key. */
function open(): PromptTerminal {
  const terminal = openTerminal()
  return {
    ...terminal,
    show: () => {},
    listen(onKeys, onResize) {
      const stop = terminal.listen((keys) => {
        if (keys === null) return onKeys(null)
        for (const key of keys) {
          pass(key === PAUSE ? PAUSE_MS : KEY_MS)
          if (key !== PAUSE) onKeys(key)
        }
      }, onResize)
      process.stdout.write('ASKED\n')
      return stop
    },
  }
}

const machine = thisMachine()
const outcome = await loadPolicy({ machine, files: machineFiles, root: machine.cwd, choice: { kind: 'project' } })
if ('problems' in outcome) throw new Error(JSON.stringify(outcome.problems))
const questions = new TypedQuestions({
  loaded: outcome.loaded,
  machine,
  files: machineFiles,
  report: () => {},
  terminal: { open, clock },
})
const { signal } = new AbortController()
for (let index = 0; index < Number(process.argv[2]); index++) {
  const target = { host: `h${index}.evil.example`, port: 443 } as HostQuestion['target']
  const asked = { command: 'claude', target, signal } as HostQuestion
  process.stdout.write(`ANSWER ${await questions.askHost(asked)}\n`)
}
process.exit(0)
