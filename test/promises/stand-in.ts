/** What the program of a test takes for its machine: `matrix.test.ts` puts it in. */

import type { Machine } from '../../src/system/machine.ts'

export const standIn: { machine: Machine | null } = { machine: null }
