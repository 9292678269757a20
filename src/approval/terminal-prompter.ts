/** Asks the person at the terminal (P6): on /dev/tty, one screen a question, every answer a key, and the terminal as it was afterwards. */

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { ReadStream, WriteStream } from 'node:tty'
import { pieces, wrap, wrapWords } from '../scan/display-text.ts'
import { Fault, messageOf } from '../system/fault.ts'
import { maskedRequest } from './masked-request.ts'
import { maximumScroll, type PromptState, promptRows, type Screen, scrollOf, TIMES } from './prompt-view.ts'
import type { Answer, ApprovalRequest, Prompter } from './prompter.ts'

/** Keys come in, rows go out; small enough that a test can be the person. */
export interface PromptTerminal {
  screen(): Screen
  show(rows: readonly string[]): void
  /** Each key or paste as it arrives; null at the end of the input. The answer stops listening. */
  listen(onKeys: (keys: string | null) => void, onResize: () => void): () => void
  /** Puts everything back as it was. */
  close(): void
}

const START: PromptState = { choice: 0, scroll: null, step: 'answer', message: '' }
const MAX_MESSAGE = 2000

/** A prompter on the terminal of this process, whatever its standard streams are. */
export function terminalPrompter(open: () => PromptTerminal = openTerminal): Prompter {
  return {
    name: 'terminal',
    ask: (request, signal) =>
      converse(
        open,
        signal,
        (screen, keys, state: PromptState) => answerTo(request, screen, keys, state),
        START,
        (state, screen) => promptRows(maskedRequest(request), state, screen),
        { kind: 'deny' },
      ),
    question: (text, options, signal) =>
      converse(
        open,
        signal,
        (_, keys, state: string) => lineTo(options, keys, state),
        '',
        (line, screen) => questionRows(text, options, line, screen),
        null,
      ),
  }
}

/** What a key did: another state, or the end with an answer. */
type Turn<State, Result> = { readonly state: State } | { readonly answer: Result }

