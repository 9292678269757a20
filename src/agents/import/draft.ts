/** What settings of another agent say, in a manifest's words: gathered entry by entry, each with where it came from. */

/** One thing that a manifest can say. */
export type Entry =
  | { readonly kind: 'command'; readonly verdict: 'allow' | 'ask' | 'deny'; readonly pattern: string }
  | { readonly kind: 'read' | 'write'; readonly verdict: 'allow' | 'ask' | 'deny'; readonly path: string }
  | { readonly kind: 'directory'; readonly path: string }
  /** A host for commands, for the web tools, or for no one. */
  | { readonly kind: 'host'; readonly use: 'commands' | 'web' | 'nobody'; readonly host: string }
  | { readonly kind: 'level'; readonly tool: string; readonly verdict: 'allow' | 'ask' | 'deny' }
  /** Tools of an MCP server by a glob of their names. */
  | {
      readonly kind: 'server'
      readonly server: string
      readonly tool: string
      readonly verdict: 'allow' | 'ask' | 'deny'
    }
  | { readonly kind: 'mode'; readonly mode: 'default' | 'auto_accept' | 'plan' | 'contained' }
  | { readonly kind: 'unattended' }
  /**
   * A rule that a manifest cannot say, or would not put first: whatever may match it and would be allowed asks. `start` is the text
   * before its first wildcard; a rule about everything has an empty one.
   */
  | { readonly kind: 'doubt'; readonly about: 'command' | 'read' | 'write' | 'web'; readonly start: string }

export interface Draft {
  readonly entries: readonly Entry[]
  /** What has no equivalent, and what was done instead: a sentence each. */
  readonly notes: readonly string[]
}

/** A rule of the settings as it comes over: entries, or a note that says why it does not. */
export type Finding = Entry | { readonly kind: 'note'; readonly text: string }

/** A sentence about something that does not come over as it was. */
export function note(text: string): Finding {
  return { kind: 'note', text }
}

/** Gathers a draft. */
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

/** A list of texts of a setting; anything else in its place is noted. */
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
 * A command rule with wildcards as Cordon's argv pattern: `git log:*`, `git log *` and `git log*` become a prefix, a text without
 * a wildcard stands for exactly itself. Null for a wildcard anywhere else, which words cannot say.
 */
export function commandPattern(rule: string): string | null {
  const text = rule.trim()
  const prefix = /^(.*?)(:\*|\s+\*|\*)$/.exec(text)
  const words = (prefix ? prefix[1]! : text).trim()
  // Only plain words: what is quoted, expanded or joined means something else as a pattern.
  if (words === '' || !/^[\w@%+=:,./-]+( +[\w@%+=:,./-]+)*$/.test(words)) return null
  return prefix ? `${words}:*` : words
}
