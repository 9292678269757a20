/** Command lines of code forges and trackers. */

import type { ProgramTable } from '../spec.ts'

export function forgePrograms(): ProgramTable {
  return {
    'tea jira linear': {
      partial: true,
      effects: `
  remote-write | * |  | changes something at the forge`,
    },
  }
}
