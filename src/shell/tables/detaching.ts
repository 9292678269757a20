/** Programs that leave a process behind when they end, as `&` does. PURE. */

import { posix } from 'node:path'
import { words } from '../../files/glob.ts'
import type { CommandFact, Word } from '../facts.ts'

interface Detaching {
  /** Options with which alone it detaches; absent: it does without any. */
  readonly only?: string
  /** Options with which it does not. */
  readonly unless?: string
  /** Options that take the next word. */
  readonly values?: string
}

/** One row for each way, by the names of its programs. */
const ROWS: Readonly<Record<string, Detaching>> = {
  // It forks also without -f if it is the first of its process group, as a text's last command is.
  setsid: { unless: '-w --wait -h --help -V --version' },
  'daemonize daemon dtach abduco screen tmux byobu zellij tmate': {},
  'at batch': { unless: '-l -d -r -c -V', values: '-q -t -f' },
  'systemd-run pm2 forever supervisord launchctl': {},
  sem: { unless: '--fg --wait' },
  parallel: { only: '--bg' },
  'start-stop-daemon': { only: '-b --background', values: '-x -a -p -n -u -c -d -r -R -s -g -N -P -I -k -m' },
  'sudo doas': { only: '-b --background', values: '-u -g -h -p -C -r -t -T -U -D -R' },
  ssh: { only: '-f', values: '-B -b -c -D -E -e -F -I -i -J -L -l -m -O -o -P -p -Q -R -S -W -w' },
  'ssh-agent': { unless: '-D -d -k' },
  'gpg-agent dbus-daemon redis-server mysqld mongod': { only: '--daemon --fork --daemonize' },
}

const programs = new Map(Object.entries(ROWS).flatMap(([names, row]) => words(names).map((name) => [name, row])))

/** Whether a command leaves a process behind, or may: an unknown word may be such an option. */
export function detaches({ argv }: Pick<CommandFact, 'argv'>): boolean {
  const row = programs.get(posix.basename(textOf(argv[0]) ?? ''))
  if (row === undefined) return false
  const given = optionsOf(argv.slice(1), words(row.values ?? ''))
  const has = (names: string): boolean => words(names).some((name) => given.some((word) => isOption(word, name)))
  if (row.only !== undefined) return given.includes(null) || has(row.only)
  return row.unless === undefined || !has(row.unless)
}

/** The words before the first operand; null for one that is only known when it runs. */
function optionsOf(argv: readonly Word[], values: readonly string[]): readonly (string | null)[] {
  const found: (string | null)[] = []
  for (let at = 0; at < argv.length; at++) {
    const text = textOf(argv[at])
    if (text === '--' || (text !== null && !text.startsWith('-'))) break
    found.push(text)
    if (text !== null && values.includes(text)) at++
  }
  return found
}

/** `-f`, `-fN`, `--fork`, `--fork=x`. */
function isOption(word: string | null, name: string): boolean {
  if (word === null) return false
  if (name.startsWith('--')) return word === name || word.startsWith(`${name}=`)
  return /^-[A-Za-z]/.test(word) && word.slice(1).includes(name[1]!)
}

function textOf(word: Word | undefined): string | null {
  const [text, ...more] = word?.values ?? []
  return text === undefined || more.length > 0 ? null : text
}
