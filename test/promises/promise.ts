/** A promise of Cordon's as a row: what is tried, once, and what becomes of it on every surface. */

import type { Place } from './place.ts'

/** The columns. `check` is `cordon check`, `explain` and `check --batch`, which must agree. */
export const SURFACES = ['session', 'run', 'check', 'hook', 'mcp', 'gateway', 'chat', 'acp', 'page'] as const
export type SurfaceName = (typeof SURFACES)[number]

export const SURFACE_TITLES: Readonly<Record<SurfaceName, string>> = {
  session: 'library',
  run: '`run`',
  check: '`check`',
  hook: 'hook',
  mcp: 'MCP',
  gateway: 'gateway',
  chat: 'chat',
  acp: 'ACP',
  page: 'page',
}

/** What becomes of a call: `refused` where it would ask and no one may be asked. */
export type Verdict = 'allow' | 'ask' | 'deny' | 'refused'

export interface Call {
  readonly tool: string
  readonly input: Readonly<Record<string, unknown>>
}

/** One call and its expected result. `$P` is the project, `$H` the home directory, `$PORT` a local server. */
export interface Try extends Call {
  readonly is?: Verdict
  /** Matches what the agent or the person gets. */
  readonly says?: RegExp
  /** Is nowhere in it. */
  readonly hides?: RegExp
  /** What the person answers; no without it. */
  readonly answer?: 'once' | 'session'
  /** Matches the question. */
  readonly asks?: RegExp
  /** Files of the project afterwards: their text, or null if it is absent. */
  readonly leaves?: Readonly<Record<string, string | null>>
  /** What else must be seen of it afterwards. */
  readonly after?: (place: Place, outcome: Outcome) => Promise<void> | void
  /** Only where something runs: nothing is decided beforehand that could be checked. */
  readonly runs?: true
  /** What applies to the command a person types, where that differs. */
  readonly typed?: Verdict
}

/** What a surface did with a call. */
export interface Outcome {
  readonly verdict: Verdict
  readonly text: string
  readonly question: string
}

/** A surface on a project. */
export interface Driver {
  call(call: Call, answer: Try['answer']): Promise<Outcome>
  close(): Promise<void>
}

export type Cell =
  /** These instead of the row's. */
  | { readonly tries: readonly Try[] }
  /** Something of this surface's own; throws where the promise is not kept. */
  | { readonly own: (place: Place) => Promise<void> }
  /** A test elsewhere shows it here: its file, and its title as it is written there. */
  | { readonly by: string; readonly title: string }
  /** Why the promise is not about this surface. */
  | { readonly no: string }
  /** It is promised, and not built. */
  | { readonly missing: string }

export interface PromiseRow {
  readonly id: string
  readonly promise: string
  /** Further tests that show it. */
  readonly shown: readonly string[]
  readonly manifest?: Readonly<Record<string, unknown>>
  readonly files?: Readonly<Record<string, string>>
  readonly env?: Readonly<Record<string, string>>
  /** Rules of the organisation, signed by its team. */
  readonly organisation?: string
  /** Something answers on port `$PORT` of this machine: a server that knows the real secret, or a registry of packages. */
  readonly served?: 'pages' | 'packages'
  readonly tries?: readonly Try[]
  /** Nothing runs: the surface does not open, or refuses the call, with a text that matches. */
  readonly refuses?: RegExp
  /** Custom tools that the person trusts. */
  readonly trusted?: readonly string[]
  /** The home directory is the root. */
  readonly atHome?: true
  /** Surfaces on which it is not simply tried. */
  readonly on?: Partial<Record<SurfaceName, Cell>>
}

export const no = (why: string): Cell => ({ no: why })
export const own = (experiment: (place: Place) => Promise<void>): Cell => ({ own: experiment })
export const by = (path: string, title: string): Cell => ({ by: path, title })
export const missing = (what: string): Cell => ({ missing: what })

export const bash = (command: string, expected: Omit<Try, keyof Call> = {}): Try => ({
  tool: 'bash',
  input: { command },
  ...expected,
})
export const read = (path: string, expected: Omit<Try, keyof Call> = {}): Try => ({
  tool: 'read',
  input: { path },
  ...expected,
})
export const write = (path: string, expected: Omit<Try, keyof Call> = {}): Try => ({
  tool: 'write',
  input: { path, content: 'new\n' },
  ...expected,
})
export const fetchOf = (url: string, expected: Omit<Try, keyof Call> = {}): Try => ({
  tool: 'webfetch',
  input: { url },
  ...expected,
})
export const remote = (tool: string, expected: Omit<Try, keyof Call> = {}, text = 'x'): Try => ({
  tool: `mcp__s__${tool}`,
  input: { text },
  ...expected,
})

/** The cell of a surface: what the row says of it, else the row's own tries. */
export function cellOf({ on = {}, tries, refuses }: PromiseRow, surface: SurfaceName): Cell | null {
  if (on[surface]) return on[surface]
  if (tries) return { tries }
  return refuses ? { tries: [surface === 'gateway' ? remote('echo') : bash('true')] } : null
}
