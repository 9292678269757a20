/** Whether another user can reach a folder, and a place where it can be reached. */

import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The first folder on the way that others may not pass; null when all are open. */
export function closedFolder(folder: string): string | null {
  const above = folder === '/' ? null : closedFolder(dirname(folder))
  return above ?? ((statSync(folder).mode & 0o001) === 0 ? folder : null)
}

/**
 * Runs a program with a folder mounted where others can reach it too: in its own mount namespace, so that nothing of
 * it is left, however it ends. The words may name the folder as `$HERE`. Null when this machine has no such namespace.
 */
export function runReachable(folder: string, argv: readonly string[], env: NodeJS.ProcessEnv): number | null {
  const base = mkdtempSync('/var/tmp/cordon-checkout-')
  const place = join(base, 'checkout')
  mkdirSync(place)
  const script = `chmod 711 "$1" && mount --bind "$2" "$3" && cd "$3" && shift 3 && exec "$@"`
  const words = argv.map((word) => word.replaceAll('$HERE', place))
  const path = (env.PATH ?? '').replaceAll(folder, place)
  try {
    const probe = spawnSync('unshare', ['--mount', '--propagation', 'private', 'mount', '--bind', folder, place])
    if (probe.status !== 0) return null
    const run = spawnSync(
      'unshare',
      ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', base, folder, place, ...words],
      { stdio: 'inherit', env: { ...env, PATH: path } },
    )
    return run.status ?? 1
  } finally {
    rmdirSync(place)
    rmdirSync(base)
  }
}
