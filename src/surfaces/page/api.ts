/** The page's API: one function per path. All output is escaped. */

import { isAbsolute } from 'node:path'
import { grantProblem, typedText, type WhatIfGrant, whatIf } from '../../call/decide/what-if.ts'
import { openSavedGrants, proposedGrants } from '../../project/answer-counts.ts'
import { mayBeInFleet } from '../../project/load/memory.ts'
import { requestUnmasking } from '../../questions/waiting.ts'
import { openAuditTrail } from '../../report/audit-trail.ts'
import { callView } from '../../report/call-view.ts'
import { listQuarantine } from '../../run/quarantine.ts'
import { hidesSomething } from '../../scan/visible-text.ts'
import { machineFiles } from '../../system/files.ts'
import type { Machine } from '../../system/machine.ts'
import { version } from '../../system/version.ts'
import { answerOnPage, parseAnswer } from './asks-view.ts'
import type { Consent } from './consent.ts'
import { explainCall } from './explain-view.ts'
import { policyUse, policyView, tightening, writtenPolicy } from './policy-view.ts'
import { UndoView, undoViewOf } from './undo-view.ts'

export type { WhatIf } from '../../call/decide/what-if.ts'
export type { CallView, ProgramNode, ReachedHost } from '../../report/call-view.ts'

type Body = Readonly<Record<string, unknown>>

export interface PageParts {
  readonly machine: Machine
  /** The canonical root for Policy and Changes. */
  readonly root: string
  readonly consent: Consent
  /** This machine's protections, as `cordon doctor` reports them. */
  readonly health: () => Promise<object>
}

export interface ApiAnswer {
  readonly status: number
  readonly body: object
  /** A file to save, instead of a body. It never becomes a page of this server. */
  readonly text?: string
}

export type ApiCall = (parts: PageParts, given: Body) => Promise<ApiAnswer> | ApiAnswer

const ok = (body: object): ApiAnswer => ({ status: 200, body })
const bad = (why: string): ApiAnswer => ({ status: 400, body: { why } })

const said = (found: object): ApiAnswer => ('problem' in found ? bad(String(found.problem)) : ok(found))

/** Recorded calls to test a grant with; each is decided twice. */
const MAX_REPLAYED = 5000
/** Report grants that were unused for so long. */
const UNUSED_DAYS = 14

export interface Proposal {
  readonly project: string
  readonly kind: string
  readonly value: string
  readonly yes: number
  /** Adds and signs it, at a terminal. */
  readonly terminal: string
}

function proposalsFor(machine: Machine): readonly Proposal[] {
  return (
    proposedGrants(machine, Date.now())
      .map(({ project, kind, value, yes, add }) => ({ project, kind, value, yes, terminal: typedText(add) }))
      // What is copied into a terminal must not end the line, or act on the terminal.
      .filter(({ terminal }) => !hidesSomething(terminal))
  )
}

