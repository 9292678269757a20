/** A person at a real terminal: types, waits for what they see, changes the window's size. */

import { type ChildProcess, spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import { stripVTControlCharacters } from 'node:util'
import { PATIENCE_MS, until } from '../../until.ts'
import { CLI, type Project } from '../cordon.ts'

export const CTRL_C = '\u0003'
export const CTRL_D = '\u0004'
export const CTRL_Z = '\u001a'

const HOST = join(import.meta.dirname, 'pty-host.py')
const CLOCK = join(import.meta.dirname, 'still-clock.cjs')

export class Person {
  readonly #child: ChildProcess
  readonly #ended: Promise<number | null>
  readonly #pauses: string
  #seen = ''
  #from = 0

  /** Sits down in a project, at an interactive bash whose prompt is `$ `. */
  constructor(
    project: Pick<Project, 'home' | 'directory'>,
    size: { readonly rows: number; readonly columns: number } = { rows: 40, columns: 100 },
  ) {
    const rc = join(project.home, '.person-rc')
    writeFileSync(rc, `PS1='$ '\ncordon() { "$NODE" --require "$CLOCK" "$CLI" "$@"; }\n`)
    this.#pauses = join(project.home, '.person-pauses')
    for (const file of [this.#pauses, `${this.#pauses}.seen`]) writeFileSync(file, '')
    const shell = ['bash', '--noprofile', '--rcfile', rc, '-i']
    this.#child = spawn('python3', [HOST, String(size.rows), String(size.columns), ...shell], {
      cwd: project.directory,
      env: {
        PATH: process.env.PATH,
        HOME: project.home,
        TERM: 'xterm',
        NO_COLOR: '1',
        SHELL: '/bin/bash',
        NODE: process.execPath,
        CLI,
        CLOCK,
        PAUSE_FILE: this.#pauses,
        CORDON_KEYCHAIN: 'off',
      },
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    })
    this.#child.stdout!.on('data', (chunk: Buffer) => {
      this.#seen += chunk.toString('utf8')
    })
    this.#ended = new Promise((resolve) => this.#child.once('close', resolve))
  }

  keys(text: string): void {
    this.#child.stdin!.write(text)
  }

  /** Answers a question of Cordon's: it counts what is typed only after a pause. */
  async answers(keys: string): Promise<void> {
    await this.pauses()
    this.keys(keys)
  }

  /** Answers one in a screen that is somebody else's: by a word, once that is offered. */
  async answersWith(word: string): Promise<void> {
    await this.pauses()
    await this.sees('Type a word and press Enter')
    this.keys(word)
    // Several keys at once are a paste: Enter comes when the word is there.
    await this.sees(`> ${word}`)
    this.keys('\r')
  }

  /** Stops typing for as long as a question wants it. Keys that were sent before were typed before. */
  async pauses(): Promise<void> {
    const before = this.#pausesSeen()
    ;(this.#child.stdio[3] as Writable).write(`P ${this.#pauses}\n`)
    await until('the question noticed the pause', () => this.#pausesSeen() > before)
  }

  #pausesSeen(): number {
    return readFileSync(`${this.#pauses}.seen`, 'utf8').length
  }

  /** Types a command and presses Enter. */
  line(text: string): void {
    this.keys(`${text}\r`)
  }

  resize(rows: number, columns: number): void {
    ;(this.#child.stdio[3] as Writable).write(`R ${rows} ${columns}\n`)
  }

  /** Waits until this comes up after what was waited for before, and gives what was seen up to it, as plain text. */
  async sees(what: string | RegExp): Promise<string> {
    const pattern = typeof what === 'string' ? new RegExp(what.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')) : what
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      const text = plain(this.#seen)
      const found = pattern.exec(text.slice(this.#from))
      if (found) {
        const to = this.#from + found.index + found[0].length
        const seen = text.slice(this.#from, to)
        this.#from = to
        return seen
      }
      if (Date.now() > end) throw new Error(`did not see ${pattern} in:\n${text.slice(this.#from)}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }

  /** Waits for the shell's prompt. */
  async atPrompt(): Promise<string> {
    return this.sees(/(?:^|\n)(?:\$ )+$/)
  }

  /** Closes the window: the terminal is gone, whatever runs in it. */
  async closesWindow(): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#ended
  }

  /** Leaves the shell. */
  async leaves(): Promise<void> {
    this.#child.stdin!.write('\u0015exit\r')
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), PATIENCE_MS)
    await this.#ended
    clearTimeout(timer)
  }
}

/** What a terminal would show of it, as far as lines go: without sequences and carriage returns. */
function plain(text: string): string {
  const left = ['\r', '\u0018', '\u000f', '\u0007']
  return left.reduce((rest, character) => rest.replaceAll(character, ''), stripVTControlCharacters(text))
}
