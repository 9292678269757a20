/** Judges keys of git configuration by the allowlist: for command lines and for files, with one table. */

import { parseHost } from '../hosts/host.ts'
import { words } from './glob.ts'

/** The context for judging the value of a key. */
export interface GitKeyFacts {
  /** Whether a person granted this host, or it was known to the repository before. */
  readonly isKnownHost: (host: string) => boolean
  /** Whether `core.worktree` with this value points to a folder of the roots. */
  readonly isOwnFolder: (value: string) => boolean
}

const NOTHING_KNOWN: GitKeyFacts = { isKnownHost: () => false, isOwnFolder: () => false }

/**
 * Whether a setting does only what its name says: it runs no program, loads no configuration,
 * trusts nobody, and sends or takes nothing elsewhere. The key is as git prints it
 * (`section.Sub.name`); the section and the last name ignore case. An unknown value counts as the
 * worst.
 */
export function isHarmlessGitKey(key: string, value?: string, facts: GitKeyFacts = NOTHING_KNOWN): boolean {
  const rule = gitValueRule(key)
  if (rule === null) return false
  return value === undefined ? rule === 'text' : isHarmlessValue(rule, value, facts)
}

export function gitValueRule(key: string): GitValueRule | null {
  const first = key.indexOf('.')
  const last = key.lastIndexOf('.')
  if (first <= 0 || last === key.length - 1) return null
  const section = key.slice(0, first).toLowerCase()
  const name = key.slice(last + 1).toLowerCase()
  const subsection = first === last ? null : key.slice(first + 1, last)
  const names = table()
  if (subsection === null) return names.get(`${section}.${name}`) ?? names.get(`${section}.*`) ?? null
  return (
    names.get(`${section}.*.${name}`) ??
    names.get(`${section}.*.*`) ??
    names.get(`${section}.${subsection.toLowerCase()}.*`) ??
    null
  )
}

