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
