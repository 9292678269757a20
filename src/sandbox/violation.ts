/** PURE. What the kernel stopped: seen by the init, or inferred from what a program printed. */

import { isInside } from '../files/baseline.ts'
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
    | 'memory-used-up'
  /** `observed`: the kernel told us. `inferred`: read from the command's own output, which may be mistaken or lie. */
  readonly certainty: 'observed' | 'inferred'
  /** Absent when a refused call names no path. */
  readonly path?: string
  readonly message: string
}

/** A masked file was opened, or the host replaced it and its mask is gone. */
export function maskViolation(path: string, event: 'opened' | 'lifted'): Violation {
  return event === 'opened'
    ? {
        kind: 'mask-opened',
        certainty: 'observed',
        path,
        message: `${path} is hidden as a secret and was opened: it read as empty`,
      }
    : {
        kind: 'mask-lifted',
        certainty: 'observed',
        path,
        message: `${path} was replaced on the host while the command ran, so it was no longer hidden`,
      }
}

/** The door refused a change at the moment it was to be made. */
export function changeViolation(path: string): Violation {
  const why = /\/config(?:\.worktree)?$/.test(path)
    ? 'the change holds a git setting that can run a program, or a remote on a host that is not granted'
    : 'programs run it, or take settings from it, outside the sandbox'
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} is protected and was not changed: ${why} (name it under [capabilities.allow.write], or change it yourself)`,
  }
}

/** The door left something as it is, because it could not be kept and nobody was asked about the command. */
export function unkeptViolation(path: string): Violation {
  return {
    kind: 'change-refused',
    certainty: 'observed',
    path,
    message: `${path} was not changed: it is too large to be kept for \`cordon undo\`, or could not be read, and the command was allowed because it can be undone (the same command asks from now on)`,
  }
}

/** The sandbox used more memory than it may, and something of it was ended for that. */
export function memoryViolation(mebibytes: number, ended: 'process' | 'all'): Violation {
  const what = ended === 'all' ? 'all of it was ended' : 'the process that held the most was ended'
  return {
    kind: 'memory-used-up',
    certainty: 'observed',
    message: `the command used more than ${mebibytes} MiB of memory, so ${what} (set another limit as memory under [limits])`,
  }
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
  return [...found.values()]
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
