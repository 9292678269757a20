/** A simple command in the tree: its words, assignments and redirects, in the order bash expands them. */

import type { Command, Redirected, Redirection } from 'unbash'
import type { AssignmentFact, Hazard, RedirectFact, Word } from '../facts.ts'
import { UnreadableText } from '../read/unreadable-text.ts'
import { expandArguments } from '../words/word.ts'
import { assign, assignmentWord, temporary } from './assign.ts'
import { invoke } from './invoke.ts'
import { expandRedirects, type Redirects, type Stdin } from './redirect.ts'
import type { Walk } from './walk.ts'

/** Most words of one command. */
const MAX_WORDS = 2_000

/** Redirects of a program are expanded in its own process, those of a builtin in this one: what they assign is uncertain. */
function redirectsOf(walk: Walk, redirects: readonly Redirection[]): Redirects {
  if (redirects.length === 0) return { facts: [], stdin: null, certain: true }
  let result: Redirects | undefined
  const after = walk.on(walk.scope.branch(), () => {
    result = expandRedirects(redirects, walk)
  })
  walk.scope.join(after)
  return result as Redirects
}

/** Redirects of a compound command apply to all of it. */
export function walkRedirected(walk: Walk, node: Redirected): void {
  const { facts, stdin, certain } = redirectsOf(walk, node.redirects)
  walk.output.redirects.push(...facts)
  const before = certain ? null : walk.scope.branch()
  walk.framed({ ...walk.frame, stdin: stdin ?? walk.frame.stdin }, () => walk.node(node.command))
  if (before !== null) walk.scope.join(before)
}

/** Words first, then assignments, then redirects. */
export function walkSimple(walk: Walk, node: Command): void {
  walk.output.step(node.pos)
  const outer = walk.sink
  const hazards: Hazard[] = []
  walk.sink = hazards
  const argv = wordsOf(walk, node)
  if (argv.length > MAX_WORDS)
    throw new UnreadableText('too-complex', `a command has more than ${MAX_WORDS} words`, node.pos)
  const before = node.redirects.length > 0 ? walk.scope.branch() : null
  const assignments: AssignmentFact[] = []
  const bare = argv.length === 0
  const uncertain = !bare && argv.every((word) => word.splits)
  const written = node.prefix.filter((part) => part.type === 'Assignment')
  if (bare) for (const one of written) assignments.push(assign(walk, one))
  else assignments.push(...temporary(walk, written, uncertain, argv[0]?.text ?? ''))
  const { facts, stdin, certain } = redirectsOf(walk, node.redirects)
  walk.sink = outer
  emit(walk, node, argv, assignments, facts, hazards, stdin)
  if (before !== null && !certain) walk.scope.join(before)
}

function emit(
  walk: Walk,
  node: Command,
  argv: readonly Word[],
  assignments: AssignmentFact[],
  redirects: readonly RedirectFact[],
  hazards: Hazard[],
  stdin: Stdin | null,
): void {
  const frame = stdin === null ? walk.frame : { ...walk.frame, stdin }
  walk.framed(frame, () =>
    invoke(walk, { argv, assignments, redirects, hazards, span: walk.span(node), direct: true, environment: 'same' }),
  )
}

function wordsOf(walk: Walk, node: Command): Word[] {
  if (node.name === undefined) return []
  const words = [...expandArguments(node.name, walk)]
  for (const argument of node.args) {
    if (argument.type === 'Word') words.push(...expandArguments(argument, walk))
    else {
      const associative = words.some((word) => /^-[a-zA-Z]*A/.test(word.text))
      words.push(assignmentWord(walk, argument, associative))
    }
  }
  return words
}
