/** What every surface ends with. */

/** Exit codes of the program. */
export const EXIT = { ok: 0, failed: 1, usage: 2, ask: 3, deny: 4, fault: 125, refused: 126, notFound: 127 } as const
