/** Converts another agent's rule to manifest entries: never wider, with a note if narrower. */

import { commandPattern, type Draft, type Entry, type Finding, note } from './draft.ts'
import { withoutClasses } from './path-words.ts'

export type Settings = Readonly<Record<string, unknown>>
export type Verdict = 'allow' | 'ask' | 'deny'

export const WEB_TOOLS = ['webfetch', 'http', 'websearch'] as const

/** Levels for tools without settings, if the agent is stricter than Cordon's default. */
export function unnamed({ entries }: Draft, tools: readonly string[], verdict: Verdict): readonly Entry[] {
  const hosts = entries.some((entry) => entry.kind === 'host' && entry.use === 'web')
  return tools
    .filter((tool) => !entries.some((entry) => entry.kind === 'level' && entry.tool === tool))
    .filter((tool) => tool === 'websearch' || !hosts)
    .map((tool) => ({ kind: 'level', tool, verdict }))
}

/** Replaces a rule that restricts part of a tool which no manifest can name. */
export function wholeToolAsks(tools: readonly string[], verdict: Verdict, rule: string): readonly Finding[] {
  return [
    note(`${verdict} "${rule}" has no equivalent; the whole tool asks`),
    ...tools.map((tool): Entry => ({ kind: 'level', tool, verdict: 'ask' })),
  ]
}

/** A rule about a tool without a Cordon equivalent: a hook asks, or denies if the whole tool was denied. */
export function unknownTool(tool: string, partly: boolean, verdict: Verdict, rule: string): readonly Finding[] {
  return tool !== '' && !partly && verdict === 'deny'
    ? [{ kind: 'level', tool, verdict }]
    : [note(`${verdict} "${rule}" names a tool that has no equivalent; it asks`)]
}

/** A command rule. Other agents match text, so `rm*` includes `rmdir`, which no list of words expresses. */
export function commandRule(text: string, verdict: Verdict, rule: string): readonly Finding[] {
  const pattern = commandPattern(text)
  const doubt: Finding = { kind: 'doubt', about: 'command', start: textBefore(text, /(?::\*|\s*\*)|[^\w@%+=:,./ -]/) }
  if (pattern === null) {
    const said = `${verdict} "${rule}" is not a list of words with a wildcard at the end`
    if (verdict === 'allow') return [note(`${said}; it asks`)]
    const instead =
      verdict === 'deny' ? 'what may match it asks: write a deny rule for it by hand' : 'what may match it asks'
    return [note(`${said}; ${instead}`), doubt]
  }
  if (verdict === 'allow') return [{ kind: 'command', verdict, pattern }]
  const cut = /[^\s:]\*$/.test(text.trim())
    ? [note(`${verdict} "${rule}" is about words that begin so, too; those ask`)]
    : []
  // A deny or ask of one exact text would miss the command with another word.
  const wide = pattern.endsWith(':*') ? pattern : `${pattern}:*`
  return [...cut, { kind: 'command', verdict, pattern: wide }, doubt]
}

/** A rule about files. */
export function pathRule(kind: 'read' | 'write', path: string, verdict: Verdict, rule: string): readonly Finding[] {
  const odd = /[[\]{}!]/.test(path)
  if (verdict === 'allow')
    return odd ? [note(`allow "${rule}" has a glob that has no equivalent`)] : [{ kind, verdict, path }]
  const paths = odd ? withoutClasses(path) : [path]
  if (paths === null) {
    const instead = verdict === 'deny' ? ' what may match it asks: write a deny rule for it by hand' : ' it asks'
    return [
      note(`${verdict} "${rule}" has a glob that has no equivalent;${instead}`),
      { kind: 'doubt', about: kind, start: '' },
    ]
  }
  const said = odd ? [note(`${verdict} "${rule}" became ${paths.join(', ')}, which is at least as much`)] : []
  return [...said, ...paths.flatMap((each) => closedPath(kind, each, verdict))]
}

function closedPath(kind: 'read' | 'write', path: string, verdict: 'ask' | 'deny'): readonly Finding[] {
  // A directory includes its contents, and unreadable files may not be written either.
  const paths = path.endsWith('**') ? [path] : [path, `${path.replace(/\/$/, '')}/**`]
  const kinds = kind === 'read' && verdict === 'deny' ? (['read', 'write'] as const) : ([kind] as const)
  return [
    ...kinds.flatMap((each) => paths.map((closed): Finding => ({ kind: each, verdict, path: closed }))),
    ...(verdict === 'ask' ? [{ kind: 'doubt', about: kind, start: textBefore(path, /[*?]/) } as const] : []),
  ]
}

function textBefore(text: string, mark: RegExp): string {
  const at = text.search(mark)
  return (at < 0 ? text : text.slice(0, at)).trimStart()
}
