/** Decides one path of a call: deny rules, protected paths, the envelope and the roots before any grant. */

import { isBaselineRead, isInside, isPrivateTmp, isSandboxDevice } from '../files/baseline.ts'
import { coversPath, literalPrefix, namesPath, reachesPath } from '../files/path-pattern.ts'
import { protectedPath } from '../files/protected-paths.ts'
import { openedByGrant, secretOf } from '../files/secret-shapes.ts'
import type { PathFact, SessionFacts } from './call.ts'
import type { PartSubject } from './decision.ts'
import type { PartQuestions } from './order.ts'
import { type PathRule, type Policy, type RuleRef, ref } from './policy.ts'
import type { Ruling, Stance } from './stance.ts'

type PathAccess = 'read' | 'write' | 'list'

/** The actor: a file tool, or a command in the sandbox, with the baseline and a private /tmp. */
export interface PathActor {
  readonly by: 'tool' | 'command'
  /** A relative word that climbs out of the project does not count as naming a system file. */
  readonly climbs?: boolean
  /** A command that only checks names and metadata (`ls`, `stat`, `test`). */
  readonly looks?: 'names' | 'metadata' | false
  /** Whether it could send what it reads. */
  readonly sends?: () => boolean
  readonly subject?: Pick<PartSubject, 'text' | 'span'>
}

/** One path, its actor and access, and everything needed to judge it. */
export interface PathScene {
  readonly policy: Policy
  readonly session: SessionFacts
  readonly stance: Stance
  readonly access: PathAccess
  readonly fact: PathFact
  readonly actor: PathActor
  /** Grants that a command brings along for itself. */
  readonly carried?: readonly PathRule[]
  /** The file that the grant of the command names for it alone. */
  readonly named?: PathRule | null
}

/** The four questions of P0 about a path. */
export function pathQuestions(scene: PathScene): PartQuestions {
  const { access, fact, actor } = scene
  const { text = fact.given, span } = actor.subject ?? {}
  return {
    subject: { kind: access, text, ...(span && { span }), ...labelled(scene) },
    denial: () =>
      ruleDenial(scene) ??
      ownPlaceDenial(scene) ??
      envelopeDenial(scene) ??
      namedRuling(scene) ??
      baselineRuling(scene) ??
      lookRuling(scene) ??
      outsideRuling(scene) ??
      secretRuling(scene) ??
      repositoryRuling(scene),
    grant: () => grantRuling(scene) ?? nearbyRuling(scene),
    explicit: () => explicitLevel(scene),
    otherwise: () => fallback(scene),
  }
}

/** What a read shows that is not the project's own. */
function labelled({ policy, session, access, fact, actor, named }: PathScene): Pick<PartSubject, 'label'> {
  if (access !== 'read' || actor.looks === 'metadata' || named?.pattern.absolute === fact.path) return {}
  const isSecret = policy.maskSecrets && namesOf(fact).some((path) => secretOf(path, policy) !== null)
  if (isSecret && !session.isShown?.(fact.path)) return { label: 'secret' }
  if (isInsideRoots(policy, session, fact.path)) return {}
  const isTemporary = actor.by === 'command' && (isSandboxDevice(fact.path) || isPrivateTmp(fact.path))
  if (isTemporary || isBaselineRead(fact.path)) return {}
  // What the signed manifest shows to every command is as the project's own, and so are the session's own files.
  const own = session.grants.reads.filter(({ source }) => source === 'session')
  if ([...policy.reads.allow, ...own].some(({ pattern }) => coversPath(pattern, fact.path))) return {}
  const near = session.nearby?.(fact.path)?.value
  return near === 'packages' ? {} : { label: near === 'repositories' ? 'neighbour' : 'outside' }
}

/** True when the path lies in the project, an additional directory, or one that an answer added. */
export function isInsideRoots(policy: Policy, session: SessionFacts, path: string): boolean {
  return (
    isInside(path, policy.root) ||
    policy.additionalDirectories.some((directory) => isInside(path, directory.value)) ||
    session.roots.some((root) => isInside(path, root))
  )
}

