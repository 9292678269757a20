/**
 * Finds the programs of one command that connect, from the init's reports, and the rules for each.
 */

import { realpathSync } from 'node:fs'
import { basename } from 'node:path'
import type { EgressRules } from '../egress/route/rules.ts'
import { isInside } from '../files/baseline.ts'
import { type CallerHosts, type CallerScene, type HeldHosts, hostsOfCaller } from '../policy/programs/callers.ts'
import type { SandboxPlan } from '../sandbox/plan.ts'
import type { Caller } from '../sandbox/programs.ts'
import { isInterpreterName } from '../shell/tables/interpreter-names.ts'
import { programSummary } from './ran-programs.ts'

/**
 * Connections come from this address plus the number of their program (native/programs/callers.c).
 */
const PREFIX = '127.77.'

export class Callers {
  readonly #rules: EgressRules
  readonly #limited: HeldHosts | null
  readonly #plan: () => Pick<SandboxPlan, 'binds' | 'scratch' | 'env'>
  readonly #scripts: string
  readonly #known = new Map<number, { readonly rules: EgressRules; readonly hosts: CallerHosts }>()
  readonly #awaited = new Map<number, ((rules: EgressRules) => void)[]>()
  readonly #made = new Map<string, EgressRules>()
  readonly #open: EgressRules

  constructor(
    rules: EgressRules,
    limited: HeldHosts | null,
    place: { readonly plan: () => Pick<SandboxPlan, 'binds' | 'scratch' | 'env'>; readonly scripts: string },
  ) {
    this.#rules = rules
    this.#limited = limited
    this.#plan = place.plan
    this.#scripts = place.scripts
    this.#open = this.#withHosts([])
  }

  add(caller: Caller): void {
    const { number, parent } = caller
    const hosts = this.#limited === null ? { rules: [], tool: null } : this.#hostsOf(this.#limited, caller, parent)
    const rules = this.#rulesOf(nameOf(caller), hosts)
    this.#known.set(number, { rules, hosts })
    for (const resolve of this.#awaited.get(number) ?? []) resolve(rules)
    this.#awaited.delete(number)
  }

  /** The init reports a program on another channel than its connection, perhaps later. */
  rulesFor(address: string): EgressRules | Promise<EgressRules> {
    const parts = address.replace(/^::ffff:/, '').startsWith(PREFIX) ? address.split('.').map(Number) : []
    const number = (parts[2] ?? 0) * 256 + (parts[3] ?? 0)
    if (number === 0) return this.#open
    const known = this.#known.get(number)
    if (known) return known.rules
    return new Promise((resolve) => this.#awaited.set(number, [...(this.#awaited.get(number) ?? []), resolve]))
  }

  #hostsOf(limited: HeldHosts, caller: Caller, parent: number): CallerHosts {
    const plan = this.#plan()
    const scene: CallerScene = {
      limited,
      path: plan.env.PATH ?? '',
      scripts: this.#scripts,
      fixed: (path) => fixedPath(plan, path),
    }
    return hostsOfCaller(scene, caller, this.#known.get(parent)?.hosts)
  }

  /** Programs of one name with the same hosts share their rules. */
  #rulesOf(program: string, { rules }: CallerHosts): EgressRules {
    const key = JSON.stringify([program, rules.map(keyOf)])
    const created = this.#made.get(key) ?? { ...this.#withHosts(rules), program }
    this.#made.set(key, created)
    return created
  }

  /** The shared rules, and these. */
  #withHosts(own: readonly EgressRules['denied'][number][]): EgressRules {
    const { allowed } = this.#rules
    const limited = new Set(this.#limited?.rules.map(keyOf))
    if (allowed === null || limited.size === 0) return this.#rules
    const has = new Set(own.map(keyOf))
    return { ...this.#rules, allowed: allowed.filter((rule) => !limited.has(keyOf(rule)) || has.has(keyOf(rule))) }
  }
}

function keyOf({ pattern, methods, paths, ssh }: EgressRules['denied'][number]): string {
  return JSON.stringify([pattern.text, methods ?? null, paths ?? null, ssh ?? null])
}

/**
 * The real path of a program that nothing in the sandbox can write: its innermost place decides.
 */
function fixedPath({ binds, scratch }: Pick<SandboxPlan, 'binds' | 'scratch'>, path: string): string | null {
  const places = [
    ...binds.map((bind) => ({ path: bind.path, isFixed: bind.mode !== 'read-write' })),
    ...[...scratch, '/tmp', '/dev', '/proc'].map((one) => ({ path: one, isFixed: false })),
  ].sort((one, other) => other.path.length - one.path.length)
  const isFixed = (one: string): boolean => places.find((place) => isInside(one, place.path))?.isFixed ?? true
  try {
    const real = path.startsWith('/') && isFixed(path) ? realpathSync(path) : null
    return real !== null && isFixed(real) ? real : null
  } catch {
    return null
  }
}

/** A script replaces its interpreter. */
function nameOf({ file, argv }: Caller): string {
  const [, script = '', ...words] = argv
  const isScript = isInterpreterName(basename(file)) && script !== '' && !script.startsWith('-')
  return isScript ? programSummary([basename(script), ...words]) : programSummary([basename(file), script, ...words])
}