/** GET: changes nothing. */
export const reads: Readonly<Record<string, ApiCall>> = {
  '/api/about': ({ root, machine }) => ok({ root, version, fleet: mayBeInFleet(machine) }),
  '/api/fleet': async ({ machine }) => {
    const { fleetReport } = await import('../../organisation/overview.ts')
    const found = await fleetReport(machine)
    return found ? ok(found) : { status: 404, body: { why: 'this machine is in no fleet' } }
  },
  '/api/policy': async ({ machine, root }) => ok(await policyView(machine, root)),
  '/api/use': async ({ machine, root }) => said(await policyUse(machine, root)),
  '/api/tighten': async ({ machine, root }) => said(await tightening(machine, root)),
  '/api/health': async ({ machine, health }) => {
    const grants = openSavedGrants(machine)
    const unused = new Set(grants.unused(UNUSED_DAYS).map(({ id }) => id))
    return ok({
      ...(await health()),
      quarantine: listQuarantine(machine.stateDir).map(({ id, path, reason, time }) => ({ id, path, reason, time })),
      grants: grants.list().map((grant) => ({ ...grant, unused: unused.has(grant.id) })),
    })
  },
  '/api/proposals': ({ machine }) => ok({ proposals: proposalsFor(machine) }),
  '/api/report': ({ machine }, { since, until }) => {
    const time = (given: unknown) =>
      typeof given === 'string' && /^[\d-]{10}T[\d:.]+Z$/.test(given) ? given : undefined
    const [from, to] = [time(since), time(until)]
    const query = { ...(from !== undefined && { since: from }), ...(to !== undefined && { until: to }) }
    return { status: 200, body: {}, text: openAuditTrail(machine).report(query, new Date(), 'page') }
  },
  '/api/timeline': ({ machine, root }) => ok(new UndoView(machine, root).list()),
  '/api/change': ({ machine, root }, { call }) => {
    const found = typeof call === 'string' ? undoViewOf(machine, root, call).compare(call) : null
    return found ? ok(found) : { status: 404, body: { why: 'this call is not kept any more' } }
  },
  '/api/call': ({ machine }, { session, call }) => {
    const found =
      typeof session === 'string' && typeof call === 'string' ? callView(openAuditTrail(machine), session, call) : null
    return found ? ok(found) : { status: 404, body: { why: 'there is no such call in the record' } }
  },
}

/** POST: answers, tests and undoes. */
export const writes: Readonly<Record<string, ApiCall>> = {
  '/api/answer': async ({ machine, consent }, given) => {
    const answer = parseAnswer(given)
    if (!answer) return bad('that is not an answer')
    const answered = await answerOnPage(machine, answer, consent)
    return { status: { done: 200, consent: 403, gone: 409, bad: 400 }[answered.status], body: answered }
  },
  '/api/show': ({ machine }, { ask }) =>
    typeof ask === 'string' && requestUnmasking(machine, ask)
      ? ok({})
      : { status: 404, body: { why: 'the call that asked can no longer show it' } },
  '/api/explain': async ({ machine, root }, { tool = 'bash', input, command, project }) => {
    if (typeof tool !== 'string') return bad('name a tool')
    // A recorded call is explained by the rules of the project it came from.
    const place = typeof project === 'string' && isAbsolute(project) ? project : root
    const opened = await writtenPolicy(machine, place)
    if ('problem' in opened) return bad(opened.problem)
    const given = typeof command === 'string' ? { command } : input
    return ok(await explainCall({ tool, input: given }, opened.loaded, machine))
  },
  '/api/what-if': async ({ machine, root }, { kind, value }) => {
    const grant = { kind, value } as WhatIfGrant
    // What is copied into a terminal must not end the line, or act on the terminal.
    if (typeof value === 'string' && hidesSomething(value)) return bad('the pattern contains hidden characters')
    if (!['command', 'read', 'write', 'host', 'directory'].includes(String(kind)) || typeof value !== 'string')
      return bad('say what would be granted')
    const opened = await writtenPolicy(machine, root)
    if ('problem' in opened) return bad(opened.problem)
    const problem = grantProblem(grant, { root, home: machine.home })
    if (problem !== null) return bad(problem)
    const lines = openAuditTrail(machine)
      .query({})
      .filter((line) => line.project === root && (line.type === 'begin' || line.type === 'denied'))
    return ok(await whatIf(grant, lines.slice(-MAX_REPLAYED), opened.loaded, machine, machineFiles))
  },
  '/api/undo': ({ machine, root }, { call, since, force }) => {
    if (typeof call !== 'string') return bad('name a call')
    const done = undoViewOf(machine, root, call).undo(call, since === true, force === true)
    return { status: done.problem === null ? 200 : 409, body: done }
  },
  '/api/revoke': ({ machine }, { grant }) => {
    const grants = openSavedGrants(machine)
    // Revoking a denial would open something, which needs the terminal.
    const known = grants.list().find(({ id, verdict }) => id === grant && verdict === 'allow')
    return known && grants.revoke(known.id) ? ok({}) : { status: 404, body: { why: 'that grant no longer exists' } }
  },
}
