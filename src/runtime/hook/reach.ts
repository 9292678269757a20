/** What a yes in a host's dialog opens, for the hook that asks and for the command that comes of it. */

import { posix } from 'node:path'
import type { Files } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { askedPlaces, type ReachScene } from '../session/reach.ts'
import type { HookJudge, HookJudgement } from './judge.ts'

interface Around {
  readonly machine: Machine
  readonly files: Files
}

/** The decision, with its words looked up from the project, wherever in it the host works. */
export function reachScene(
  { loaded: { root }, session: { nearby } }: HookJudge,
  { decision, facts }: Pick<HookJudgement, 'decision' | 'facts'>,
  { machine: { home }, files }: Around,
): ReachScene {
  const atHome = (given: string): string => (/^~(?:\/|$)/.test(given) ? home + given.slice(1) : given)
  const resolve = (given: string): string => files.canonical(posix.resolve(root, atHome(given)))
  return { decision, facts, files, root, nearby, resolve }
}

/** The places that a yes opens, as they are now. */
export function placesAsked(...scene: Parameters<typeof reachScene>): readonly string[] {
  return askedPlaces(reachScene(...scene))
}
