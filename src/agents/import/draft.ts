/** Another agent's settings in a manifest's terms: entries with their origin. */

/** One statement of a manifest. */
export type Entry =
  | { readonly kind: 'command'; readonly verdict: 'allow' | 'ask' | 'deny'; readonly pattern: string }
  | { readonly kind: 'read' | 'write'; readonly verdict: 'allow' | 'ask' | 'deny'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  /** A host for commands, for the web tools, or denied to both. */
  | { readonly kind: 'host'; readonly use: 'commands' | 'web' | 'nobody'; readonly host: string }
  | { readonly kind: 'level'; readonly tool: string; readonly verdict: 'allow' | 'ask' | 'deny' }
  /** Tools of an MCP server by a glob of names. */
  | {
      readonly kind: 'server'
      readonly server: string
      readonly tool: string
      readonly verdict: 'allow' | 'ask' | 'deny'
    }
  | { readonly kind: 'mode'; readonly mode: 'default' | 'auto_accept' | 'plan' | 'contained' }
  | { readonly kind: 'unattended' }
  /**
   * A rule that a manifest cannot express or would order differently: allows that it may match become asks. `start` is
   * the text before its first wildcard, empty for a rule about everything.
   */
  | { readonly kind: 'doubt'; readonly about: 'command' | 'read' | 'write' | 'web'; readonly start: string }

export interface Draft {
  readonly entries: readonly Entry[]
  /** Settings without an equivalent, and what replaces each: a sentence each. */
  readonly notes: readonly string[]
}

/** A converted rule: entries, or a note why not. */
export type Finding = Entry | { readonly kind: 'note'; readonly text: string }

/** A note about a setting that changes. */
export function note(text: string): Finding {
  return { kind: 'note', text }
}

/** Collects a draft. */
export class DraftWriter {
  readonly #entries: Entry[] = []
  readonly #notes: string[] = []

  add(...findings: readonly Finding[]): void {
    for (const finding of findings) {
      if (finding.kind === 'note') this.#notes.push(finding.text)
      else this.#entries.push(finding)
    }
  }

  note(text: string): void {
    this.#notes.push(text)
  }

  draft(): Draft {
    return { entries: this.#entries, notes: this.#notes }
  }
}

/** A list of texts; other values are noted. */
export function texts(value: unknown, name: string, out: DraftWriter): readonly string[] {
  if (value === undefined || value === null) return []
  if (!Array.isArray(value)) {
    out.note(`${name} is not a list; it was left out`)
    return []
  }
  return value.filter((item): item is string => {
    if (typeof item === 'string') return true
    out.note(`${name} contains a value that is not text; it was left out`)
    return false
  })
}

/**
 * Converts a command rule with wildcards to an argv pattern: `git log:*`, `git log *` and `git log*` become a prefix,
 * a text without wildcard matches only itself. Null for other wildcards, which words cannot express.
 */
export function commandPattern(rule: string): string | null {
  const text = rule.trim()
  const prefix = /^(.*?)(:\*|\s+\*|\*)$/.exec(text)
  const words = (prefix ? prefix[1]! : text).trim()
  // Plain words only: quotes, expansions and operators mean something else in a pattern.
  if (words === '' || !/^[\w@%+=:,./-]+( +[\w@%+=:,./-]+)*$/.test(words)) return null
  return prefix ? `${words}:*` : words
}
