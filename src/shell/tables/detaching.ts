/** Programs that leave a process behind when they end, as `&` does. PURE. */

import { posix } from 'node:path'
import type { CommandFact } from '../facts.ts'

/** Programs, and the options with which alone they detach. */
const ONLY: readonly (readonly [RegExp, RegExp])[] = [
  [/^(?:start-stop-daemon|sudo|doas)$/, /^-(?:\w*b|-background)/],
  [/^ssh$/, /^-\w*f/],
  [/^(?:gpg-agent|dbus-daemon|redis-server|mysqld|mongod)$/, /^--(?:daemon|fork)/],
  [/^parallel$/, /^--bg/],
]

/** Programs, and the options with which they do not. */
const UNLESS: readonly (readonly [RegExp, RegExp])[] = [
  // It forks also without -f if it is the first of its process group, as a text's last command is.
  [/^setsid$/, /^-(?:\w*[whV]|-wait|-help|-version)/],
  [/^(?:at|batch)$/, /^-\w*[ldrcV]/],
  [/^sem$/, /^--(?:fg|wait)/],
  [/^ssh-agent$/, /^-\w*[Ddk]/],
  [
    /^(?:daemonize|daemon|dtach|abduco|screen|tmux|byobu|zellij|tmate|systemd-run|pm2|forever|supervisord|launchctl)$/,
    /^$/,
  ],
]

/** Whether a command leaves a process behind, or may: an unknown word may be such an option. */
export function detaches({ argv }: Pick<CommandFact, 'argv'>): boolean {
  const [program = '', ...words] = argv.map(({ values }) => (values?.length === 1 ? values[0]! : null))
  const name = posix.basename(program ?? '')
  const only = ONLY.find(([names]) => names.test(name))?.[1]
  if (only) {
    // A word after an option may be its value, and two words begin the rest.
    const isEnd = (word: string | null, at: number) => word?.[0] !== '-' && word !== null && words[at - 1]?.[0] !== '-'
    const end = words.findIndex(isEnd)
    return words.slice(0, end < 0 ? undefined : end).some((word) => word === null || only.test(word))
  }
  const unless = UNLESS.find(([names]) => names.test(name))?.[1]
  const end = words.findIndex((word) => word?.[0] !== '-')
  return unless !== undefined && !words.slice(0, end < 0 ? undefined : end).some((word) => unless.test(word!))
}
