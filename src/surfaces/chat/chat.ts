/** The chat: an agent behind a prompt, with text in the scrollback. */

import { type AgentEvent, endText } from '../../chat/agent.ts'
import { type AgentSession, type Message, openAgentSession } from '../../chat/agent-session.ts'
import { trustInstructions } from '../../chat/system-prompt.ts'
import type { Mode } from '../../policy/policy.ts'
import { cutTo } from '../../scan/display-text.ts'
import { type Prompter, terminalPrompter } from '../../session/cordon.ts'
import { messageOf } from '../../system/fault.ts'
import { type Machine, thisMachine } from '../../system/machine.ts'
import { chatCompleter } from './input/completion.ts'
import type { ComposerAction } from './input/composer.ts'
import { addHistory, readHistory } from './input/history.ts'
import { CommandError, type CommandHost, runSlashCommand, slashCommands } from './slash-commands.ts'
import type { ChatFront, ChatOptions } from './start.ts'
import { MarkdownView } from './view/markdown.ts'
import { type Paint, safe } from './view/style.ts'
import { callLines, hangingRows, resultLines, statusText, turnText } from './view/tool-view.ts'

/** Frame time of drawing. */
const FRAME_MS = 33
/** Rows shown of an unfinished line. */
const HALF_ROWS = 3
/** A second Ctrl-C within this time leaves. */
const TWICE_MS = 2000

export async function runChat(front: ChatFront, options: ChatOptions): Promise<number> {
  const chat = await Chat.open(front, options, thisMachine())
  try {
    const page = await options.page?.((text) => chat.say(text))
    // On its own line: a broken link cannot be opened.
    if (page) chat.say(`the page is at\n${page.link}`)
    try {
      return await chat.run()
    } finally {
      await page?.close()
    }
  } finally {
    await chat.close()
  }
}

/** Messages of a resumed conversation that are shown again. */
const MAX_EARLIER = 30

/** What a person typed. */
function typedLines(text: string, paint: Paint): string[] {
  return text.split('\n').map((line, index) => paint('bold', `${index === 0 ? '› ' : '  '}${safe(line)}`))
}

class Chat {
  readonly #front: ChatFront
  readonly #options: ChatOptions
  readonly #machine: Machine
  #agent!: AgentSession
  #view: MarkdownView
  #turn: AbortController | null = null
  #doing: string | null = null
  readonly #queue: string[] = []
  #answer: ((text: string | null) => void) | null = null
  #interrupted = 0
  #lines: string[] = []
  #frame: NodeJS.Timeout | null = null
  #leave!: (code: number) => void
  readonly #left: Promise<number>

  static async open(front: ChatFront, options: ChatOptions, machine: Machine): Promise<Chat> {
    const chat = new Chat(front, options, machine)
    await chat.#openAgent(options.resume)
    return chat
  }

