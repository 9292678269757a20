/** What a yes in a host's dialog opens, for the hook that asks and for the command that comes of it. */

import { askedPlaces, type ReachScene, resolverIn } from '../../call/answer-reach.ts'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import type { HookJudge, HookJudgement } from './judge.ts'

interface Around {
  readonly machine: Machine
  readonly files: Files
}

/** The decision, with its words looked up from the project, wherever in it the host works. */
export function reachScene(
  { loaded: { root, policy }, session }: HookJudge,
  { decision, facts }: Pick<HookJudgement, 'decision' | 'facts'>,
  { machine: { home }, files }: Around,
): ReachScene {
  return { decision, facts, files, policy, session, resolve: resolverIn(root, home, files) }
}

/** The places that a yes opens, as they are now. */
export function placesAsked(...scene: Parameters<typeof reachScene>): readonly string[] {
  return askedPlaces(reachScene(...scene))
}
