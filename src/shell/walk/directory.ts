/** The working directory: cd, pushd and popd as far as their words are known. */

import { posix } from 'node:path'
import { textOf } from '../words/known-word.ts'
import type { Scope } from '../words/scope.ts'
import type { BuiltinCall } from './builtin-call.ts'

/** Where `cd` leads; null when that cannot be known. */
export function changeDirectory(call: BuiltinCall): void {
  const operands = directoryOperands(call)
  const scope = call.scope
  if (operands === null || operands.length > 1) {
    scope.moveTo(null)
    return
  }
  const target = operands.length === 0 ? homeOf(call) : operands[0]
  scope.moveTo(resolveDirectory(scope, target ?? null))
}

/** Operands of cd and pushd; null when an option or a word makes them uncertain. */
function directoryOperands(call: BuiltinCall): string[] | null {
  const operands: string[] = []
  let options = true
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text === null) return null
    if (options && text === '--') options = false
    else if (options && /^-[LPe@n]+$/.test(text)) {
      if (/[Pn]/.test(text)) return null
    } else operands.push(text)
  }
  return operands
}

function homeOf(call: BuiltinCall): string | null {
  if (call.scope.untouched('HOME')) return call.home
  const value = call.scope.get('HOME')
  return value.values?.length === 1 ? (value.values[0] ?? null) : null
}

/** A failing `cd` keeps the old directory; what follows `;` is judged in the new one, as the author meant it. */
export function resolveDirectory(scope: Scope, target: string | null): string | null {
  if (target === null || target === '-' || target === '') return null
  if (target.startsWith('/')) return clean(target)
  if (scope.cwd === null) return null
  // CDPATH sends a relative name elsewhere unless it starts with a dot.
  if (!/^\.\.?(?:\/|$)/.test(target) && !scope.untouched('CDPATH')) return null
  return clean(`${scope.cwd}/${target}`)
}

function clean(path: string): string {
  const normal = posix.normalize(path)
  return normal.length > 1 && normal.endsWith('/') ? normal.slice(0, -1) : normal
}

export function pushDirectory(call: BuiltinCall): void {
  const operands = directoryOperands(call)
  const scope = call.scope
  const target = operands?.length === 1 ? (operands[0] ?? null) : null
  if (target === null || /^[+-]\d*$/.test(target) || scope.stack === null || scope.cwd === null) {
    scope.moveTo(null)
    scope.stack = null
    return
  }
  const stack = [scope.cwd, ...scope.stack]
  scope.moveTo(resolveDirectory(scope, target))
  scope.stack = stack
}

export function popDirectory(call: BuiltinCall): void {
  const scope = call.scope
  if (call.argv.length > 1 || scope.stack === null || scope.stack.length === 0) {
    scope.moveTo(null)
    scope.stack = null
    return
  }
  const [top, ...rest] = scope.stack
  scope.moveTo(top ?? null)
  scope.stack = rest
}
