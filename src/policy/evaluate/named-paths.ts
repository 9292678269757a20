/** The files of a shell text: redirects, and the words that name files (S6). */

import { posix } from 'node:path'
import { deniedOfGlob, protectedOfGlob, secretOfGlob } from '../../files/aimed-globs.ts'
import { isInside, isProcessPath } from '../../files/baseline.ts'
import { isGlob, matchSegment } from '../../files/glob.ts'
import type { CommandFact, PathUse, RedirectFact } from '../../shell/facts.ts'
import type { PartSubject } from '../decision.ts'
import type { PartQuestions } from '../order.ts'
import { type PathActor, type PathScene, pathQuestions } from '../path-part.ts'
import { type PathRule, ref } from '../policy.ts'
import { wordsOf } from './command-part.ts'
import { gitNamesOnly, gitReads, isGitTree } from './git-place.ts'
import { always, deny, type Scene, unknowable } from './scene.ts'

/** A redirect: whether it may be used at all, then the file that it opens. */
export function redirectQuestions(scene: Scene, redirect: RedirectFact): PartQuestions[] {
  const { policy, shell } = scene
  const flag = policy.flags.redirects
  const subject: PartSubject = {
    kind: 'redirect',
    text: shell.command.slice(redirect.span.start, redirect.span.end),
    span: redirect.span,
  }
  if (flag.value === 'none' || (flag.value === 'streams' && redirect.kind === 'file')) {
    const what = redirect.kind === 'file' ? 'redirects to and from files' : 'redirects'
    return [
      always(subject, {
        ...deny(
          'shell-syntax-off',
          `[security] redirects is "${flag.value}": ${what} may not be used.`,
          'Use the write tool for files, or let the output come back as the result.',
        ),
        rules: [ref(flag)],
      }),
    ]
  }
  if (redirect.kind === 'stream' || redirect.target === null) return []
  const accesses =
    redirect.access === 'read-write' ? (['read', 'write'] as const) : ([redirect.access ?? 'write'] as const)
  const values = redirect.target.values
  const relative = values?.some((value) => !value.startsWith('/')) ?? false
  if (values === null || (relative && redirect.cwd === null)) {
    return [unknowable(scene, subject, 'the file it opens is only known when it runs')]
  }
  return values.flatMap((value) =>
    accesses.map((access) => {
      const path = posix.resolve(redirect.cwd ?? '/', value)
      return pathPart(scene, access, path, shown(scene, path), subject)
    }),
  )
}

/** PATH_MAX of Linux. */
const LONGEST_NAME = 4096

/** Programs that read names and metadata, and contents only by an option that is its own hazard. */
const LOOKING: ReadonlySet<string> = new Set(['find', 'du', 'tree'])

/** Programs that never read contents. */
const STATTING: ReadonlySet<string> = new Set(['ls', 'stat', 'test', '[', 'readlink', 'realpath'])

/** A word that names a file. */
export function pathUseQuestions(
  scene: Scene,
  use: PathUse,
  fact: CommandFact,
  named: PathRule | null,
): PartQuestions[] {
  const text =
    use.path === null
      ? scene.shell.command.slice(use.span.start, use.span.end) || wordsOf(fact)
      : shown(scene, use.path)
  const works = isGitTree(fact, use) && !gitReads(fact)
  const access = use.access === 'write' || works ? 'write' : 'read'
  const subject: PartSubject = { kind: access, text, span: use.span }
  if (use.path === null) return [unknowable(scene, subject, 'the path is only known when it runs')]
  const { policy } = scene
  const aimed = use.glob ? aimOfGlob(scene, access, use.path) : null
  const name = fact.argv[0]?.values?.[0] ?? ''
  const states = STATTING.has(name) || gitNamesOnly(fact, policy.root, scene.stance.mode.value === 'contained')
  const looks = use.access === 'read' && (states ? 'metadata' : LOOKING.has(name) && 'names')
  const started = use.access === 'execute' && isLinkedProgram(scene, use.path)
  return [
    pathPart(scene, access, aimed ?? literalPart(use), text, subject, {
      climbs: use.written !== 'absolute' && !started,
      looks: started ? 'names' : looks,
      named,
    }),
  ]
}

/** A denied path at which a pattern aims. */
function aimOfGlob({ policy, session }: Scene, access: 'read' | 'write', path: string): string | null {
  const rules = (access === 'write' ? policy.writes : policy.reads).deny.map((rule) => rule.pattern)
  const denied = deniedOfGlob(path, rules)
  if (denied !== null || access === 'read') return denied ?? secretOfGlob(path, policy.home)
  return protectedOfGlob(path, { ...session.own, root: policy.root, home: policy.home })
}

/**
 * `.venv/bin/python`, a link of the project to the program of the same name. Starting it shows
 * nothing. Under another name a denied program would not be recognised.
 */
function isLinkedProgram({ policy, shell }: Scene, path: string): boolean {
  if (path.length > LONGEST_NAME || !isInside(path, policy.root)) return false
  const [name, program] = [posix.basename(path), posix.basename(shell.canonical(path))]
  return program.startsWith(name) && /^[\d.]*$/.test(program.slice(name.length))
}

function pathPart(
  { policy, session, stance, shell, carried, sends }: Scene,
  access: 'read' | 'write',
  absolute: string,
  given: string,
  subject: PartSubject,
  { named = null, climbs = false, looks = false }: Pick<PathActor, 'climbs' | 'looks'> & Pick<PathScene, 'named'> = {},
): PartQuestions {
  if (isProcessPath(absolute)) {
    const asks = policy.outsideRoots.value === 'ask'
    const message = `${given} names files outside the project through another process`
    const ruling = {
      ...deny('outside-roots', `${message}.`, 'Name the file by its own path.'),
      rules: [ref(policy.outsideRoots)],
    }
    return always({ ...subject, kind: access }, asks ? { ...ruling, decision: 'ask' } : ruling)
  }
  // The kernel opens no longer name, so there is not a link in it to follow.
  const path = absolute.length > LONGEST_NAME ? absolute : shell.canonical(absolute)
  return pathQuestions({
    policy,
    session,
    stance,
    access,
    fact: { given, path },
    carried,
    named,
    actor: { by: 'command', sends, climbs, looks, subject },
  })
}

// The path for a message: relative if it lies in the project, as bash will see it.
function shown({ policy }: Scene, path: string): string {
  return path.startsWith(`${policy.root}/`) ? path.slice(policy.root.length + 1) : path
}

// A glob matches names below its literal directory, so that directory is judged.
function literalPart(use: PathUse): string {
  const path = use.path!
  if (!use.glob) return path
  const segments = path.split('/')
  const end = segments.findIndex((segment) => isGlob(segment) || /[[\\]/.test(segment))
  if (end < 0) return path
  const literal = segments.slice(0, end).join('/') || '/'
  // `.*` matches `..` in older shells: what lies behind it is above the directory.
  const climbs = segments.slice(end).some((segment, index, rest) => {
    const isParent = use.access === 'write' || index < rest.length - 1
    return isParent && segment.startsWith('.') && matchSegment(segment.replace(/\[[^\]]*\]/g, '?'), '..')
  })
  return climbs ? posix.dirname(literal) : literal
}