/** The host that an address of git points to, null for a local path, undefined for what runs a program or cannot be known. */
export function gitAddressHost(address: string): string | null | undefined {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
  if (address === '' || /[\u0000-\u001f\u007f]/.test(address) || /^\s*-/.test(address)) return undefined
  // `ext::sh -c …`, `fd::3`, `hg::…`: a transport is a program.
  if (/^\s*[a-z0-9+.-]*::/i.test(address)) return undefined
  const url = /^([a-z][a-z0-9+.-]*):\/\/([^/?#]*)/i.exec(address)
  if (url !== null) return hostOfUrl(url[1]!.toLowerCase(), url[2]!)
  // `host:path`, unless a slash comes before the colon.
  const colon = address.indexOf(':')
  const slash = address.indexOf('/')
  if (colon >= 0 && (slash < 0 || colon < slash)) return bareHost(address.slice(0, colon))
  return null
}

const SCHEMES: ReadonlySet<string> = new Set(['http', 'https', 'ssh', 'git', 'git+ssh', 'ssh+git'])

function hostOfUrl(scheme: string, authority: string): string | null | undefined {
  if (scheme === 'file') return authority === '' || authority === 'localhost' ? null : undefined
  if (!SCHEMES.has(scheme)) return undefined
  // For ssh, git decodes an address before it looks for the host: `evil%2f@known` is a path on `evil`.
  if (!scheme.startsWith('http') && authority.includes('%')) return undefined
  return bareHost(authority.replace(/:\d*$/, ''))
}

function bareHost(authority: string): string | undefined {
  // git takes a host in brackets before the @: `[evil]@known` is `evil`.
  if (/[[\]\\]/.test(authority)) return undefined
  const host = authority.slice(authority.lastIndexOf('@') + 1)
  if (host === '' || host.startsWith('-')) return undefined
  const parsed = parseHost(host.toLowerCase())
  return 'problem' in parsed ? undefined : parsed.host
}

/** The table and the granted hosts as lines for the init: `PATTERN<TAB>RULE`, then `host<TAB>NAME` (`*`, `*.example.com`, `example.com`). */
export function gitKeyLines(hosts: readonly string[]): readonly string[] {
  return [...harmlessGitKeys.map(([pattern, rule]) => `${pattern}\t${rule}`), ...hosts.map((host) => `host\t${host}`)]
}

/** Whether a granted host covers this one: `*` is every host, `*.example.com` every host below that name. */
export function isGrantedHost(granted: readonly string[], host: string): boolean {
  return granted.some((pattern) => {
    if (pattern === '*') return true
    return pattern.startsWith('*.') ? host.endsWith(pattern.slice(1)) : host === pattern
  })
}

function isHarmlessValue(rule: GitValueRule, value: string, facts: GitKeyFacts): boolean {
  switch (rule) {
    case 'text':
      // biome-ignore lint/suspicious/noControlCharactersInRegex: what a terminal obeys is not text.
      return !/[\u0000-\u0008\u000b-\u001f\u007f]/.test(value)
    case 'bool':
      return SWITCHES.has(value.toLowerCase())
    case 'word':
      return WORD.test(value)
    case 'inside':
      return WORD.test(value) && !value.startsWith('/') && !value.split('/').includes('..')
    case 'remote':
      return /^(?:\.|\w[\w.-]*)$/.test(value) && !value.includes('..')
    case 'url': {
      const host = gitAddressHost(value)
      return host === null || (host !== undefined && facts.isKnownHost(host))
    }
    case 'worktree':
      // Older versions of git take a tab in a value for a blank.
      // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused.
      return !/[\u0000-\u001f]/.test(value) && facts.isOwnFolder(value)
    case 'quiet':
      return QUIET.has(value)
  }
}

const WORD = /^(?!-)[\w./:+,@=%-]*$/
const SWITCHES: ReadonlySet<string> = new Set(['', 'true', 'false', 'yes', 'no', 'on', 'off', '0', '1'])
const QUIET: ReadonlySet<string> = new Set(['', 'cat', 'true', 'false', ':'])

let byPattern: ReadonlyMap<string, GitValueRule> | null = null

/** The parsed table; built on first use, because not every start needs it. */
function table(): ReadonlyMap<string, GitValueRule> {
  byPattern ??= new Map(harmlessGitKeys)
  return byPattern
}

/**
 * Which values of a key are harmless. Data, so that the init can use the same table: `text`
 * anything without control characters; `bool` a plain switch; `word` letters, digits and
 * `._/:+,@=%-`; `remote` the name of a remote (no address, no path); `url` an address on a granted
 * or known host, or a local path; `worktree` a folder of the roots; `inside` a path further down
 * (no `..`, no leading slash); `quiet` one of the programs that show or accept a text unchanged
 * (`cat`, `true`, `:`).
 */
type GitValueRule = 'text' | 'bool' | 'word' | 'remote' | 'url' | 'worktree' | 'inside' | 'quiet'

/**
 * `section.name`, `section.*` (any name), `section.*.name` (any subsection), `section.*.*`; lower
 * case. An unlisted key may make git run a program, load more configuration, trust somebody, or
 * transfer code or credentials.
 */
export const harmlessGitKeys: readonly (readonly [pattern: string, rule: GitValueRule])[] = [
  ...keys(
    'bool',
    'core',
    words(`
      bare filemode ignorecase precomposeunicode symlinks trustctime quotepath preloadindex
      fsyncobjectfiles sparsecheckout sparsecheckoutcone multipackindex commitgraph
      warnambiguousrefs splitindex longpaths fscache usereplacerefs`),
  ),
  ...keys(
    'word',
    'core',
    words(`
      repositoryformatversion logallrefupdates autocrlf eol safecrlf abbrev compression
      loosecompression bigfilethreshold untrackedcache checkstat createobject packedgitlimit
      packedgitwindowsize deltabasecachelimit packedrefstimeout filesreflocktimeout fsync
      fsyncmethod hidedotfiles checkroundtripencoding notesref`),
  ),
  ...keys('text', 'core', ['whitespace', 'commentchar', 'commentstring']),
  ['core.worktree', 'worktree'],
  // `true` is git's own daemon, `false` disables it.
  ['core.fsmonitor', 'bool'],
  ['core.pager', 'quiet'],
  ['core.editor', 'quiet'],
  ['sequence.editor', 'quiet'],
  ['pager.*', 'bool'],
  ...keys('text', 'user', ['name', 'email', 'signingkey']),
  ['user.useconfigonly', 'bool'],
  ['author.*', 'text'],
  ['committer.*', 'text'],
  ...keys('remote', 'branch.*', ['remote']),
  ['branch.*.merge', 'text'],
  ...keys('word', 'branch.*', ['rebase', 'gh-merge-base', 'vscode-merge-base', 'base']),
  ['branch.*.description', 'text'],
  ...keys('word', 'branch', ['autosetupmerge', 'autosetuprebase', 'sort']),
  ['remote.*.url', 'url'],
  ['remote.*.fetch', 'text'],
  ...keys('word', 'remote.*', ['tagopt', 'partialclonefilter', 'gh-resolved', 'followremotehead']),
  ...keys('bool', 'remote.*', ['prune', 'prunetags', 'skipdefaultupdate', 'skipfetchall', 'promisor']),
  ['submodule.*.url', 'url'],
  ['submodule.*.update', 'word'],
  ['submodule.*.branch', 'word'],
  ['submodule.*.ignore', 'word'],
  ...keys('bool', 'submodule.*', ['active', 'fetchrecursesubmodules', 'shallow']),
  ['submodule.active', 'text'],
  ['submodule.recurse', 'bool'],
  ...keys('word', 'submodule', ['fetchjobs', 'alternatelocation', 'alternateerrorstrategy']),
  ...keys('word', 'extensions', ['objectformat', 'compatobjectformat']),
  // Behind a colon it takes a path.
  ['extensions.refstorage', 'remote'],
  ...keys('bool', 'extensions', ['worktreeconfig', 'noop', 'preciousobjects', 'relativeworktrees']),
  ['extensions.partialclone', 'remote'],
  ['init.defaultbranch', 'word'],
  ['init.defaultobjectformat', 'word'],
  ...keys('word', 'pull', ['rebase', 'ff']),
  ...keys('word', 'push', ['default', 'recursesubmodules', 'gpgsign']),
  ...keys('bool', 'push', ['autosetupremote', 'followtags', 'useforceifincludes', 'negotiate']),
  ...keys('bool', 'fetch', ['prune', 'prunetags', 'all', 'writecommitgraph', 'showforcedupdates', 'fsckobjects']),
  ...keys('word', 'fetch', ['recursesubmodules', 'parallel', 'unpacklimit', 'negotiationalgorithm', 'output']),
  ...keys('bool', 'transfer', ['fsckobjects', 'advertisesid']),
  ['transfer.unpacklimit', 'word'],
  ...keys('word', 'http', ['postbuffer', 'lowspeedlimit', 'lowspeedtime', 'maxrequests', 'version']),
  ...keys('word', 'merge', ['conflictstyle', 'ff', 'log', 'renamelimit', 'renames', 'directoryrenames', 'stat']),
  ...keys('bool', 'merge', ['autostash', 'branchdesc', 'renormalize', 'verifysignatures', 'suppressdest']),
  ['merge.verbosity', 'word'],
  ['merge.*.name', 'text'],
  ...keys(
    'word',
    'diff',
    words(`
      algorithm renames renamelimit colormoved colormovedws context interhunkcontext
      indentheuristic submodule statgraphwidth statnamewidth ignoresubmodules dirstat
      wserrorhighlight`),
  ),
  ...keys('bool', 'diff', [
    'mnemonicprefix',
    'noprefix',
    'relative',
    'suppressblankempty',
    'autorefreshindex',
    'noindex',
  ]),
  ...keys('text', 'diff.*', ['xfuncname', 'funcname', 'wordregex']),
  ...keys('bool', 'diff.*', ['binary', 'cachetextconv']),
  ['diff.*.algorithm', 'word'],
  ['color.*', 'text'],
  ['color.*.*', 'text'],
  ['column.*', 'text'],
  ['status.*', 'word'],
  ['advice.*', 'bool'],
  ...keys(
    'word',
    'log',
    words(`
      abbrevcommit date decorate follow showroot showsignature mailmap diffmerges`),
  ),
  ...keys('word', 'blame', ['blankboundary', 'coloring', 'date', 'showemail', 'showroot']),
  ['blame.ignorerevsfile', 'inside'],
  ...keys('bool', 'commit', ['gpgsign', 'status']),
  ...keys('word', 'commit', ['verbose', 'cleanup']),
  ['commit.template', 'inside'],
  ...keys('word', 'tag', ['gpgsign', 'forcesignannotated', 'sort']),
  ['gpg.format', 'word'],
  ...keys('bool', 'rebase', [
    'autosquash',
    'autostash',
    'updaterefs',
    'stat',
    'abbreviatecommands',
    'rebasemerges',
    'forkpoint',
  ]),
  ...keys('word', 'rebase', ['backend', 'missingcommitscheck']),
  ['rerere.*', 'bool'],
  ['stash.*', 'bool'],
  ['apply.*', 'word'],
  ['am.*', 'bool'],
  ['add.*', 'bool'],
  ...keys('bool', 'checkout', ['guess']),
  ['checkout.defaultremote', 'remote'],
  ['checkout.workers', 'word'],
  ...keys('word', 'clone', ['defaultremotename', 'rejectshallow', 'filtersubmodules']),
  ['worktree.*', 'bool'],
  ['grep.*', 'word'],
  ['i18n.*', 'word'],
  ['index.*', 'word'],
  ['feature.*', 'bool'],
  ['interactive.singlekey', 'bool'],
  ...keys(
    'word',
    'gc',
    words(`
      auto autodetach autopacklimit packrefs writecommitgraph aggressivedepth aggressivewindow
      bigpackthreshold`),
  ),
  ...keys('word', 'maintenance', ['auto', 'autodetach', 'strategy']),
  ...keys('word', 'maintenance.*', ['enabled', 'schedule', 'auto']),
  ...keys(
    'word',
    'pack',
    words(`
      threads window windowmemory depth compression indexversion packsizelimit usebitmaps
      usesparse writebitmaphashcache writebitmaplookuptable writereverseindex allowpackreuse
      deltacachesize`),
  ),
  ['repack.*', 'word'],
  ['commitgraph.*', 'word'],
  ['splitindex.*', 'word'],
  ['protocol.version', 'word'],
  ['fsck.*', 'word'],
  ['fsck.skiplist', 'inside'],
  ['versionsort.*', 'text'],
  ...keys(
    'word',
    'receive',
    words(`
      denycurrentbranch denydeletes denynonfastforwards denydeletecurrent autogc updateserverinfo
      fsckobjects unpacklimit advertiseatomic`),
  ),
  ...keys('bool', 'uploadpack', [
    'allowfilter',
    'allowanysha1inwant',
    'allowtipsha1inwant',
    'allowreachablesha1inwant',
    'allowrefinwant',
    'advertisesid',
  ]),
  ['uploadarchive.*', 'bool'],
  ['notes.*', 'word'],
  ['lfs.repositoryformatversion', 'word'],
  ['lfs.*.access', 'word'],
  ['lfs.*.locksverify', 'bool'],
  ...keys('bool', 'lfs', ['locksverify', 'allowincompletepush', 'skipdownloaderrors']),
  ['gitflow.branch.*', 'word'],
  ['gitflow.prefix.*', 'word'],
]

function keys(rule: GitValueRule, section: string, names: readonly string[]): (readonly [string, GitValueRule])[] {
  return names.map((name) => [`${section}.${name}`, rule] as const)
}
