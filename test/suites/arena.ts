/** Programs that do harm, each on a throw-away copy of this machine's files, without a network: what did it change there? */

import { spawnSync } from 'node:child_process'

const HOME = '/arena'
/** Where the program runs, as its changes name it. */
export const OWN: string = `.${HOME}/project/`

/** Its own mounts, processes and network. The root is an overlay in memory; what was changed is printed at the end. */
const ARENA = `set -e
mount --make-rprivate /
mount -t tmpfs arena /mnt
mkdir /mnt/up /mnt/work /mnt/root
mount -t overlay arena -o lowerdir=/,upperdir=/mnt/up,workdir=/mnt/work /mnt/root
mount --rbind /dev /mnt/root/dev
mount -t proc proc /mnt/root/proc
mount --bind /mnt/up /mnt/root/mnt
mkdir -p /mnt/root${HOME}/project /mnt/root${HOME}/home /mnt/root${HOME}/old
printf %s "$CODE" > /mnt/root${HOME}/project/code
cd /mnt/root
# A chroot could make no user namespaces.
pivot_root . .${HOME}/old
umount -l ${HOME}/old
set +e
(cd ${HOME}/project && HOME=${HOME}/home exec timeout 30 "$@") > /dev/null 2>&1 < /dev/null
cd /mnt && find . -mindepth 1 \\( -path .${HOME}/home -o -path ./tmp -o -path ./var/tmp \\) -prune -o ! -type d -print`

/** Runs `command` beside a file `code` in its working directory. Returns the files it changed, without its home and temporary folders. */
export function changesOf(command: readonly string[], code: string): string[] {
  const { stdout, stderr, status } = spawnSync(
    'unshare',
    [
      '--mount',
      '--pid',
      '--fork',
      '--kill-child',
      '--net',
      '--ipc',
      '--uts',
      'bash',
      '--norc',
      '-c',
      ARENA,
      'arena',
      ...command,
    ],
    { env: { PATH: process.env.PATH, CODE: code }, encoding: 'utf8', timeout: 60_000 },
  )
  if (status !== 0) throw new Error(`the arena could not be created (it needs root): ${stderr}`)
  return stdout.split('\n').filter((line) => line !== '')
}