/** Places whose files outlive a command: the roots, and the write grants. */
export function keptPlaces(policy: Policy, session: SessionFacts): readonly string[] {
  const granted = [...policy.writes.allow, ...session.grants.writes].map(({ pattern }) => literalPrefix(pattern))
  const roots = [policy.root, ...policy.additionalDirectories.map(({ value }) => value), ...session.roots]
  return [...new Set([...roots, ...granted.filter((place) => !isInside(place, policy.root))])]
}

function grantOf({ policy, session, access, fact, carried = [] }: PathScene): PathRule | null {
  const written = access === 'write' ? policy.writes : policy.reads
  const saved = access === 'write' ? session.grants.writes : session.grants.reads
  const covers = (rule: PathRule): boolean => coversPath(rule.pattern, fact.path)
  const covering = [...written.allow.filter(covers), ...saved.filter(covers), ...carried.filter(covers)]
  // The narrower answer of two grants: one that does not prompt was given on purpose for these files.
  const silent = covering.filter((rule) => !rule.prompt)
  return mostSpecific(silent.length > 0 ? silent : covering)
}

/** The rule whose path is written out furthest: `"**"` does not open what `".env"` opens. */
function mostSpecific(rules: readonly PathRule[]): PathRule | null {
  const length = ({ pattern }: PathRule): number => literalPrefix(pattern).length + (pattern.files === null ? 0 : 1)
  return rules.reduce<PathRule | null>((best, rule) => (best && length(best) >= length(rule) ? best : rule), null)
}

/** The path as the kernel resolves it, and as it was written. */
function namesOf({ path, written }: PathFact): readonly string[] {
  return written === undefined ? [path] : [path, written]
}

/** The same, with the hidden file that it is by a hard link: for commands the sandbox hides that. */
function namesToRead({ session, access, fact, actor }: PathScene): readonly string[] {
  const hidden = access === 'read' && actor.by !== 'command' ? (session.hiddenName?.(fact.path) ?? null) : null
  return hidden === null ? namesOf(fact) : [...namesOf(fact), hidden]
}

function ruleDenial(scene: PathScene): Ruling | null {
  const { policy, session, access, fact } = scene
  const rules = access === 'write' ? policy.writes.deny : policy.reads.deny
  if (rules.length === 0) return null
  // A denial in a project also applies in its working trees and clones.
  const names = namesToRead(scene).flatMap((path) => [path, session.repository?.originalOf(path) ?? path])
  // A rule that names a link denies its target under that name; the sandbox hides it under every
  // name.
  const found = rules.filter((candidate) => names.some((path) => reachesPath(candidate.pattern, path)))
  const rule = found.find(({ asks }) => !asks) ?? found[0]
  if (!rule) return null
  if (rule.asks) {
    const message = `${verb(access)} ${fact.given}asks because of the rule ${wholeRule(rule)}, at ${rule.source}.`
    return { decision: 'ask', firm: true, reason: { code: 'rule-asks', message }, rules: [ref(rule)] }
  }
  return {
    decision: 'deny',
    reason: {
      code: 'denied-by-rule',
      message: `${verb(access)} ${fact.given} is denied by the rule ${wholeRule(rule)}.`,
      remedy: `Work without this file; the rule is at ${rule.source}.`,
    },
    rules: [ref(rule)],
  }
}

/** A rule as it is meant: the names that narrow its path are part of it. */
function wholeRule({ pattern: { text, files } }: PathRule): string {
  if (files === null) return JSON.stringify(text)
  return `{ path = ${JSON.stringify(text)}, files = [${files.map((file) => JSON.stringify(file)).join(', ')}] }`
}

