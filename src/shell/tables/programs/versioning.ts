/** Version control beside git. */

import type { ProgramTable } from '../spec.ts'

export function versioningPrograms(): ProgramTable {
  return {
    'hg bzr fossil sl': {
      partial: true,
      effects: `
  remote-write | push |  | sends commits to a remote`,
    },
    svn: {
      partial: true,
      effects: `
  remote-write | commit, ci |  | sends commits to a remote`,
    },
    jj: {
      partial: true,
      effects: `
  remote-write | git push |  | sends commits to a remote`,
    },
  }
}
