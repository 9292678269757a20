/**
 * Settles rules that a manifest would order differently: its most exact rule wins, elsewhere the strictest or the
 * last.
 */

import type { Entry } from './draft.ts'

interface Settled {
  readonly entries: readonly Entry[]
  readonly notes: readonly string[]
}

type Doubt = Entry & { readonly kind: 'doubt' }

/** Levels of whole tools, by subject. */
const ABOUT: Readonly<Record<string, Doubt['about']>> = {
  bash: 'command',
  read: 'read',
  grep: 'read',
  write: 'write',
  edit: 'write',
  webfetch: 'web',
  http: 'web',
}

/** Turns every allow that a doubt may match into an ask. */
export function settleDoubts(entries: readonly Entry[]): Settled {
  const asked = entries.flatMap((entry): readonly Doubt[] =>
    entry.kind === 'level' && entry.verdict === 'ask' && Object.hasOwn(ABOUT, entry.tool)
      ? [{ kind: 'doubt', about: ABOUT[entry.tool]!, start: '' }]
      : [],
  )
  const doubts = [...entries.filter((entry): entry is Doubt => entry.kind === 'doubt'), ...asked]
  const notes: string[] = []
  const settled = entries
    .filter((entry) => entry.kind !== 'doubt')
    .flatMap((entry): readonly Entry[] => {
      const text = allowedText(entry)
      if (text === null || !doubts.some((doubt) => doubt.about === text.about && mayMeet(doubt.start, text.start)))
        return [entry]
      notes.push(`allow ${text.start || 'everything'} asks: another rule is about the same`)
      if (entry.kind === 'host') return []
      if (entry.kind === 'mode') return [{ kind: 'mode', mode: 'default' }]
      return [{ ...entry, verdict: 'ask' } as Entry]
    })
  return { entries: settled, notes }
}

/** What an entry allows without asking, or null. */
function allowedText(entry: Entry): { readonly about: Doubt['about']; readonly start: string } | null {
  if (entry.kind === 'command' && entry.verdict === 'allow') {
    return { about: 'command', start: entry.pattern.replace(/:\*$/, '') }
  }
  if ((entry.kind === 'read' || entry.kind === 'write') && entry.verdict === 'allow') {
    return { about: entry.kind, start: entry.path.split(/[*?]/)[0]! }
  }
  if (entry.kind === 'host' && entry.use === 'web') return { about: 'web', start: '' }
  return entry.kind === 'mode' && entry.mode === 'contained' ? { about: 'command', start: '' } : null
}

function mayMeet(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a)
}

/** Replaces a restricting rule that did not load: everything it may match asks. */
export function inPlaceOf(lost: Entry): readonly Entry[] {
  if (!('verdict' in lost) || lost.verdict === 'allow') {
    return lost.kind === 'host' && lost.use === 'nobody' ? levels(['webfetch', 'http', 'websearch']) : []
  }
  switch (lost.kind) {
    case 'command':
      return [{ kind: 'doubt', about: 'command', start: '' }]
    case 'read':
      return [{ kind: 'doubt', about: 'read', start: '' }, ...levels(['read', 'summary', 'grep'])]
    case 'write':
      return [{ kind: 'doubt', about: 'write', start: '' }, ...levels(['write', 'edit', 'apply_patch'])]
    default:
      return []
  }
}

function levels(tools: readonly string[]): readonly Entry[] {
  return tools.map((tool) => ({ kind: 'level', tool, verdict: 'ask' }))
}