function ownPlaceDenial({ policy, session, access, fact, actor }: PathScene): Ruling | null {
  const facts = { ...session.own, root: policy.root, home: policy.home }
  const named = protectedPath(fact.path, facts)
  const found =
    named ??
    (fact.written === undefined ? null : protectedPath(fact.written, facts)) ??
    (fact.gitInternal ? { reason: fact.gitInternal, unreadable: false, asks: false } : null)
  if (!found) return null
  const closed = access === 'write' || found.unreadable
  const opener = policy.writes.allow.find(
    (rule) => namesPath(rule.pattern, fact.path) && rule.pattern.absolute === fact.path,
  )
  if (!closed || (opener && !found.unreadable)) return null
  // Nobody can be asked while a command runs, so the broker refuses the change there.
  if (found.asks && actor.by !== 'command') {
    const message = `${fact.given} is protected: ${found.reason}.`
    return { decision: 'ask', firm: true, reason: { code: 'protected-path', message }, rules: [PROTECTED_RULE] }
  }
  return {
    decision: 'deny',
    reason: {
      code: 'protected-path',
      message: `${fact.given} is protected: ${found.reason}.`,
      remedy: found.unreadable
        ? 'Nothing opens it to an agent.'
        : 'Tell the user what to change there, or let them name this very path under [capabilities.allow.write].',
    },
    rules: [PROTECTED_RULE],
  }
}

const PROTECTED_RULE = { rule: 'protected paths', source: 'built-in' } as const

function envelopeDenial({ policy, session, access, fact }: PathScene): Ruling | null {
  if (access !== 'write' || policy.envelope === null) return null
  const rules = [...policy.envelope, ...session.envelope]
  if (rules.some((rule) => coversPath(rule.pattern, fact.path))) return null
  return {
    decision: 'deny',
    reason: {
      code: 'outside-envelope',
      message: `${fact.given} is outside the change envelope of this session.`,
      remedy: `Only these may be written: ${rules.map(wholeRule).join(', ') || 'nothing'}. Ask the user to widen [files] change_envelope if this file must change.`,
    },
    rules:
      policy.envelope.length > 0 ? policy.envelope.map(ref) : [{ rule: 'files.change_envelope', source: 'manifest' }],
  }
}

// Not a denial, but it is before the roots: what every sandbox shows is not "outside" for a command.
function baselineRuling({ policy, session, stance, access, fact, actor }: PathScene): Ruling | null {
  if (actor.by !== 'command') return null
  const shown =
    isSandboxDevice(fact.path) ||
    (access !== 'write' && !actor.climbs && isBaselineRead(fact.path) && !secretOf(fact.path, policy))
  // A home below /tmp is a home: naming it means its contents, not the empty folder in the sandbox.
  const own =
    stance.mode.value === 'contained' &&
    isPrivateTmp(fact.path) &&
    !isInsideRoots(policy, session, fact.path) &&
    !isInside(fact.path, policy.home) &&
    !(access === 'write' && isInside(policy.home, fact.path))
  if (!shown && !own) return null
  const message = shown
    ? `${fact.path} is part of what the sandbox shows every command.`
    : `${fact.path} is in the sandbox’s own temporary folder, which is gone when the command ends.`
  return { decision: 'allow', reason: { code: 'baseline', message }, rules: [] }
}

// Before the roots and the secrets: the grant was given for this very file.
function namedRuling({ access, fact, named }: PathScene): Ruling | null {
  if (!named || access !== 'read' || named.pattern.absolute !== fact.path) return null
  return {
    decision: 'allow',
    reason: { code: 'named-by-grant', message: `The grant of this command names ${fact.given}.` },
    rules: [ref(named)],
  }
}

// P10: asking about a listing buys nothing. The sandbox does not show the place, and a read of it still asks.
function lookRuling(scene: PathScene): Ruling | null {
  const { policy, session, stance, fact, actor } = scene
  if (!actor.looks || stance.mode.value !== 'contained' || isInsideRoots(policy, session, fact.path)) return null
  if (nearbyRuling(scene)) return null
  return {
    decision: 'allow',
    reason: {
      code: 'contained',
      message: `${fact.given} is outside the project: it does not exist inside the sandbox.`,
    },
    rules: [ref(stance.mode)],
  }
}

