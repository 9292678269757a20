/** The port to bash: its own opinion on whether a text is a command at all. */

/** Runs `bash -n` with an empty environment; what it complained about, or null. Warnings count: an open here-document is one. */
export function bashSyntaxError(command: string): string | null {
  // The bash of macOS is 3.2: it takes these for plain text, where newer ones write a character.
  if (process.platform === 'darwin' && /\$'(?:[^'\\]|\\.)*\\[uU]/s.test(command))
    return "$'\\u' means something else in the bash of macOS"
  // Loaded when it is needed: most commands pass the first gate alone, and start-up counts.
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const result = spawnSync('/bin/bash', ['--norc', '--noprofile', '-n', '-c', command], {
    env: {},
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: 2000,
    encoding: 'utf8',
  })
  if (result.error) return `bash could not be asked (${result.error.message})`
  const complaint = result.stderr.split('\n')[0]?.replace(/^.*?bash: (-c: )?/, '') ?? ''
  if (result.status === 0 && complaint === '') return null
  return complaint || `bash -n ended with ${result.status ?? result.signal}`
}
