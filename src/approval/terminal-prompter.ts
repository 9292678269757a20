/** Asks the person at the terminal (P6): on /dev/tty, one screen a question, every answer a key, and the terminal as it was afterwards. */

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import { pieces, wrap, wrapWords } from '../scan/display-text.ts'
import { Fault, messageOf } from '../system/fault.ts'
import {
  ANSWERS,
  type AnswerForm,
  type AskView,
  answerOf,
  askView,
  LONGEST_MESSAGE,
  TIMES,
  withAnswers,
} from './ask-view.ts'
import { maximumScroll, type PromptState, promptRows, type Screen, scrollOf, WORDS } from './prompt-view.ts'
import type { Answer, Prompter } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

/** Keys come in, rows go out; small enough that a test can be the person. */
export interface PromptTerminal {
  /** Keys typed before the question appeared. */
  readonly typed?: string
  screen(): Screen
  show(rows: readonly string[]): void
  /** Each key or paste as it arrives; null at the end of the input. The answer stops listening. */
  listen(onKeys: (keys: string | null) => void, onResize: () => void): () => void
  /** Puts everything back as it was. */
  close(): void
}

/** Time, for the process that waits for a pause. */
export interface PromptClock {
  now(): number
  /** Does something later; the answer takes it back. */
  after(ms: number, work: () => void): () => void
}