function outsideRuling(scene: PathScene): Ruling | null {
  const { policy, session, fact } = scene
  if (isInsideRoots(policy, session, fact.path) || grantOf(scene) || nearbyRuling(scene)) return null
  const asks = policy.outsideRoots.value === 'ask'
  // That it is a secret says more than where it is, and is not answered by a mode that answers questions.
  const secret = asks ? secretRuling(scene) : null
  if (secret) return secret
  const resolved = fact.path === fact.given ? '' : ` (${fact.path})`
  return {
    decision: asks ? 'ask' : 'deny',
    reason: {
      code: 'outside-roots',
      message: `${fact.given}${resolved} is outside the project ${policy.root} and the granted directories.`,
      remedy: asks
        ? 'A yes adds its directory to this session.'
        : `Stay inside ${policy.root}, or ask the user to add the directory under [capabilities.allow] additional_directories.`,
    },
    rules: [ref(policy.outsideRoots)],
  }
}

function secretRuling(scene: PathScene): Ruling | null {
  const { policy, session, access, fact, actor } = scene
  // Only deny rules cover metadata (F2).
  if (access !== 'read' || actor.looks === 'metadata' || !policy.maskSecrets) return null
  // A link with a secret's name makes its target a secret, as for the masks.
  const secrets = namesToRead(scene).flatMap((path) => {
    const secret = secretOf(path, policy)
    if (secret === null) return []
    const grants = [...policy.reads.allow, ...session.grants.reads].map((rule) => rule.pattern)
    return openedByGrant(path, grants, policy) ? [] : [{ ...secret, path }]
  })
  const [secret] = secrets
  if (!secret && actor.by !== 'command' && GIT_CONFIG.test(fact.path)) return credentialRuling(policy, session, fact)
  const place = isInsideRoots(policy, session, fact.path) ? '' : `, is outside the project ${policy.root}`
  if (!secret || (secrets.every(({ kind }) => kind === 'name') && session.isShown?.(fact.path))) return null
  return {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'secret',
      message: `${fact.given} looks like a ${PRIVATE_KEY.test(secret.shape) ? 'private key' : 'secret'} (${secret.shape})${place}, and no grant names it.`,
      remedy: `Work without it, or ask the user to grant it by name: paths = [{ path = ".", files = ["${secret.path.split('/').at(-1)}"] }] under [capabilities.allow.read].`,
    },
    rules: [{ rule: 'sandbox.os.command_mask_secrets', source: 'built-in' }],
  }
}

const GIT_CONFIG = /\/\.git\/(?:.+\/)?config(?:\.worktree)?$/i

/** Commands see git's configuration without its credentials; other readers would see them. */
function credentialRuling(policy: Policy, session: SessionFacts, fact: PathFact): Ruling | null {
  const grants = [...policy.reads.allow, ...session.grants.reads].map((rule) => rule.pattern)
  if (session.isShown?.(fact.path, 'configuration') !== false || grants.some(({ absolute }) => absolute === fact.path))
    return null
  return {
    decision: 'ask',
    firm: true,
    reason: {
      code: 'secret',
      message: `${fact.given} contains a credential, and no grant names it.`,
      remedy:
        'Use a git command such as `git remote -v`: commands see it without the credential. The user can also grant the file by name.',
    },
    rules: [{ rule: 'sandbox.os.command_mask_secrets', source: 'built-in' }],
  }
}

/** Shapes of secrets that hold a private key. */
const PRIVATE_KEY =
  /^(?:~\/)?\.(?:ssh|gnupg)(?:\/|$)|^id_|_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:key|pem|p12|pfx|p8|jks|keystore|ppk|kdbx)$/

/** What of a repository is its history: references, logs, objects, the index. */
const HISTORY =
  /\/\.git(?:$|\/(?:HEAD|ORIG_HEAD|FETCH_HEAD|index|packed-refs|refs|logs|objects|worktrees|modules|rebase-\w+|stash)(?:\/|$))/

