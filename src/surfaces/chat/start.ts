/** Starts the chat: the prompt takes keys while the rest loads. */

import { Composer, type ComposerAction } from './input/composer.ts'
import { type ChatTerminal, openChatTerminal } from './screen/chat-terminal.ts'
import { type LiveRow, LiveScreen, type LiveView } from './screen/live-screen.ts'
import { type Paint, painter } from './view/style.ts'

/** Options of `cordon chat`. */
export interface ChatOptions {
  readonly root: string
  readonly manifest?: string
  readonly profile?: string
  readonly model?: string
  readonly fromEditor: boolean
  readonly resume?: string
  readonly agent?: string
  readonly mode?: string
  readonly maxTurns?: number
  readonly budget?: number
  /** Starts the page, which prints above the prompt. */
  readonly page?: (say: (text: string) => void) => Promise<{ readonly link: string; close(): Promise<void> }>
}

/** The prompt and the text above it; its agent may come later. */
export class ChatFront {
  readonly terminal: ChatTerminal
  readonly paint: Paint
  readonly composer: Composer = new Composer()
  readonly #screen: LiveScreen
  /** Messages sent before the agent was ready. */
  readonly #early: ComposerAction[] = []
  #take: ((action: ComposerAction) => void) | null = null
  #status = 'starting…'
  #live: readonly LiveRow[] = []
  #lent: Promise<void> = Promise.resolve()

  constructor(terminal: ChatTerminal) {
    this.terminal = terminal
    this.paint = painter(terminal.color)
    this.#screen = new LiveScreen(
      (text) => terminal.write(text),
      () => terminal.size,
    )
    terminal.listen(
      (key) => this.#heard(key === null ? { type: 'leave' } : this.composer.take(key)),
      () => this.draw(),
    )
    this.draw()
  }

  #heard(action: ComposerAction): void {
    if (this.#take) this.#take(action)
    else if (action.type === 'interrupt' || action.type === 'leave') {
      this.close()
      process.exit(130)
    } else if (action.type === 'submit') this.#early.push(action)
    this.draw()
  }

  /** Sets who handles messages. */
  attach(take: (action: ComposerAction) => void): void {
    this.#take = take
    for (const action of this.#early.splice(0)) take(action)
  }

  set status(text: string) {
    this.#status = text
    this.draw()
  }

  /** Rows of unfinished text above the prompt. */
  set live(rows: readonly LiveRow[]) {
    this.#live = rows
  }

  print(lines: readonly string[]): void {
    this.#screen.print(lines, this.#view())
  }

  draw(): void {
    if (!this.#screen.isAway) this.#screen.print([], this.#view())
  }

  /** Lends the terminal to another prompt; only one has it at a time. */
  lend<Result>(work: () => Promise<Result>): Promise<Result> {
    const lent = this.#lent.then(() => this.#lend(work))
    this.#lent = lent.then(
      () => {},
      () => {},
    )
    return lent
  }

  async #lend<Result>(work: () => Promise<Result>): Promise<Result> {
    this.#screen.leave()
    this.terminal.suspend()
    try {
      return await work()
    } finally {
      this.terminal.resume()
      this.#screen.redraw(this.#view())
    }
  }

  close(): void {
    this.#screen.leave()
    this.terminal.close()
  }

  #view(): LiveView {
    const { columns, rows } = this.terminal.size
    const prompt = this.composer.view(columns, Math.max(3, Math.floor(rows / 2)), this.paint, this.#status)
    const live = this.#live.slice(-Math.max(0, rows - prompt.rows.length - 1))
    const cursor = prompt.cursor && { ...prompt.cursor, row: prompt.cursor.row + live.length }
    return { rows: [...live, ...prompt.rows], cursor }
  }
}

export async function startChat(options: ChatOptions): Promise<number> {
  const front = new ChatFront(openChatTerminal())
  try {
    const { runChat } = await import('./chat.ts')
    return await runChat(front, options)
  } finally {
    front.close()
  }
}
