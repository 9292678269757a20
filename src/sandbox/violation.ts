/**
 * PURE. Attempts that the kernel stopped: seen by the init, or inferred from a program's output.
 */

import { isInside } from '../files/baseline.ts'
import type { Limits } from './limits.ts'
import type { SandboxPlan } from './plan.ts'

export interface Violation {
  readonly kind:
    | 'mask-opened'
    | 'mask-lifted'
    | 'path-denied'
    | 'path-hidden'
    | 'path-read-only'
    | 'call-refused'
    | 'change-refused'
    | 'program-refused'
    | 'memory-used-up'
    | 'limit-reached'
  /** `observed`: the kernel reported it. `inferred`: read from output, which may lie. */
  readonly certainty: 'observed' | 'inferred'
  /** Absent when a refused call names no path. */
  readonly path?: string
  /** The program that was not started. */
  readonly program?: string
  /** The limit that was reached. */
  readonly limit?: MetLimit
  readonly message: string
}

/** A masked file was opened, or the host replaced it and its mask is gone. */
export function maskViolation(path: string, event: 'opened' | 'lifted'): Violation {
  return event === 'opened'
    ? {
        kind: 'mask-opened',
        certainty: 'observed',
        path,
        message: `${path} is a secret: the command opened it and saw an empty file`,
      }
    : {
        kind: 'mask-lifted',
        certainty: 'observed',
        path,
        message: `${path} was replaced on the host while the command ran, so it was no longer hidden`,
      }
}

/** The broker refused a change. */
export function changeViolation(path: string): Violation {
  const why = /\/config(?:\.worktree)?$/.test(path)
    ? 'the change sets something that can run a program, such as core.hooksPath, or a remote on a host that is not granted'
    : /\/\.git$/i.test(path)
      ? 'it would point to a repository in a cache that this command can write; a git command by itself has no such cache'
      : 'it can run code outside the sandbox'
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} is protected, so the write was blocked: ${why} (name it under [capabilities.allow.write], or change it yourself)`,
  }
}

/** A hidden or protected place would be moved or removed, by its own name or with a folder above it. */
export function placeViolation(path: string): Violation {
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} stays where it is: it is hidden from commands or protected, or something in it is (move or remove it yourself)`,
  }
}

/** Commands see this git configuration without credentials, so they cannot replace it. */
export function tokenViolation(path: string): Violation {
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} was not changed: it contains a credential, so commands see a copy without it (remove the credential: git remote set-url NAME URL, with git credential to store it; or change the file yourself)`,
  }
}

/** The broker prevented a change: the old content could not be kept and nobody was asked. */
export function unkeptViolation(path: string): Violation {
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} was not changed: it is too large to be kept for \`cordon undo\`, or could not be read, and the command was allowed because it can be undone (the same command asks from now on)`,
  }
}

/** The broker left a file with further names as it is, because it could not give this name a copy. */
export function sharedViolation(path: string): Violation {
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} was not changed: the file has further names, perhaps outside the project, and this name could not get a copy (replace it by one first: cp ${path} COPY && mv COPY ${path})`,
  }
}

/** A refused program start; `started`: the programs above it, the first one first. */
export function programViolation(program: string, text: string, started: readonly string[], why: string): Violation {
  const by = started.length === 0 ? '' : `, started by ${started.join(' → ')},`
  return {
    kind: 'program-refused',
    certainty: 'observed',
    program,
    message: `\`${text}\`${by} was refused: ${why}`,
  }
}

/** A program start changed after it was judged, so what came of it was killed. */
export function unjudgedViolation(words: string): Violation {
  const shown = words
    .split('\0')
    .filter((word) => word !== '')
    .join(' ')
  return {
    kind: 'program-refused',
    certainty: 'observed',
    program: words.split('\0')[0] ?? '',
    message: `killed \`${shown.length > 200 ? `${shown.slice(0, 200)} …` : shown}\`: it differs from the program that was judged at its start`,
  }
}

/** The sandbox used more memory than it may, and something of it was ended for that. */
export function memoryViolation(mebibytes: number, ended: 'process' | 'all'): Violation {
  const what = ended === 'all' ? 'all of it was stopped' : 'the process that used the most was stopped'
  return {
    kind: 'memory-used-up',
    certainty: 'observed',
    limit: 'memory',
    message: `the command used more than ${mebibytes} MiB of memory, so ${what} (set another limit as memory under [limits])`,
  }
}

/** Limits that report themselves; the time limit is part of the result. */
export type MetLimit = 'memory' | 'processes' | 'cpu'

