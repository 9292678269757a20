/** Commands whose doing is known from their words: they run no code but their own, so a host beside them stays with whom it is for. */

import type { CommandFact } from '../../shell/facts.ts'

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
/** Builtins that run what they are given, or the text of a file. */
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

/** Hazards of what a command does with files and checks, not of whose code it runs. */
const CODELESS: ReadonlySet<string> = new Set(['option-skips-checks', 'option-writes-file', 'option-sends-file'])

/** True when its words, or the variables before them, may make it run code of somebody else. */
export function mayRunOtherCode(fact: CommandFact): boolean {
  return fact.unwrapped === 'some' || fact.hazards.some((hazard) => !CODELESS.has(hazard.code))
}

/** False for scripts, interpreters, build tools, unknown programs, and anything with a setting that names a program. */
export function isReadable(fact: CommandFact): boolean {
  if (mayRunOtherCode(fact) || fact.resolves === 'unknown') return false
  // What it runs is listed beside it.
  if (fact.resolves === 'none' || fact.resolves === 'function' || fact.unwrapped === 'all') return true
  const name = fact.argv[0]?.values?.length === 1 ? fact.argv[0].values[0]! : null
  if (name === null) return false
  if (fact.resolves === 'builtin') return !RUNNING_BUILTINS.has(name)
  return PLAIN.has(name.replace(SYSTEM_FOLDER, '')) && fact.effect !== 'unknown'
}
