/** What a yes in a host's dialog opens, for the asking hook and the resulting command. */

import { askedPlaces, type ReachScene, resolverIn } from '../../call/answer-reach.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { HookJudge, HookJudgement } from './judge.ts'

interface Around {
  readonly machine: Machine
  readonly files: Files
}

/** The decision with paths resolved from the project, wherever the host works in it. */
export function reachScene(
  { loaded: { root, policy }, session }: HookJudge,
  { decision, facts }: Pick<HookJudgement, 'decision' | 'facts'>,
  { machine: { home }, files }: Around,
): ReachScene {
  return { decision, facts, files, policy, session, resolve: resolverIn(root, home, files) }
}

/** The places that a yes opens, with their current link targets. */
export function placesAsked(...scene: Parameters<typeof reachScene>): readonly string[] {
  return askedPlaces(reachScene(...scene))
}