// P10: other writers than git can destroy references, logs and objects. Undo would restore them,
// but a person with a broken repository does not think of a command from an hour ago.
function repositoryRuling({ policy, session, stance, access, fact, actor }: PathScene): Ruling | null {
  if (access !== 'write' || actor.by !== 'command' || stance.mode.value !== 'contained') return null
  if (!HISTORY.test(fact.path) || fact.path.endsWith('.lock') || !isInsideRoots(policy, session, fact.path)) return null
  return {
    decision: 'ask',
    reason: {
      code: 'destructive',
      message: `${fact.given} belongs to git itself: changing it by hand loses history.`,
      remedy: 'Use a git command, or say why it is needed; the user decides.',
    },
    rules: [ref(stance.mode)],
  }
}

function grantRuling(scene: PathScene): Ruling | null {
  const { access, fact } = scene
  const rule = grantOf(scene)
  if (!rule) return null
  if (!rule.prompt) {
    return {
      decision: 'allow',
      reason: { code: 'granted', message: `${wholeRule(rule)} covers ${fact.given}.` },
      rules: [ref(rule)],
    }
  }
  return {
    decision: 'ask',
    reason: {
      code: 'grant-prompts',
      message: `${wholeRule(rule)} covers ${fact.given} and says prompt = true for ${access === 'write' ? 'writes' : 'reads'}.`,
    },
    rules: [ref(rule)],
  }
}

/** The rule that shows a place near the project to a call that reads it; null where none does. */
export function nearbyRule(session: SessionFacts, path: string, sends: () => boolean): RuleRef | null {
  const found = session.nearby?.(path) ?? null
  if (found === null) return null
  // Packages are public. A repository is not, for a text that could send it or a tainted session.
  return found.value !== 'packages' && (session.labels?.has('instructions') || sends()) ? null : ref(found)
}

function nearbyRuling({ session, access, fact, actor }: PathScene): Ruling | null {
  const rule = access === 'write' ? null : nearbyRule(session, fact.path, actor.sends ?? (() => false))
  if (rule === null) return null
  return {
    decision: 'allow',
    reason: { code: 'nearby', message: `${fact.given} is ordinary source near the project, shown to this call.` },
    rules: [rule],
  }
}

// A command's own level asks once for the command, not for each file; only denials cover metadata.
function explicitLevel({ stance, access, actor }: PathScene): Ruling | null {
  // A tool that does more than list asks for that, not for the names that it lists.
  const besides = access === 'list' && stance.kind !== 'list' && stance.explicit?.decision === 'ask'
  if (actor.by === 'tool') return besides ? null : stance.explicit
  if (stance.explicit) return stance.explicit.decision === 'ask' ? null : stance.explicit
  if (stance.mode.value !== 'contained') return null
  return {
    decision: 'allow',
    reason: { code: 'contained', message: 'What stays inside the project runs without asking in contained mode.' },
    rules: [ref(stance.mode)],
  }
}

function fallback({ policy, stance, access, fact, actor }: PathScene): Ruling {
  const declared = access === 'write' ? policy.writes.declared : access === 'read' && policy.reads.declared
  if (declared && !(access === 'read' && !policy.promptReads.value)) {
    return {
      decision: 'ask',
      reason: {
        code: 'not-granted',
        message: `The manifest declares ${access} grants, and none covers ${fact.given}.`,
        remedy: `Grant it under [capabilities.allow.${access}] paths.`,
      },
      rules: [access === 'read' ? ref(policy.promptReads) : { rule: 'capabilities.allow.write', source: 'manifest' }],
    }
  }
  // A command's own level asks before the command, not once more for every file inside the roots.
  const level = actor.by === 'command' || access === 'list' ? 'allow' : stance.builtIn
  return {
    decision: level,
    reason: {
      code: level === 'allow' ? 'level-allow' : 'level-ask',
      message: `${verb(access)} inside the project is "${level}" unless the manifest says otherwise.`,
    },
    rules: [{ rule: `level of ${actor.by === 'command' ? access : stance.tool}`, source: 'built-in' }],
  }
}

function verb(access: PathAccess): string {
  return access === 'write' ? 'Writing' : access === 'read' ? 'Reading' : 'Listing'
}