/** Shows, listens, and ends with an answer; Ctrl-C and the end of the input are `without`. */
function converse<State, Result>(
  open: () => PromptTerminal,
  signal: AbortSignal,
  turn: (screen: Screen, keys: string, state: State) => Turn<State, Result>,
  start: State,
  rows: (state: State, screen: Screen) => readonly string[],
  without: Result,
): Promise<Result> {
  signal.throwIfAborted()
  const terminal = open()
  return new Promise<Result>((resolve, reject) => {
    let state = start
    const draw = () => terminal.show(rows(state, terminal.screen()))
    const finish = (end: () => void) => {
      signal.removeEventListener('abort', onAbort)
      stop()
      terminal.close()
      end()
    }
    const onAbort = () => finish(() => reject(signal.reason))
    const take = (keys: string | null) => {
      if (keys === null || keys === '\u0003' || keys === '\u0004') {
        finish(() => resolve(without))
        return
      }
      const next = turn(terminal.screen(), keys, state)
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
    guarded(draw)
  })
}

/** One key of a person looking at a request. A paste, or several keys at once, is no answer to anything. */
export function answerTo(
  request: ApprovalRequest,
  screen: Screen,
  keys: string,
  state: PromptState,
): Turn<PromptState, Answer> {
  const grant = request.suggestions[state.choice]
  if (state.step === 'message') return messageTurn(keys, state)
  if (state.step === 'time') {
    const time = TIMES.find(({ key }) => key === keys)
    if (time && grant) return { answer: { kind: 'time', grant, seconds: time.seconds } }
    return { state: keys === ESCAPE ? { ...state, step: 'answer' } : state }
  }
  const choose = (step: number): Turn<PromptState, Answer> => {
    const choice = Math.min(Math.max(0, state.choice + step), Math.max(0, request.suggestions.length - 1))
    return { state: { ...state, choice } }
  }
  const scroll = (step: number): Turn<PromptState, Answer> => {
    const to = Math.min(Math.max(0, scrollOf(request, state, screen) + step), maximumScroll(request, screen))
    return { state: { ...state, scroll: to } }
  }
  switch (keys) {
    case 'y':
      return { answer: { kind: 'once' } }
    case 's':
      return grant ? { answer: { kind: 'session', grant } } : { state }
    case 't':
      return { state: grant ? { ...state, step: 'time' } : state }
    case 'a':
      return grant ? { answer: { kind: 'always', grant } } : { state }
    case 'n':
      return { answer: { kind: 'deny' } }
    case 'd':
      return grant ? { answer: { kind: 'deny-always', grant } } : { state }
    case 'm':
      return { state: { ...state, step: 'message', message: '' } }
    case '\u001b[D':
    case '\u001bOD':
      return choose(-1)
    case '\u001b[C':
    case '\u001bOC':
      return choose(1)
    case '\u001b[A':
    case '\u001bOA':
      return scroll(-1)
    case '\u001b[B':
    case '\u001bOB':
      return scroll(1)
    case '\u001b[5~':
      return scroll(-10)
    case '\u001b[6~':
      return scroll(10)
    default:
      return { state }
  }
}

const ESCAPE = '\u001b'

function messageTurn(keys: string, state: PromptState): Turn<PromptState, Answer> {
  if (keys === ESCAPE) return { state: { ...state, step: 'answer' } }
  if (keys === '\r' || keys === '\n') {
    const message = state.message.trim()
    return { answer: message === '' ? { kind: 'deny' } : { kind: 'deny-message', message } }
  }
  return { state: { ...state, message: edited(state.message, keys) } }
}

function lineTo(options: readonly string[], keys: string, line: string): Turn<string, string | null> {
  if (keys === ESCAPE) return { answer: null }
  if (keys === '\r' || keys === '\n') {
    const text = line.trim()
    const option = /^\d+$/.test(text) ? options[Number(text) - 1] : undefined
    return { answer: option ?? (text === '' ? null : text) }
  }
  return { state: edited(line, keys) }
}

/** Typed or pasted text at the end of a line; the keys of the terminal itself are left out. */
function edited(line: string, keys: string): string {
  if (keys === '\u007f' || keys === '\b') return [...line].slice(0, -1).join('')
  if (keys.startsWith(ESCAPE)) return line
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is left out.
  return (line + keys.replace(/[\r\n\t]+/g, ' ').replace(/[\u0000-\u001f\u007f]/g, '')).slice(0, MAX_MESSAGE)
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

/** The terminal of this process. Throws a Fault when there is none: then nobody can be asked. */
function openTerminal(): PromptTerminal {
  let fd: number
  try {
    fd = openSync('/dev/tty', constants.O_RDWR | constants.O_NOCTTY)
  } catch (error) {
    throw new Fault('no-terminal', 'there is no terminal to ask at', { cause: error })
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
  discardTyped()
  output.write(ENTER_SCREEN)
  return {
    screen: () => ({ columns: output.columns || 80, rows: output.rows || 24 }),
    show: (rows) => void output.write(`${CLEAR}${rows.join('\r\n')}`),
    listen(onKeys, onResize) {
      const onData = (chunk: Buffer) => onKeys(chunk.toString('utf8'))
      const onEnd = () => onKeys(null)
      input.on('data', onData).once('end', onEnd).once('error', onEnd).once('close', onEnd)
      const onWindow = () => {
        // Node looks at the size again by itself only for stdout and stderr.
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

/** What was typed before the question was seen is no answer to it. */
function discardTyped(): void {
  const fd = openSync('/dev/tty', constants.O_RDONLY | constants.O_NOCTTY | constants.O_NONBLOCK)
  const buffer = Buffer.alloc(4096)
  try {
    while (readSync(fd, buffer, 0, buffer.length, null) > 0);
  } catch {
    // Nothing is left to read.
  } finally {
    closeSync(fd)
  }
}