/** A limit of `[limits]` ended something, or kept it from starting. */
export function limitViolation(met: MetLimit, limits: Limits, certainty: Violation['certainty']): Violation {
  const what = {
    memory: `the memory limit of ${mebibytes(limits.memoryBytes)} was reached, and a process was ended for it or got no more`,
    processes: `the limit of ${limits.processes} processes was reached, and no more could be started`,
    cpu: `a process used up its ${limits.cpuSeconds} s of processor time and was ended`,
  }[met]
  return { kind: 'limit-reached', certainty, limit: met, message: `${what} (${met} under [limits])` }
}

function mebibytes(bytes = 0): string {
  return `${Math.round((bytes / 1024 ** 2) * 10) / 10} MiB`
}

/** What programs say when a limit stops them that no control group counts. */
const LIMIT_WORDS: readonly (readonly [met: MetLimit, words: RegExp])[] = [
  ['memory', /\b(?:MemoryError|bad_alloc|heap out of memory|NoMemoryError|Cannot allocate memory|memory exhausted)\b/],
  [
    'processes',
    /(?:fork|clone|thread|spawn)\b.{0,80}(?:Resource temporarily unavailable|EAGAIN)|BlockingIOError: \[Errno 11\]/,
  ],
  ['cpu', /\b(?:CPU|Cputime) (?:time )?limit exceeded\b/],
]

/** Limits that a command's error output speaks of, where there are such. */
function inferLimits(output: string, { limits }: SandboxPlan): Violation[] {
  const set = { memory: limits.memoryBytes, processes: limits.processes, cpu: limits.cpuSeconds }
  return LIMIT_WORDS.filter(([met, words]) => set[met] !== undefined && words.test(output)).map(([met]) =>
    limitViolation(met, limits, 'inferred'),
  )
}

const PATTERNS: readonly { readonly pattern: RegExp; readonly kind: Violation['kind']; readonly says: string }[] = [
  {
    pattern: /(?<path>\/[^\s:'"`’]+)['"`’]?: No such file or directory/,
    kind: 'path-hidden',
    says: 'does not exist inside the sandbox',
  },
  {
    pattern: /['"`‘](?<path>\/[^'"`’]+)['"`’]: No such file or directory/,
    kind: 'path-hidden',
    says: 'does not exist inside the sandbox',
  },
  { pattern: /ENOENT: .*['"](?<path>\/[^'"]+)['"]/, kind: 'path-hidden', says: 'does not exist inside the sandbox' },
  { pattern: /['"`‘]?(?<path>\/[^\s:'"`’]+)['"`’]?: Permission denied/, kind: 'path-denied', says: 'was refused' },
  { pattern: /E(?:ACCES|PERM): .*['"](?<path>\/[^'"]+)['"]/, kind: 'path-denied', says: 'was refused' },
  {
    pattern: /['"`‘]?(?<path>\/[^\s:'"`’]+)['"`’]?: Read-only file system/,
    kind: 'path-read-only',
    says: 'is read-only inside the sandbox',
  },
  { pattern: /EROFS: .*['"](?<path>\/[^'"]+)['"]/, kind: 'path-read-only', says: 'is read-only inside the sandbox' },
  {
    pattern: /^(?<path>)(?<line>.*(?:Operation not permitted|Function not implemented).*)$/,
    kind: 'call-refused',
    says: '',
  },
]

const MAX_INFERRED = 20
const MAX_LINE = 1000

/** Reads likely denials from a command's error output. Only paths that the plan really withholds count. */
export function inferViolations(output: string, plan: SandboxPlan): Violation[] {
  const found = new Map<string, Violation>()
  for (const line of output.split('\n')) {
    if (found.size >= MAX_INFERRED) break
    if (line.length > MAX_LINE) continue
    for (const { pattern, kind, says } of PATTERNS) {
      const groups = pattern.exec(line)?.groups
      if (!groups) continue
      const path = groups.path || undefined
      if (path !== undefined && !isWithheld(path, kind, plan)) break
      const message = path === undefined ? line.trim() : `${path} ${says}`
      found.set(`${kind} ${path ?? message}`, {
        kind,
        certainty: 'inferred',
        ...(path === undefined ? {} : { path }),
        message,
      })
      break
    }
  }
  return [...found.values(), ...inferLimits(output, plan)]
}

function isWithheld(path: string, kind: Violation['kind'], plan: SandboxPlan): boolean {
  const layers = plan.binds.filter((bind) => isInside(path, bind.path))
  const nearest = layers.reduce<(typeof layers)[number] | undefined>(
    (best, bind) => (!best || bind.path.length > best.path.length ? bind : best),
    undefined,
  )
  if (kind === 'path-hidden') return nearest === undefined && !plan.scratch.some((scratch) => isInside(path, scratch))
  return nearest?.mode !== 'read-write' || plan.pins.some((pin) => isInside(path, pin.path))
}
