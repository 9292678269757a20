/** How a text that cannot be understood with certainty is refused from deep inside a walk. */

import type { ShellRejection } from '../facts.ts'

/** Carries a rejection out of a deep walk. */
export class UnreadableText extends Error {
  readonly rejection: ShellRejection

  constructor(code: ShellRejection['code'], message: string, position: number) {
    super(message)
    this.rejection = refuse(code, message, position)
  }
}

/** A rejection whose message names the position. */
export function refuse(code: ShellRejection['code'], message: string, position: number): ShellRejection {
  return { code, message: `${message} (position ${position})`, position }
}

/** Variables that decide about the charset, the strongest first. */
const CHARSET_NAMES: readonly string[] = ['LC_ALL', 'LC_CTYPE', 'LANG']

/**
 * Locales in which bash reads a text as it is read here. In others, such as `zh_CN.gbk`, a character of several bytes can
 * take the backslash behind it along; a name without a charset has the one that its country used before UTF-8.
 */
export const READABLE_LOCALE: RegExp = /^(?:|C|POSIX|[\w-]+\.utf-?8(?:@\w+)?)$/i

/** True for a variable that decides in which charset bash reads a text. */
export function decidesCharset(name: string): boolean {
  return CHARSET_NAMES.includes(name)
}

/** Variables of an environment that have bash read a text in another charset. */
export function foreignCharsets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return CHARSET_NAMES.filter((name) => !READABLE_LOCALE.test(environment[name] ?? ''))
}

/** True when a text has characters whose bytes are others in other charsets. */
export function dependsOnCharset(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  return /[^\x00-\x7f]/.test(text)
}
