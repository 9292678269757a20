/** Paths that grants of commands add: `{ command = "backup:*", paths = ["~/backups/**"] }` (S3). */

import { exactPath } from '../../files/path-pattern.ts'
import type { CommandFact } from '../../shell/facts.ts'
import type { SessionFacts, ShellFact } from '../call.ts'
import type { CommandRule, PathRule, Policy } from '../policy.ts'
import { ELSEWHERE, grantsOf } from './command-grant.ts'

/** The union over every command of a text: they run in one sandbox. */
export function carriedPaths(policy: Policy, session: SessionFacts, shell: ShellFact): readonly PathRule[] {
  const carries = (rule: CommandRule): boolean => rule.paths.length > 0
  const some = policy.commands.allow.some(carries) || session.grants.commands.some(carries)
  if (!some || 'rejection' in shell.analysis) return []
  return pathsOfGrants(shell.analysis.facts.commands.flatMap((fact) => grantsOf(policy, session, fact) ?? []))
}

/** What some grants carry along, their own as rules. */
export function pathsOfGrants(grants: readonly CommandRule[]): readonly PathRule[] {
  return [...new Set(grants)].flatMap(({ paths, rule, source }) =>
    paths.map((pattern) => ({ pattern, prompt: false, rule: `${rule}.paths`, source })),
  )
}

/**
 * The key of a kind (`ssh -i KEY HOST reads:kind`), which its grant opens to that command alone.
 * The sandbox contains the file, so every other command of the text must run only known code.
 */
export function keyOfKind(fact: CommandFact, all: readonly CommandFact[]): string | null {
  const [, option, key] = fact.kind?.words ?? []
  return option === '-i' && key !== undefined && runsAmongKnown(fact, all) ? key : null
}

const CALM_OPTION = /^(?:BatchMode|ConnectTimeout|LogLevel|ServerAlive\w+|IdentitiesOnly|StrictHostKeyChecking)=/

/** The key that ssh logs in with, which it shows to nobody. */
export function keyOfLogin(fact: CommandFact, all: readonly CommandFact[]): string | null {
  const words = fact.argv.map(({ values }) => (values?.length === 1 ? values[0]! : ''))
  const isCalm = words.every((word, at) => words[at - 1] !== '-o' || CALM_OPTION.test(word))
  const isPlain = fact.hazards.every(
    ({ code }) => code === 'changes-remote' || code === ELSEWHERE || (code === 'wrapper-option' && isCalm),
  )
  const isLogin = /^(?:ssh|scp|sftp)$/.test(words[0] ?? '') && words.includes('-i') && isPlain
  return isLogin && runsAmongKnown(fact, all) ? (words[words.indexOf('-i') + 1] ?? null) : keyOfKind(fact, all)
}

function runsAmongKnown(fact: CommandFact, all: readonly CommandFact[]): boolean {
  const at = all.indexOf(fact)
  // Its remote command is part of the kind.
  const isBelow = ({ parent }: CommandFact): boolean =>
    parent !== null && (parent === at || (all[parent] !== undefined && isBelow(all[parent])))
  const others = all.filter((other, index) => index !== at && !isBelow(other))
  return others.every(isReadable)
}

/** The key that a command may read because a grant for such keys names it. */
export function grantedKey(
  policy: Policy,
  session: SessionFacts,
  fact: CommandFact,
  all: readonly CommandFact[],
): PathRule | null {
  const key = keyOfKind(fact, all)
  const grant = key === null ? undefined : grantsOf(policy, session, fact)?.[0]
  if (key === null || grant === undefined || !grant.pattern.kind) return null
  return { pattern: exactPath(key), prompt: false, rule: grant.rule, source: grant.source }
}

/** Programs of the system that take no code from the project. Whatever is not here may. */
const PLAIN: ReadonlySet<string> = new Set(
  [
    'arch b2sum base32 base64 basename bc bunzip2 bzcat bzip2 cal cat chgrp chmod chown cksum clear cmp column comm cp csplit curl cut date',
    'dc dd df diff diff3 dig dir dircolors dirname du egrep expand expr factor fd fdfind fgrep file find fmt fold free getconf getent gh git',
    'glab grep groups gunzip gzip head hexdump host hostid hostname id install join jq kill less link ln locale locate logname ls lsblk lscpu',
    'lsof lz4 lzma md5sum mkdir mkfifo mktemp more mv nl nproc nslookup numfmt od paste patch pathchk pgrep pidof ping pr printenv ps pwd',
    'readlink realpath rev rg rm rmdir sed awk gawk mawk seq sha1sum sha224sum sha256sum sha384sum sha512sum shasum shred shuf sleep sort split',
    'stat strings stty sum sync tac tail tar tee timeout touch tput tr tree truncate tsort tty uname unexpand uniq unlink unxz unzip unzstd',
    'uptime users vdir wc wget whereis which who whoami xxd xz xzcat yes yq zcat zgrep zip zipinfo zstd zstdcat',
  ].flatMap((line) => line.split(' ')),
)
const SYSTEM_FOLDER = /^\/(?:usr\/)?s?bin\//
/** Builtins that run their arguments, or the text of a file. */
const RUNNING_BUILTINS: ReadonlySet<string> = new Set([
  'eval',
  'source',
  '.',
  'exec',
  'trap',
  'command',
  'builtin',
  'enable',
])

/** Hazards about files and checks, not about whose code runs. */
const CODELESS: ReadonlySet<string> = new Set(['option-skips-checks', 'option-writes-file', 'option-sends-file'])

/** True when its words, or the variables before them, may make it run code of somebody else. */
export function mayRunOtherCode(fact: CommandFact): boolean {
  return fact.unwrapped === 'some' || fact.hazards.some((hazard) => !CODELESS.has(hazard.code))
}

/** False for scripts, interpreters, build tools, unknown programs, and anything with a setting that names a program. */
export function isReadable(fact: CommandFact): boolean {
  if (mayRunOtherCode(fact) || fact.resolves === 'unknown') return false
  // The commands that it runs are listed separately.
  if (fact.resolves === 'none' || fact.resolves === 'function' || fact.unwrapped === 'all') return true
  const name = fact.argv[0]?.values?.length === 1 ? fact.argv[0].values[0]! : null
  if (name === null) return false
  if (fact.resolves === 'builtin') return !RUNNING_BUILTINS.has(name)
  return PLAIN.has(name.replace(SYSTEM_FOLDER, '')) && fact.effect !== 'unknown'
}
