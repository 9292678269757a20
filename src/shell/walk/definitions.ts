/** Functions, whose bodies run any time later, and coprocesses. */

import type { Coproc, Function as FunctionNode } from 'unbash'
import type { Hazard, Via } from '../facts.ts'
import { noEffects, UNKNOWN } from '../words/scope.ts'
import type { Walk } from './walk.ts'

/** The body is checked from a state in which nothing is known: it may be called any time. */
export function walkFunction(walk: Walk, node: FunctionNode): void {
  const name = node.name.value
  const effects = noEffects()
  const body = walk.unknownScope()
  const defined = walk.start.functionsVanish ? 'maybe' : 'yes'
  body.define(name, defined)
  body.effects = effects
  body.inFunction = true
  walk.output.defines.add(name)
  const bodies = walk.output.functions.get(name) ?? []
  bodies.push(effects)
  walk.output.functions.set(name, bodies)
  if (name === 'command_not_found_handle') {
    const span = walk.span(node)
    const hazard: Hazard = {
      code: 'hook',
      message: `\`${name}\` runs for every unknown command`,
      verdict: 'ask',
      span,
    }
    walk.sink.push(hazard)
    walk.scope.doubt(hazard)
  }
  const via: Via = { name: `function ${name}`, kind: 'function' }
  const frame = { ...walk.frame, via: [...walk.frame.via, via], stdin: { kind: 'unknown' } as const }
  walk.sealed(() => walk.framed(frame, () => walk.on(body, () => walk.node(node.body))))
  walk.scope.define(name, defined)
}

/** A coprocess runs apart, and leaves two variables behind. */
export function walkCoproc(walk: Walk, node: Coproc): void {
  const name = node.name?.value ?? 'COPROC'
  const frame = { ...walk.frame, background: true, stdin: { kind: 'unknown' } as const }
  walk.apart(frame, () => walk.node(node.body))
  for (const written of [name, `${name}_PID`]) {
    walk.scope.set(written, UNKNOWN)
    walk.assigned(written, walk.span(node))
  }
}