  private constructor(front: ChatFront, options: ChatOptions, machine: Machine) {
    this.#front = front
    this.#options = options
    this.#machine = machine
    this.#view = new MarkdownView(front.paint, () => front.terminal.size.columns)
    this.#left = new Promise((resolve) => {
      this.#leave = resolve
    })
  }

  async #openAgent(resume: string | undefined): Promise<void> {
    const { root, manifest, profile, model, fromEditor, agent, mode } = this.#options
    this.#agent = await openAgentSession({
      machine: this.#machine,
      project: root,
      prompter: this.#prompter(),
      fromEditor,
      ...(manifest !== undefined && { manifest: { file: manifest } }),
      ...(profile !== undefined && { profile }),
      ...(model !== undefined && { model }),
      ...(agent !== undefined && { agent }),
      ...(mode !== undefined && { mode: mode as Mode }),
      ...(resume !== undefined && { resume }),
      ...(manifest === undefined && { gateway: root }),
      warn: (text) => this.#print([this.#front.paint('dim', safe(text))]),
      report: (event) => this.#heard(event),
    })
    this.#agent.budget = this.#options.budget
  }

  /** The usual prompt, while the chat releases the terminal. */
  #prompter(): Prompter {
    const inner = terminalPrompter()
    return {
      name: inner.name,
      ask: (request, signal) => this.#front.lend(() => inner.ask(request, signal)),
      question: (text, options, signal) => this.#front.lend(() => inner.question!(text, options, signal)),
      tell: (text) => this.#print([this.#front.paint('dim', safe(text))]),
    }
  }

  async run(): Promise<number> {
    this.#greet()
    this.#front.composer.remember(readHistory(this.#machine))
    const completed = slashCommands.map(({ name, words }) => ({
      name,
      ...(words && { words: () => words(this.#agent) }),
    }))
    this.#front.composer.completeWith(chatCompleter(this.#agent.cordon.root, completed))
    this.#status()
    this.#front.attach((action) => this.#act(action))
    await this.#askAboutInstructions()
    return this.#left
  }

  say(text: string): void {
    this.#print(text.split('\n').map((line) => this.#front.paint('yellow', safe(line))))
  }

  async close(): Promise<void> {
    this.#turn?.abort()
    this.#flush()
    await this.#agent.close()
  }

  #greet(): void {
    const { notes, agent, id } = this.#agent
    const said = agent.messages.length
    const dim = (text: string) => this.#front.paint('dim', safe(text))
    this.#print([
      ...notes.map((note) => this.#front.paint('yellow', `note: ${safe(note)}`)),
      ...(said > 0 ? [...this.#earlier(agent.messages), dim(`resumed ${id}: ${said} messages`)] : []),
    ])
  }

  /** The end of a resumed conversation, as it was shown. */
  #earlier(messages: readonly Message[]): string[] {
    const { paint, terminal } = this.#front
    const view = new MarkdownView(paint, () => terminal.size.columns)
    const lines = messages.slice(-MAX_EARLIER).flatMap((message) => {
      if (message.role === 'results') return []
      return message.parts.flatMap((part): string[] => {
        if (part.type === 'call') return callLines({ type: 'calling', call: part }, paint)
        if (part.type === 'image') return [paint('dim', '  an image')]
        if (part.type === 'thinking') return []
        if (message.role === 'user') return typedLines(part.text, paint)
        return [...view.take(part.text), ...view.end()]
      })
    })
    const left = messages.length - MAX_EARLIER
    return left > 0 ? [paint('dim', `… ${left} earlier messages`), ...lines] : lines
  }

  /** The project's instructions steer the agent, so the person reads them first. */
  async #askAboutInstructions(): Promise<void> {
    const { paint } = this.#front
    for (const found of this.#agent.untrusted) {
      const lines = found.text.split('\n')
      const what = found.status === 'new' ? 'is new to you' : 'has changed since you agreed to it'
      this.#print([
        paint('yellow', `${found.name} of this project ${what}. It would steer the agent:`),
        ...lines.slice(0, 60).map((line) => `  ${paint('dim', safe(line))}`),
        ...(lines.length > 60 ? [`  ${paint('dim', `… ${lines.length - 60} more lines`)}`] : []),
        ...(found.suspicious ? [paint('red', 'It reads like an attack on the agent.')] : []),
      ])
      if (/^y(es)?$/i.test((await this.#ask(`use ${found.name}? yes or no`)) ?? '')) {
        trustInstructions(this.#agent.cordon.root, this.#machine, found, new Date())
      } else this.#print([paint('dim', `${found.name} is left out`)])
    }
    this.#agent.reread()
    this.#status()
  }

  /** Asks at the prompt; null if interrupted. */
  async #ask(question: string): Promise<string | null> {
    this.#front.status = question
    const answer = await new Promise<string | null>((resolve) => {
      this.#answer = resolve
    })
    this.#answer = null
    this.#status()
    return answer?.trim() ?? null
  }

  #act(action: ComposerAction): void {
    switch (action.type) {
      case 'submit':
        if (this.#answer) this.#answer(action.text)
        else if (this.#turn) this.#enqueue(action.text)
        else void this.#submit(action.text)
        break
      case 'interrupt':
        this.#interrupt()
        break
      case 'escape':
        if (this.#turn) this.#turn.abort()
        break
      case 'leave':
        this.#turn?.abort()
        this.#leave(0)
        break
      case 'diff':
      case 'undo':
        if (!this.#turn && !this.#answer) void this.#slash(`/${action.type}`)
        break
      case 'switch-agent':
        this.#command(() => this.#agent.setAgent(this.#agent.session.agent === 'plan' ? 'build' : 'plan'))
        break
      default:
        break
    }
  }

  #interrupt(): void {
    const twice = Date.now() - this.#interrupted < TWICE_MS
    this.#interrupted = Date.now()
    if (this.#answer) this.#answer(null)
    else if (twice) {
      this.#turn?.abort()
      this.#leave(this.#turn ? 130 : 0)
    } else if (this.#turn) {
      this.#turn.abort()
      this.#queue.length = 0
      this.#flush()
    } else if (this.#front.composer.text !== '') {
      this.#front.composer.clear()
      this.#interrupted = 0
    } else this.#front.status = 'Ctrl-C again leaves'
  }

  #enqueue(text: string): void {
    this.#queue.push(text)
    this.#flush()
  }

  async #submit(text: string): Promise<void> {
    this.#print(typedLines(text, this.#front.paint))
    try {
      addHistory(this.#machine, text)
    } catch (error) {
      this.#problem(error)
    }
    if (text.startsWith('/')) await this.#slash(text)
    else if (text.startsWith('!'))
      await this.#working('running', (signal) => this.#agent.run(text.slice(1).trim(), signal))
    else await this.#say(text)
    const next = this.#queue.shift()
    this.#flush()
    if (next !== undefined) await this.#submit(next)
  }

  async #say(text: string): Promise<void> {
    const { maxTurns, budget } = this.#options
    const [before, started] = [this.#agent.agent.spent, performance.now()]
    const end = await this.#working('thinking', async (signal) => {
      const { parts, notes } = await this.#agent.attach(text, signal)
      this.#print(notes.map((note) => this.#front.paint('dim', `  ${safe(note)}`)))
      return this.#agent.turn(
        { role: 'user', parts },
        { signal, ...(maxTurns !== undefined && { maxTurns }), ...(budget !== undefined && { budget }) },
      )
    })
    const { spent } = this.#agent.agent
    this.#print([...this.#view.end(), this.#front.paint('dim', turnText(before, spent, performance.now() - started))])
    const problem = endText(end)
    if (problem === null) return
    if (end.reason === 'failed') this.#problem(end.error)
    else this.#print([this.#front.paint('yellow', safe(problem))])
  }

  async #working<Result>(doing: string, work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
    this.#turn = new AbortController()
    this.#doing = doing
    this.#status()
    try {
      return await work(this.#turn.signal)
    } finally {
      this.#turn = null
      this.#doing = null
      this.#flush()
      this.#status()
    }
  }

  async #slash(line: string): Promise<void> {
    const host: CommandHost = {
      machine: this.#machine,
      agent: this.#agent,
      say: (lines) => {
        const columns = this.#front.terminal.size.columns - 3
        this.#print(lines.flatMap((text) => hangingRows(safe(text), columns)).map((row) => `  ${row}`))
      },
      resume: (id) => this.#resume(id),
      compact: async () => {
        await this.#working('compacting', (signal) => this.#agent.agent.compact(signal))
      },
      leave: () => this.#leave(0),
    }
    try {
      await runSlashCommand(line, host)
    } catch (error) {
      this.#problem(error)
    }
    this.#status()
  }

  async #resume(id: string): Promise<void> {
    await this.#agent.close()
    try {
      await this.#openAgent(id)
    } catch (error) {
      this.#problem(error)
      await this.#openAgent(undefined)
    }
    this.#greet()
  }

  #command(work: () => void): void {
    try {
      work()
    } catch (error) {
      this.#problem(error)
    }
    this.#status()
  }

  #heard(event: AgentEvent): void {
    const { paint } = this.#front
    const dim = (text: string) => this.#print([paint('dim', safe(text))])
    switch (event.type) {
      case 'text':
        this.#doing = 'writing'
        this.#later(this.#view.take(event.text))
        return
      case 'thinking':
        this.#doing = 'thinking'
        return
      case 'preparing':
        this.#doing = `preparing ${event.name}`
        this.#later([])
        return
      case 'answered':
        this.#print(this.#view.end())
        break
      case 'calling':
        this.#doing = `running ${event.call.name}`
        this.#print(callLines(event, paint))
        break
      case 'result':
        this.#print(resultLines(event, paint, this.#front.terminal.size.columns))
        break
      case 'retry':
        dim(`${event.problem}; trying again in ${Math.ceil(event.waitMs / 1000)} s`)
        break
      case 'again':
        this.#print(this.#view.end())
        dim(`${event.problem}; asking again`)
        break
      case 'compacting':
        this.#doing = 'compacting'
        break
      case 'compacted':
        dim(`compacted: ${event.before} messages became ${event.after}`)
        break
    }
    this.#status()
  }

  /** Collects streamed text and draws it per frame. */
  #later(lines: readonly string[]): void {
    this.#lines.push(...lines)
    this.#frame ??= setTimeout(() => {
      this.#status()
      this.#flush()
    }, FRAME_MS)
  }

  #flush(): void {
    if (this.#frame) clearTimeout(this.#frame)
    this.#frame = null
    // An unfinished line shows its last rows; the whole is printed later.
    const waiting = this.#queue.map((text, at) => {
      const plain = cutTo(`next ${at + 1}: ${safe(text.split('\n')[0]!)}`, this.#front.terminal.size.columns - 1)
      return { text: this.#front.paint('dim', plain), plain }
    })
    this.#front.live = [...this.#view.half(HALF_ROWS).map((row) => ({ text: row, plain: row })), ...waiting]
    this.#front.print(this.#lines.splice(0))
  }

  #print(lines: readonly string[]): void {
    this.#lines.push(...lines)
    this.#flush()
  }

  #status(): void {
    this.#front.status = statusText(this.#agent, this.#doing)
  }

  #problem(error: unknown): void {
    const remedy = error instanceof Error && 'remedy' in error && typeof error.remedy === 'string' ? error.remedy : null
    const lead = error instanceof CommandError ? '' : 'problem: '
    this.#print([
      ...messageOf(error)
        .split('\n')
        .map((line) => this.#front.paint('red', `${lead}${safe(line)}`)),
      ...(remedy ? [`  ${safe(remedy)}`] : []),
    ])
  }
}
