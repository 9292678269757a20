/** The record as OCSF, for SIEMs. */

import { hostname } from 'node:os'
import type { AuditLine } from '../audit/event.ts'
import { ocsfEvent } from '../audit/ocsf.ts'
import { version } from '../system/version.ts'

/** Lines of JSON, one an event. */
export function ocsfLines(lines: readonly AuditLine[]): readonly string[] {
  return lines.flatMap((line) => {
    const event = ocsfEvent(line, { version, host: hostname() })
    return event === null ? [] : [JSON.stringify(event)]
  })
}
