/**
 * Saved grants (P7): answers that apply to a session or for a time, listed, counted and revoked;
 * they never beat a deny.
 */

import { randomBytes } from 'node:crypto'
import { lstatSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { parseCommandPattern } from '../policy/command-pattern.ts'
import type { Policy } from '../policy/policy.ts'
import { sha256 } from '../system/addon.ts'
import { Fault } from '../system/fault.ts'
import { isRecord } from '../system/json.ts'
import { withLock } from '../system/lock.ts'
import { readPlainFile } from '../system/plain-file.ts'
import { openOwnDirectory, readOwnJson, writeOwnJson } from '../system/state.ts'
import { hasEffect } from './parse-answer.ts'
import { GRANT_KINDS } from './prompter.ts'
import type { Suggestion } from './suggestion.ts'

export interface SavedGrant {
  readonly id: string
  readonly project: string
  readonly kind: Suggestion['kind']
  readonly value: string
  readonly verdict: 'allow' | 'deny'
  /**
   * `session` ends with its session; `project` applies to every session and surface of the project
   * until it is revoked.
   */
  readonly scope: 'session' | 'time' | 'project'
  readonly session: string
  readonly created: number
  /** Milliseconds since the epoch; null for the whole session. */
  readonly expires: number | null
  readonly uses: number
  /** What it rests on beside its words (`answerBasis`); absent: nothing. */
  readonly basis?: readonly string[]
}

/** A project, and whether it is locked to what its signed manifest grants (`runtime_grants = false`). */
interface GrantProject {
  readonly root: string
  readonly policy: Pick<Policy, 'runtimeGrants'>
}

interface GrantFile {
  readonly version: 1
  /** Invalid entries are kept unchanged, and have no effect. */
  readonly grants: readonly unknown[]
}

const MAX_GRANTS = 1000

/** The saved grants of this user, in one owner-only file; every change is atomic and between processes. */
export class SavedGrants {
  readonly #file: string
  readonly #lock: string
  readonly #now: () => number
  #cached: { readonly version: string; readonly grants: readonly unknown[] } | null = null

  constructor(stateDir: string, now: () => number) {
    const directory = openOwnDirectory(stateDir)
    this.#file = join(directory, 'grants.json')
    this.#lock = join(directory, 'grants.lock')
    this.#now = now
  }

  /** Grants that apply now. */
  list(): readonly SavedGrant[] {
    return this.#read().filter((grant) => grant.expires === null || grant.expires > this.#now())
  }

  /** A sentence where entries of the file are not grants and were passed over; null where all are. */
  damage(): string | null {
    const bad = this.#entries().filter((entry) => !isGrant(entry)).length
    return bad === 0 ? null : `${bad} of the saved grants cannot be read and count for nothing: see ${this.#file}`
  }

  /** Grants that apply now to one project and session; of a locked project only denials. */
  forSession({ root, policy }: GrantProject, session: string): readonly SavedGrant[] {
    const locked = !policy.runtimeGrants.value
    return this.list().filter(
      (grant) =>
        grant.project === root &&
        (grant.scope !== 'session' || grant.session === session) &&
        (grant.verdict === 'deny' || (!locked && stillRests(grant.basis ?? [], grant, root))),
    )
  }

  add(grant: Omit<SavedGrant, 'id' | 'created' | 'uses' | 'basis'>): SavedGrant {
    const id = `g${this.#now().toString(36)}${randomBytes(4).toString('hex')}`
    const saved: SavedGrant = { ...grant, id, created: this.#now(), uses: 0 }
    if (!isGrant(saved))
      throw new Fault('bad-grant', `a grant cannot be saved as ${JSON.stringify(grant)}`, {
        remedy: 'Answer with one of the suggestions of the question.',
      })
    const basis = saved.verdict === 'allow' ? answerBasis(saved, saved.project) : []
    const kept = basis.length === 0 ? saved : { ...saved, basis }
    this.#change((grants) => {
      const next = [...grants, kept]
      // A denial is never dropped: the oldest yes is.
      const spare = next.length > MAX_GRANTS ? next.findIndex(({ verdict }) => verdict === 'allow') : -1
      return next.filter((_, at) => at !== spare)
    })
    return kept
  }

  countUse(id: string): void {
    this.#change((grants) => grants.map((grant) => (grant.id === id ? { ...grant, uses: grant.uses + 1 } : grant)))
  }

  /** Grants that nothing used since they were given, for at least this many days: kept for no reason that shows. */
  unused(days: number): readonly SavedGrant[] {
    const before = this.#now() - days * 86_400_000
    return this.list().filter((grant) => grant.verdict === 'allow' && grant.uses === 0 && grant.created <= before)
  }

  /** True when there was one. */
  revoke(id: string): boolean {
    let found = false
    this.#change((grants) =>
      grants.filter((grant) => {
        if (grant.id === id) found = true
        return grant.id !== id
      }),
    )
    return found
  }

  /** Drops what belonged to a session that has ended. */
  endSession(session: string): void {
    if (!this.#read().some((grant) => grant.scope === 'session' && grant.session === session)) return
    this.#change((grants) => grants.filter((grant) => grant.scope !== 'session' || grant.session !== session))
  }

  #read(): readonly SavedGrant[] {
    return this.#entries().filter(isGrant)
  }

  /** Every change replaces the file, so an unchanged file has the same grants. */
  #entries(): readonly unknown[] {
    const facts = statSync(this.#file, { bigint: true, throwIfNoEntry: false })
    if (facts === undefined) return []
    const version = `${facts.dev} ${facts.ino} ${facts.size} ${facts.ctimeNs}`
    if (this.#cached?.version !== version) {
      this.#cached = { version, grants: readOwnJson(this.#file, isGrantFile)?.grants ?? [] }
    }
    return this.#cached.grants
  }

  #change(change: (grants: readonly SavedGrant[]) => readonly SavedGrant[]): void {
    withLock(this.#lock, () => {
      const kept = this.#entries().filter((entry) => !isGrant(entry))
      writeOwnJson(this.#file, { version: 1, grants: [...kept, ...change(this.list())] } satisfies GrantFile)
    })
  }
}

