/**
 * Project commands and skills that a host must not expand, because they run unapproved commands or include unreadable
 * files.
 */

import { existsSync } from 'node:fs'
import { commandFiles } from '../../custom/inline-commands.ts'
import { inlineDenial } from './inline.ts'
import type { HookJudge, ReadCall } from './judge.ts'
import { importedPath } from './memory-files.ts'
import { foldersTo, memoryDenial, type UnseenPlace } from './unseen.ts'

/** A name that a person may type, and why it is blocked. */
export interface HeldCommand {
  readonly name: string
  readonly reason: string
}

/** Blocks everything that would need a judge if `judge` is the reason why there is none. */
export function heldCommands(
  judge: HookJudge | string,
  root: string,
  { machine, cwd }: UnseenPlace,
): readonly HeldCommand[] {
  const folders = foldersTo(cwd, root)
  const files = commandFiles(root, machine, folders.length === 0 ? [root] : folders)
  return files.flatMap((file) => {
    const { own, names, path, commands, mentions, status, unread } = file
    const called = [...new Set([own, ...(names ?? [])])]
    const withheld = (reason: string): readonly HeldCommand[] => called.map((name) => ({ name, reason }))
    if (typeof judge === 'string')
      return commands.length + mentions.length > 0 || unread !== null ? withheld(judge) : []
    const [denied] = [
      ...((commands.length > 0 && status !== 'ok') || unread !== null ? [inlineDenial(file, root)] : []),
      ...mentions.flatMap((given) =>
        [cwd, root]
          .map((start) => importedPath(given, `${start}/x`, machine.home))
          .filter((file) => existsSync(file))
          .flatMap((file) => memoryDenial(judge, { path: file, from: path, unread: null })),
      ),
    ]
    return denied === undefined ? [] : withheld(whyOf(denied))
  })
}

function whyOf({ touches }: ReadCall): string {
  if (!('denied' in touches)) return ''
  const { message, remedy = '' } = touches.denied.reason
  return `${message} ${remedy}`
}
