/** Language servers of a session: sandboxed, read-only, offline, started on demand. */

import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import { delimiter, extname, join, relative } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import { entitleOwn } from '../../confine/entitlement.ts'
import type { CustomToolHost } from '../../custom/tools.ts'
import { Fault, messageOf } from '../../system/fault.ts'
import type { Json } from '../../system/json-rpc.ts'
import type { Machine } from '../../system/machine.ts'
import type { LanguageQuestion } from '../../tools/built-in/agent-tools.ts'
import type { ToolOutput } from '../../tools/tool.ts'
import { answerText, LanguageConnection } from './connection.ts'

interface LanguageRow {
  readonly language: string
  readonly extensions: readonly string[]
  /** Candidate commands; `node_modules/` names one of the project's. */
  readonly servers: readonly (readonly string[])[]
}

const languageRows: readonly LanguageRow[] = [
  {
    language: 'typescript',
    extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'],
    servers: [
      ['node_modules/.bin/tsc', '--lsp', '--stdio'],
      ['node_modules/.bin/tsgo', '--lsp', '--stdio'],
      ['node_modules/.bin/typescript-language-server', '--stdio'],
      ['typescript-language-server', '--stdio'],
    ],
  },
  { language: 'python', extensions: ['.py', '.pyi'], servers: [['pyright-langserver', '--stdio'], ['pylsp']] },
  { language: 'go', extensions: ['.go'], servers: [['gopls']] },
  { language: 'rust', extensions: ['.rs'], servers: [['rust-analyzer']] },
  { language: 'c', extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.cxx'], servers: [['clangd']] },
]

const START_MS = 30_000
const DIAGNOSTICS_MS = 15_000

/** The servers of one session; they end with it. */
export class LanguageServers {
  readonly #host: CustomToolHost
  readonly #machine: Machine
  readonly #root: string
  readonly #running = new Map<string, Promise<LanguageServer>>()

  constructor(host: CustomToolHost, machine: Machine, root: string) {
    this.#host = host
    this.#machine = machine
    this.#root = root
  }

  async ask(question: LanguageQuestion, signal: AbortSignal): Promise<ToolOutput> {
    const row = languageRows.find(({ extensions }) => extensions.includes(extname(question.path)))
    if (!row)
      throw new Fault('no-language-server', `no language server is known for ${extname(question.path) || 'this file'}`)
    const server = await this.#server(row)
    return server.ask(question, signal)
  }

  async #server(row: LanguageRow): Promise<LanguageServer> {
    const known = this.#running.get(row.language)
    if (known && !(await known).isGone) return known
    const starting = this.#start(row)
    this.#running.set(row.language, starting)
    starting.catch(() => this.#running.delete(row.language))
    return starting
  }

  async #start(row: LanguageRow): Promise<LanguageServer> {
    let failure: unknown = null
    for (const argv of row.servers) {
      const program = await this.#find(argv[0]!)
      if (program === null) continue
      const server = new LanguageServer([program, ...argv.slice(1)], this.#root, this.#host)
      try {
        await server.initialize(AbortSignal.timeout(START_MS))
        return server
      } catch (error) {
        // A program of that name may not be a server: TypeScript 5 has tsc without --lsp.
        if (!server.isGone) throw error
        failure = error
      }
    }
    const names = row.servers.map((words) => words.join(' ')).join(', ')
    const why = failure === null ? '' : ` (${messageOf(failure)})`
    throw new Fault('no-language-server', `there is no language server for ${row.language} here${why}`, {
      remedy: `Install one that runs as: ${names}.`,
    })
  }

  async #find(name: string): Promise<string | null> {
    const places = name.includes('/')
      ? [join(this.#root, name)]
      : (this.#machine.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name))
    for (const path of places) {
      const fits = await access(path, constants.X_OK).then(
        () => true,
        () => false,
      )
      if (fits) return path
    }
    return null
  }
}

class LanguageServer {
  readonly #connection: LanguageConnection
  readonly #root: string
  readonly #versions = new Map<string, { version: number; text: string }>()
  /** Pushed diagnostics. */
  readonly #diagnostics = new Map<string, unknown>()
  #heard: (() => void)[] = []
  #pulls = false
  isGone = false

  constructor(argv: readonly string[], root: string, host: CustomToolHost) {
    this.#root = root
    const stdin = new PassThrough()
    const connection = new LanguageConnection(
      (bytes) => void stdin.write(bytes),
      (method, params) => this.#notified(method, params),
    )
    this.#connection = connection
    const stdout = new Writable({
      write(chunk: Buffer, _, done) {
        connection.take(chunk)
        done()
      },
    })
    const stderr = new Writable({ write: (_chunk, _encoding, done) => done() })
    // A server changes nothing: the agent makes its edits, under the rules.
    const confinement = host.commands.confine({ command: entitleOwn('language server'), cwd: root }, [
      { kind: 'read-only', places: 'all' },
      { kind: 'long-lived' },
    ])
    const gone = (why: string) => {
      this.isGone = true
      connection.end(new Fault('no-language-server', `the language server ended: ${why}`))
    }
    host.commands.run(confinement, argv, { stdin, stdout, stderr }).then(
      ({ result }) => gone(`exit code ${result.exitCode}`),
      (error: unknown) => gone(messageOf(error)),
    )
  }

  async initialize(signal: AbortSignal): Promise<void> {
    const rootUri = pathToFileURL(this.#root).href
    const answer = await this.#connection.request(
      'initialize',
      {
        processId: null,
        rootUri,
        workspaceFolders: [{ uri: rootUri, name: 'project' }],
        capabilities: {
          textDocument: {
            synchronization: {},
            publishDiagnostics: {},
            diagnostic: {},
            definition: { linkSupport: true },
            references: {},
            documentSymbol: { hierarchicalDocumentSymbolSupport: true },
            rename: {},
          },
          workspace: { configuration: true, workspaceFolders: true, workspaceEdit: { documentChanges: true } },
        },
      },
      signal,
    )
    this.#pulls = JSON.stringify(answer ?? {}).includes('"diagnosticProvider"')
    this.#connection.notify('initialized', {})
  }

  async ask({ action, path, text, position, newName }: LanguageQuestion, signal: AbortSignal): Promise<ToolOutput> {
    const uri = pathToFileURL(path).href
    const changed = this.#open(uri, path, text)
    const textDocument = { uri }
    const ask = (method: string, params: Json) => this.#connection.request(`textDocument/${method}`, params, signal)
    const shown = (file: string) => relative(this.#root, file) || file
    switch (action) {
      case 'diagnostics':
        return answerText(action, await this.#diagnose(uri, changed, signal), shown)
      case 'symbols':
        return answerText(action, await ask('documentSymbol', { textDocument }), shown)
      case 'definition':
        return answerText(action, await ask('definition', { textDocument, position }), shown)
      case 'references':
        return answerText(
          action,
          await ask('references', { textDocument, position, context: { includeDeclaration: true } }),
          shown,
        )
      case 'rename':
        return answerText(action, await ask('rename', { textDocument, position, newName }), shown)
    }
  }

  /** Sends the current text; true if it changed. */
  #open(uri: string, path: string, text: string): boolean {
    const known = this.#versions.get(uri)
    if (known?.text === text) return false
    const version = (known?.version ?? 0) + 1
    this.#versions.set(uri, { version, text })
    this.#diagnostics.delete(uri)
    if (known) {
      this.#connection.notify('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] })
    } else {
      const languageId = /\.(?:tsx|jsx)$/.test(path)
        ? 'typescriptreact'
        : /\.[cm]?[jt]s$/.test(path)
          ? 'typescript'
          : extname(path).slice(1)
      this.#connection.notify('textDocument/didOpen', { textDocument: { uri, languageId, version, text } })
    }
    return true
  }

  async #diagnose(uri: string, changed: boolean, signal: AbortSignal): Promise<unknown> {
    if (this.#pulls) return this.#connection.request('textDocument/diagnostic', { textDocument: { uri } }, signal)
    const deadline = AbortSignal.any([signal, AbortSignal.timeout(DIAGNOSTICS_MS)])
    while (changed && !this.#diagnostics.has(uri) && !deadline.aborted) {
      await new Promise<void>((resolve) => {
        deadline.addEventListener('abort', () => resolve(), { once: true })
        this.#heard.push(resolve)
      })
    }
    signal.throwIfAborted()
    return { items: this.#diagnostics.get(uri) ?? [] }
  }

  #notified(method: string, { uri, diagnostics }: Json): void {
    if (method !== 'textDocument/publishDiagnostics') return
    if (typeof uri === 'string') this.#diagnostics.set(uri, diagnostics)
    for (const wake of this.#heard.splice(0)) wake()
  }
}