const CLOCK: PromptClock = {
  now: () => performance.now(),
  after: (ms, work) => {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
}

/**
 * The screen on which a question appears. On another program's (`borrowed`) a person may be typing
 * for that program: no single key is an answer, and lasting answers are given elsewhere.
 */
export interface PromptPlace {
  readonly screen: 'own' | 'borrowed'
  /** Takes the keys that came too early to be an answer: they were meant for the process that had the screen. */
  readonly unread?: (keys: string) => void
}

export interface PrompterParts {
  readonly open?: () => PromptTerminal
  readonly clock?: PromptClock
  readonly place?: () => PromptPlace
}

/** A key counts only when nothing was typed for so long before it. */
const QUIET_MS = { own: 500, borrowed: 1000 } as const
/** Answers that somebody else's screen can give. */
const BORROWED: readonly AskView['answers'][number][] = ['once', 'session', 'time', 'deny']

const START: PromptState = { choice: 0, scroll: null, step: 'answer', message: '', whole: false, armed: false }

/** A prompter on the terminal of this process, independent of its standard streams. */
export function terminalPrompter(parts: PrompterParts = {}): Prompter {
  return {
    name: 'terminal',
    ask: (request, signal) => {
      const whole = askView(request, 'whole')
      return askAtTerminal({ view: askView(request), whole, grants: request.suggestions }, signal, parts)
    },
    question: (text, options, signal) =>
      converse(
        parts,
        signal,
        (_, keys, state: Line) => lineTo(options, keys, state),
        // An answer to the agent grants nothing: it may be typed at once.
        { line: '', armed: true },
        ({ line }, screen) => questionRows(text, options, line, screen),
        () => ({ answer: null }),
      ),
  }
}

/** An ask for a terminal: `whole` with nothing masked, `grants` are the offers of it as they are. */
interface TerminalAsk {
  readonly view: AskView
  readonly whole: AskView
  readonly grants: readonly Suggestion[]
}

/** Shows an ask and waits for its answer. */
export async function askAtTerminal(
  { view: asked, whole, grants }: TerminalAsk,
  signal: AbortSignal,
  parts: PrompterParts = {},
): Promise<Answer> {
  const borrowed = parts.place?.().screen === 'borrowed'
  const view = borrowed ? withAnswers(asked, BORROWED) : asked
  const shown = (state: PromptState) => (state.whole ? { ...view, ...hiddenOf(whole) } : view)
  const form = await converse<PromptState, AnswerForm>(
    parts,
    signal,
    (screen, keys, state) => answerTo(shown(state), screen, keys, state),
    borrowed ? { ...START, step: 'word' } : START,
    (state, screen) => promptRows(shown(state), state, screen),
    (state, keys) => {
      const isInterrupt = borrowed && keys?.includes(CTRL_C) === true
      if (isInterrupt && state.step !== 'stop') return { state: { ...state, step: 'stop', armed: true } }
      if (isInterrupt) parts.place?.().unread?.(CTRL_C)
      return { answer: { answer: 'deny' } }
    },
  )
  return answerOf(view, grants, form) ?? { kind: 'deny' }
}

/** What masks can hide in a view. */
function hiddenOf({ subject, fields, reasons, offers, masked }: AskView): Partial<AskView> {
  return { subject, fields, reasons, offers, masked }
}

/** The result of a key: another state, or the final answer. */
type Turn<State, Result> = { readonly state: State } | { readonly answer: Result }

/** Shows, listens, and ends with an answer; Ctrl-C and the end of the input go to `leave`. */
function converse<State extends { readonly armed: boolean }, Result>(
  { open = openTerminal, clock = CLOCK, place = () => ({ screen: 'own' }) }: PrompterParts,
  signal: AbortSignal,
  turn: (screen: Screen, keys: string, state: State) => Turn<State, Result>,
  start: State,
  rows: (state: State, screen: Screen) => readonly string[],
  leave: (state: State, keys: string | null) => Turn<State, Result>,
): Promise<Result> {
  signal.throwIfAborted()
  const { screen: whose, unread } = place()
  const quiet = QUIET_MS[whose]
  const terminal = open()
  if (terminal.typed) unread?.(terminal.typed)
  return new Promise<Result>((resolve, reject) => {
    let state = start
    let last = clock.now()
    let forget = () => {}
    const draw = () => terminal.show(rows(state, terminal.screen()))
    const finish = (end: () => void) => {
      signal.removeEventListener('abort', onAbort)
      forget()
      stop()
      terminal.close()
      end()
    }
    const onAbort = () => finish(() => reject(signal.reason))
    /** Waits for a pause in the typing; only then keys count. */
    const wait = () => {
      last = clock.now()
      forget()
      forget = clock.after(quiet, () =>
        guarded(() => {
          state = { ...state, armed: true }
          draw()
        }),
      )
    }
    const take = (keys: string | null) => {
      const leaves = keys === null || keys.includes(CTRL_C) || keys.includes('\u0004')
      // Mouse and focus reports of the terminal and the arrows are not typing.
      const isTyped = !leaves && !(keys.startsWith(ESCAPE) && keys.length > 1)
      if (isTyped && !state.armed) {
        if (clock.now() - last < quiet) {
          unread?.(keys)
          wait()
          return
        }
        state = { ...state, armed: true }
      }
      const next = leaves ? leave(state, keys) : turn(terminal.screen(), keys, state)
      if ('answer' in next) {
        finish(() => resolve(next.answer))
        return
      }
      state = next.state
      draw()
    }
    const guarded = (work: () => void) => {
      try {
        work()
      } catch (error) {
        finish(() => reject(error instanceof Error ? error : new Error(messageOf(error))))
      }
    }
    const stop = terminal.listen(
      (keys) => guarded(() => take(keys)),
      () => guarded(draw),
    )
    signal.addEventListener('abort', onAbort, { once: true })
    wait()
    guarded(draw)
  })
}

/** One key of a person looking at an ask. A paste, or several keys at once, is not an answer to anything. */
export function answerTo(
  view: AskView,
  screen: Screen,
  keys: string,
  state: PromptState,
): Turn<PromptState, AnswerForm> {
  const { choice } = state
  if (state.step === 'stop') return ['\r', '\n', ESCAPE].includes(keys) ? { answer: { answer: 'deny' } } : { state }
  if (state.step === 'message') return messageTurn(keys, state)
  if (state.step === 'word' && ASIDE[keys] === undefined && !(keys.length > 1 && ALONG[keys] !== undefined))
    return wordTurn(view, keys, state)
  if (state.step === 'time') {
    const time = TIMES.find(({ key }) => key === keys)
    if (time) return { answer: { answer: 'time', choice, seconds: time.seconds } }
    return { state: keys === ESCAPE ? { ...state, step: 'answer' } : state }
  }
  if (state.step === 'save') {
    const kind = view.answers.find((offered) => offered === state.message)
    if (kind !== undefined && (keys === '\r' || keys === '\n')) return { answer: { answer: kind, choice } }
    return { state: { ...state, step: 'answer', message: '' } }
  }
  if (keys === 'v') return { state: { ...state, whole: !state.whole, scroll: 0 } }
  const row = ANSWERS.find(({ key, kind }) => state.step === 'answer' && key === keys && view.answers.includes(kind))
  if (row?.kind === 'time') return { state: { ...state, step: 'time' } }
  if (row?.kind === 'deny-message') return { state: { ...state, step: 'message', message: '' } }
  // A single key is never an answer that outlives the question: it may have been meant for the agent.
  if (row?.saves) return { state: { ...state, step: 'save', message: row.kind } }
  if (row) return { answer: { answer: row.kind, choice } }
  const aside = ASIDE[keys]
  if (aside !== undefined) {
    const last = Math.max(0, view.offers.length - 1)
    return { state: { ...state, choice: Math.min(Math.max(0, choice + aside), last) } }
  }
  const step = ALONG[keys]
  if (step === undefined) return { state }
  const most = maximumScroll(view, state, screen)
  return { state: { ...state, scroll: Math.min(Math.max(0, scrollOf(view, state, screen) + step), most) } }
}

/** Narrower and broader. */
const ASIDE: Readonly<Record<string, number>> = { '\u001b[D': -1, '\u001bOD': -1, '\u001b[C': 1, '\u001bOC': 1 }

/** Rows that a key scrolls. */
const ALONG: Readonly<Record<string, number>> = {
  '\u001b[A': -1,
  '\u001bOA': -1,
  k: -1,
  '\u001b[B': 1,
  '\u001bOB': 1,
  j: 1,
  '\u001b[5~': -10,
  '\u001b[6~': 10,
  ' ': 10,
  '\u001b[H': Number.NEGATIVE_INFINITY,
  '\u001b[F': Number.POSITIVE_INFINITY,
}

const ESCAPE = '\u001b'
const CTRL_C = '\u0003'

function messageTurn(keys: string, state: PromptState): Turn<PromptState, AnswerForm> {
  if (keys === ESCAPE) return { state: { ...state, step: 'answer' } }
  if (keys === '\r' || keys === '\n') return { answer: { answer: 'deny-message', message: state.message } }
  return { state: { ...state, message: edited(state.message, keys) } }
}

/** A word that is typed out, and then Enter; an empty line is a no. */
function wordTurn(view: AskView, keys: string, state: PromptState): Turn<PromptState, AnswerForm> {
  if (keys === ESCAPE) return { answer: { answer: 'deny' } }
  if (keys !== '\r' && keys !== '\n')
    return { state: { ...state, message: edited(state.message, keys), unknown: false } }
  const word = state.message.trim().toLowerCase()
  if (word === '' || word === 'no') return { answer: { answer: 'deny' } }
  const kind = Object.hasOwn(WORDS, word) ? WORDS[word]!.kind : undefined
  if (kind !== undefined && view.answers.includes(kind))
    return { answer: { answer: kind, choice: state.choice, seconds: WORD_SECONDS } }
  const isShow = word === 'show'
  return { state: { ...state, message: '', unknown: !isShow, whole: state.whole !== isShow } }
}

const WORD_SECONDS = 3600

type Line = { readonly line: string; readonly armed: boolean }

function lineTo(options: readonly string[], keys: string, state: Line): Turn<Line, string | null> {
  const { line } = state
  if (keys === ESCAPE) return { answer: null }
  if (keys === '\r' || keys === '\n') {
    const text = line.trim()
    const option = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
    return { answer: option ?? (text === '' ? null : text) }
  }
  return { state: { ...state, line: edited(line, keys) } }
}

/** Typed or pasted text at the end of a line; the keys of the terminal itself are left out. */
function edited(line: string, keys: string): string {
  if (keys === '\u007f' || keys === '\b') return [...line].slice(0, -1).join('')
  if (keys.startsWith(ESCAPE)) return line
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is left out.
  return (line + keys.replace(/[\r\n\t]+/g, ' ').replace(/[\u0000-\u001f\u007f]/g, '')).slice(0, LONGEST_MESSAGE)
}

function questionRows(text: string, options: readonly string[], line: string, { columns, rows }: Screen): string[] {
  const width = Math.max(20, columns)
  const lines = text.split('\n').flatMap((row) => wrapWords(row, width - 2).map((part) => `│ ${part}`))
  const choices = options.flatMap((option, index) =>
    wrapWords(`${index + 1}  ${option}`, width - 2).map((part) => `  ${part}`),
  )
  const typed = wrap(pieces(line), width - 2)
    .slice(-2)
    .map((row) => `> ${row.map((piece) => piece.text).join('')}`)
  const head = `── the agent asks ${'─'.repeat(Math.max(0, width - 18))}`
  const hint =
    options.length > 0
      ? 'a number or your own words, Enter sends, Esc gives no answer'
      : 'Enter sends, Esc gives no answer'
  const body = [head, ...lines, ...choices]
  const foot = [hint.slice(0, width), ...typed]
  return [...body.slice(0, Math.max(1, rows - foot.length)), ...foot]
}

const ENTER_SCREEN = '\u001b[?1049h\u001b[?25l'
const LEAVE_SCREEN = '\u001b[?25h\u001b[?1049l'
const CLEAR = '\u001b[H\u001b[2J'
const SIGNALS: readonly NodeJS.Signals[] = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT']

/** The terminal of this process. Throws a Fault if there is none: then nobody can be asked. */
export function openTerminal(): PromptTerminal {
  let fd: number
  try {
    fd = openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY)
  } catch (error) {
    throw new Fault('no-terminal', 'there is no terminal to ask on', { cause: error })
  }
  const input = new ReadStream(fd)
  const output = new WriteStream(openSync('/dev/tty', constants.O_WRONLY | constants.O_NOCTTY))
  let open = true
  const restore = () => {
    if (!open) return
    open = false
    output.write(LEAVE_SCREEN)
    input.setRawMode(false)
  }
  const onSignal = (signal: NodeJS.Signals) => {
    restore()
    for (const name of SIGNALS) process.removeListener(name, onSignal)
    process.kill(process.pid, signal)
  }
  process.on('exit', restore)
  for (const signal of SIGNALS) process.on(signal, onSignal)
  input.setRawMode(true)
  const typed = takeTyped()
  output.write(ENTER_SCREEN)
  return {
    typed,
    screen: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    show: (rows) => void output.write(`${CLEAR}${rows.join('\r\n')}`),
    listen(onKeys, onResize) {
      const onData = (chunk: Buffer) => onKeys(chunk.toString('utf8'))
      const onEnd = () => onKeys(null)
      input.on('data', onData).once('end', onEnd).once('error', onEnd).once('close', onEnd)
      const onWindow = () => {
        // Node updates the size unasked only for stdout and stderr.
        ;(output as WriteStream & { _refreshSize?(): void })._refreshSize?.()
        onResize()
      }
      process.on('SIGWINCH', onWindow)
      return () => {
        input.off('data', onData).off('end', onEnd).off('error', onEnd).off('close', onEnd)
        process.removeListener('SIGWINCH', onWindow)
      }
    },
    close() {
      restore()
      process.removeListener('exit', restore)
      for (const signal of SIGNALS) process.removeListener(signal, onSignal)
      input.on('error', () => {})
      input.destroy()
      output.destroy()
    },
  }
}

/** Takes keys typed before the question was seen: they are not an answer to it. */
function takeTyped(): string {
  const fd = openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(4096)
  const taken: Buffer[] = []
  try {
    for (;;) {
      const size = readSync(fd, buffer, 0, buffer.length, null)
      if (size === 0) break
      taken.push(Buffer.from(buffer.subarray(0, size)))
    }
  } catch {
    // Nothing is left to read.
  } finally {
    closeSync(fd)
  }
  return Buffer.concat(taken).toString('utf8')
}
