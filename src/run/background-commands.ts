/** Background commands: started, checked and ended with their session. */

import { Writable } from 'node:stream'
import { StringDecoder } from 'node:string_decoder'
import { Fault, messageOf } from '../system/fault.ts'
import type { BackgroundOutput } from '../tools/tool.ts'
import { outcomeNotes } from './outcome-notes.ts'
import type { RunIo, RunOutcome } from './runner.ts'

/** A stream that keeps unread output. */
export class CommandOutput extends Writable {
  readonly #cap: number
  readonly #decoder = new StringDecoder('utf8')
  #unread: Buffer[] = []
  #bytes = 0
  #dropped = false

  constructor(cap: number) {
    super()
    this.#cap = cap
  }

  override _write(chunk: Buffer, _: BufferEncoding, done: () => void): void {
    this.#unread.push(chunk)
    this.#bytes += chunk.length
    // Keep the newest output; a chatty command must not fill the memory.
    while (this.#bytes > this.#cap) {
      const first = this.#unread[0]!
      const excess = this.#bytes - this.#cap
      if (first.length <= excess) this.#unread.shift()
      else this.#unread[0] = first.subarray(excess)
      this.#bytes -= Math.min(first.length, excess)
      this.#dropped = true
    }
    done()
  }

  /** Everything since the last call; an incomplete character waits for its rest. */
  take(): { readonly text: string; readonly dropped: boolean } {
    const text = this.#decoder.write(Buffer.concat(this.#unread))
    const taken = { text, dropped: this.#dropped }
    this.#unread = []
    this.#bytes = 0
    this.#dropped = false
    return taken
  }

  /** The last bytes, without taking them; notes are inferred from error messages. */
  tail(): string {
    return Buffer.concat(this.#unread).toString('utf8')
  }
}

interface Background {
  readonly handle: string
  readonly command: string
  readonly abort: AbortController
  readonly stdout: CommandOutput
  readonly stderr: CommandOutput
  ended: Promise<void>
  notes: readonly string[]
  exitCode: number | null
}

/** Concurrent background commands; each has its own sandbox. */
const MAX_RUNNING = 32
/** Ended ones are kept for reading; the oldest are dropped first. */
const MAX_KEPT = 100
/** Unread bytes of each stream of a background command. */
const MAX_UNREAD = 1024 * 1024
/** The exit code of a command that could not run. */
const FAULT_EXIT = 125

/** The background commands of one session. */
export class BackgroundCommands {
  readonly #entries = new Map<string, Background>()
  #count = 0

  /** Starts one; `heard` receives its outcome. */
  start(command: string, launch: (io: RunIo) => Promise<RunOutcome>, heard: (outcome: RunOutcome) => void): string {
    if ([...this.#entries.values()].filter((entry) => entry.exitCode === null).length >= MAX_RUNNING) {
      throw new Fault('too-many-commands', `${MAX_RUNNING} commands run in the background already`, {
        remedy: 'End one with { "action": "kill", "handle": "…" }.',
      })
    }
    this.#forget()
    const entry: Background = {
      handle: `bg_${++this.#count}`,
      command,
      abort: new AbortController(),
      stdout: new CommandOutput(MAX_UNREAD),
      stderr: new CommandOutput(MAX_UNREAD),
      ended: Promise.resolve(),
      notes: [],
      exitCode: null,
    }
    const { stdout, stderr, abort } = entry
    const onNotice = (line: string) => {
      entry.notes = [...entry.notes, line]
    }
    entry.ended = launch({ stdout, stderr, signal: abort.signal, onNotice }).then(
      (outcome) => {
        entry.notes = outcomeNotes(outcome, stderr.tail())
        entry.exitCode = outcome.result.exitCode
        heard(outcome)
      },
      (error) => {
        entry.notes = [messageOf(error)]
        entry.exitCode = FAULT_EXIT
      },
    )
    this.#entries.set(entry.handle, entry)
    return entry.handle
  }

  list(): Pick<BackgroundOutput, 'handle' | 'command' | 'running' | 'exitCode'>[] {
    return [...this.#entries.values()].map(describe)
  }

  /** Its output since the last call; null without one of this name. */
  read(handle: string): BackgroundOutput | null {
    const entry = this.#entries.get(handle)
    if (!entry) return null
    const stdout = entry.stdout.take()
    const stderr = entry.stderr.take()
    const truncated = stdout.dropped || stderr.dropped
    return { ...describe(entry), stdout: stdout.text, stderr: stderr.text, truncated, notes: entry.notes }
  }

  /** Ends one; false without one of this name. */
  async kill(handle: string): Promise<boolean> {
    const entry = this.#entries.get(handle)
    if (!entry) return false
    entry.abort.abort()
    await entry.ended
    return true
  }

  /** Resolves when all have ended; the caller ends them. */
  async ended(): Promise<void> {
    await Promise.allSettled([...this.#entries.values()].map((entry) => entry.ended))
    this.#entries.clear()
  }

  #forget(): void {
    for (const [handle, entry] of this.#entries) {
      if (this.#entries.size < MAX_KEPT) return
      if (entry.exitCode !== null) this.#entries.delete(handle)
    }
  }
}

function describe(entry: Background): Pick<BackgroundOutput, 'handle' | 'command' | 'running' | 'exitCode'> {
  return { handle: entry.handle, command: entry.command, running: entry.exitCode === null, exitCode: entry.exitCode }
}