function isGrantFile(value: unknown): value is GrantFile {
  if (typeof value !== 'object' || value === null) return false
  const { version, grants } = value as Partial<GrantFile>
  return version === 1 && Array.isArray(grants)
}

function isGrant(value: unknown): value is SavedGrant {
  const grant = value as Partial<SavedGrant> | null
  return (
    typeof grant === 'object' &&
    grant !== null &&
    ['id', 'project', 'value', 'session'].every((name) => typeof grant[name as keyof SavedGrant] === 'string') &&
    GRANT_KINDS.some((kind) => kind === grant.kind && hasEffect(kind, grant.value!)) &&
    (grant.verdict === 'allow' || grant.verdict === 'deny') &&
    (grant.scope === 'session' || grant.scope === 'time' || grant.scope === 'project') &&
    (grant.expires === null || typeof grant.expires === 'number') &&
    typeof grant.uses === 'number' &&
    (grant.basis === undefined || (Array.isArray(grant.basis) && grant.basis.every((fact) => typeof fact === 'string')))
  )
}

/** Lock files, and the lines of them that name where a package comes from. */
const LOCKS: readonly (readonly [file: string, programs: RegExp, line: RegExp])[] = [
  ['package-lock.json', /^(?:npm|npx)$/, /"resolved": "([^"]+)"/g],
  ['npm-shrinkwrap.json', /^(?:npm|npx)$/, /"resolved": "([^"]+)"/g],
  ['yarn.lock', /^yarn$/, /^ {2}resol(?:ved|ution):? "(?:.*@)?([^"]+:\/\/[^"]+)"/gm],
  ['pnpm-lock.yaml', /^(?:pnpm|pnpx)$/, /\b(?:tarball|repo): ([^\s,}]+)/g],
  ['bun.lock', /^bunx?$/, /"(https?:\/\/[^"]+|git[^"]+:\/\/[^"]+)"/g],
  ['Cargo.lock', /^cargo$/, /^source = "([^"]+)"/gm],
  ['poetry.lock', /^poetry$/, /^url = "([^"]+)"/gm],
  ['uv.lock', /^uvx?$/, /\b(?:registry|git|url) = "([^"]+:\/\/[^"]+)"/g],
  ['Gemfile.lock', /^bundle$/, /^ {2}remote: (\S+)/gm],
  ['composer.lock', /^composer$/, /"(?:dist|source)": \{[^}]*"url": "([^"]+)"/g],
]

