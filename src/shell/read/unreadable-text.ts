/** Refuses a text that cannot be understood with certainty, and charsets that change it. */

import type { ShellRejection } from '../facts.ts'

/** Carries a rejection out of a deep walk. */
export class UnreadableText extends Error {
  readonly rejection: ShellRejection

  constructor(code: ShellRejection['code'], message: string, position: number) {
    super(message)
    this.rejection = refuse(code, message, position)
  }
}

/** Rejects a text with a message that names the position. */
export function refuse(code: ShellRejection['code'], message: string, position: number): ShellRejection {
  return { code, message: `${message} (position ${position})`, position }
}

/** Variables that decide about the charset, the strongest first. */
const CHARSET_NAMES: readonly string[] = ['LC_ALL', 'LC_CTYPE', 'LANG']

/**
 * Locales in which bash reads a text as this parser does. In others, such as `zh_CN.gbk`, a
 * multi-byte character can swallow the backslash after it. A name without a charset means the old
 * one of its country.
 */
export const READABLE_LOCALE: RegExp = /^(?:|C|POSIX|[\w-]+\.utf-?8(?:@\w+)?)$/i

/** Whether a variable decides in which charset bash reads a text. */
export function decidesCharset(name: string): boolean {
  return CHARSET_NAMES.includes(name)
}

/** Variables of an environment that have bash read a text in another charset. */
export function foreignCharsets(environment: Readonly<Record<string, string | undefined>>): readonly string[] {
  return CHARSET_NAMES.filter((name) => !READABLE_LOCALE.test(environment[name] ?? ''))
}

/** Whether the bytes of a text differ in other charsets. */
export function dependsOnCharset(text: string): boolean {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII.
  return /[^\x00-\x7f]/.test(text)
}