/** A larger file is one that cannot be read. */
const MOST_BYTES = 64 * 1024 * 1024

const RUNNERS = /^(?:npm|pnpm|yarn|bun)$/

/**
 * What a yes to a command rests on beside its words, as it is now: the script that they name, and
 * where its packages come from. Nothing for what rests on its words alone.
 */
export function answerBasis({ kind, value }: Pick<Suggestion, 'kind' | 'value'>, root: string): readonly string[] {
  const parsed = kind === 'command' ? parseCommandPattern(value) : null
  if (parsed === null || !('pattern' in parsed)) return []
  const [program = '', first = '', second = ''] = parsed.pattern.words
  const named = /^(?:run|run-script|rum|urn)$/.test(first) ? second : first
  const name = program === 'npm' && /^(?:t|tst)$/.test(named) ? 'test' : named
  const locks = LOCKS.filter(([, programs]) => programs.test(program))
  return [
    ...(RUNNERS.test(program) && name !== '' ? scriptsOf(root, name) : []),
    ...locks.flatMap(([file, , line]) => sourcesOf(join(root, file), line)),
  ]
}

/** True if nothing is new since the answer. */
export function stillRests(basis: readonly string[], grant: Pick<Suggestion, 'kind' | 'value'>, root: string): boolean {
  return answerBasis(grant, root).every((fact) => basis.includes(fact))
}

/** The script of a name, and those that run before and after it. */
function scriptsOf(root: string, name: string): readonly string[] {
  return cached(join(root, 'package.json'), (text) => {
    const parsed: unknown = JSON.parse(text)
    const scripts = isRecord(parsed) && isRecord(parsed.scripts) ? parsed.scripts : {}
    return Object.entries(scripts).map(([key, script]) => `script ${key} ${sha256(String(script))}`)
  }).filter((fact) => !fact.startsWith('script ') || [name, `pre${name}`, `post${name}`].includes(fact.split(' ')[1]!))
}

function sourcesOf(file: string, line: RegExp): readonly string[] {
  return cached(file, (text) => {
    const hosts = [...text.matchAll(line)].map(
      ([, address = '']) => /:\/\/(?:[^@/]*@)?([^/]+)/.exec(address)?.[1] ?? address,
    )
    return [...new Set(hosts)].map((host) => `source ${host}`)
  })
}

const known = new Map<string, { readonly version: string; readonly facts: readonly string[] }>()

/** What a file says. One that cannot be read is a fact too: it is not what was answered about. */
function cached(file: string, read: (text: string) => readonly string[]): readonly string[] {
  const stat = lstatSync(file, { bigint: true, throwIfNoEntry: false })
  if (stat === undefined) return []
  const version = `${stat.ino} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`
  const before = known.get(file)
  if (before?.version === version) return before.facts
  let facts: readonly string[]
  try {
    const bytes = readPlainFile(file, MOST_BYTES)
    facts = bytes === null ? [`unreadable ${version}`] : read(bytes.toString('utf8'))
  } catch {
    facts = [`unreadable ${version}`]
  }
  known.set(file, { version, facts })
  return facts
}
