/** Records to an OpenTelemetry receiver, by OTLP/HTTP. */

import { createHash } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { messageOf } from '../../system/fault.ts'
import type { Tally } from '../health.ts'
import type { FleetHttp, FleetResponse } from '../http.ts'
import { type RecordSink, recordId, type ShippedRecord, SinkProblem } from './record.ts'

interface OtlpOptions {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly source: OtlpSource
  readonly http: FleetHttp
  /** What the machine has counted; null before it has. */
  readonly metrics: () => Tally | null
}

/** A sink at an OTLP endpoint; its word is a 200 without a rejection. */
export function otlpSink({ endpoint, headers, source, http, metrics }: OtlpOptions): RecordSink {
  const calls = new OpenCalls()
  const base = endpoint.replace(/\/+$/, '')
  const post = async (path: string, body: string, signal: AbortSignal): Promise<void> => {
    let response: FleetResponse
    try {
      response = await http({
        url: `${base}${path}`,
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', 'content-encoding': 'gzip' },
        body: gzipSync(body, { level: 1 }),
        signal,
      })
    } catch (error) {
      throw new SinkProblem(messageOf(error))
    }
    judge(response)
  }
  return {
    name: `OTLP at ${new URL(base).host}`,
    async send(records, signal) {
      const { logs, traces } = otlpBodies(source, records, calls)
      await post('/v1/logs', logs, signal)
      if (traces !== null) await post('/v1/traces', traces, signal)
      const tally = metrics()
      if (tally === null) return
      // Totals: those that are lost come again with the next ones, so they hold no record up.
      await post('/v1/metrics', otlpMetrics(source, tally), signal).catch(() => {})
    },
  }
}

/** The protocol retries 429, 502, 503 and 504; we retry everything, and mark what looks final. */
function judge({ status, header, text }: FleetResponse): void {
  if (status !== 200) {
    const after = Number(header('retry-after'))
    const rejected = status === 400 || status === 413
    throw new SinkProblem(`the receiver answered ${status}`, {
      afterMs: after > 0 ? Math.min(after, 300) * 1000 : null,
      rejected,
    })
  }
  let partial: { rejectedLogRecords?: unknown; rejectedSpans?: unknown; errorMessage?: unknown } | undefined
  try {
    partial = text.trim() === '' ? undefined : JSON.parse(text).partialSuccess
  } catch {
    throw new SinkProblem('the receiver’s answer is not JSON')
  }
  const count = Number(partial?.rejectedLogRecords ?? 0) + Number(partial?.rejectedSpans ?? 0)
  if (count > 0)
    throw new SinkProblem(`the receiver rejected ${count} records: ${String(partial?.errorMessage ?? '')}`, {
      rejected: true,
    })
}

/** Names of `gen_ai.*` are those of this version of the conventions. */
const SCHEMA = 'https://opentelemetry.io/schemas/1.37.0'

interface OtlpSource {
  readonly fleet: string
  /** The machine's short name by its key, and the name it was enrolled with. */
  readonly machine: string
  readonly name: string
  readonly groups: readonly string[]
  readonly version: string
}

interface Line {
  readonly violations?: readonly unknown[]
  readonly [field: string]: unknown
}

type Attribute = { readonly key: string; readonly value: Readonly<Record<string, unknown>> }

/**
 * Facts that the end of a call lacks. Bounded: after a restart a span may lack the tool's name, and
 * no record is lost.
 */
class OpenCalls {
  readonly #calls = new Map<string, Line>()

  note(id: string, line: Line): void {
    if (this.#calls.size >= 10_000) this.#calls.delete(this.#calls.keys().next().value!)
    this.#calls.set(id, line)
  }

  /** It stays: a batch that is sent again makes the same spans. */
  find(id: string): Line | null {
    return this.#calls.get(id) ?? null
  }
}

/** The bodies of the two requests; `traces` is null where no call has ended. */
function otlpBodies(
  source: OtlpSource,
  records: readonly ShippedRecord[],
  calls: OpenCalls,
): { readonly logs: string; readonly traces: string | null } {
  const parsed = records.map((record) => ({ record, line: parseLine(record.text) }))
  for (const { record, line } of parsed)
    if (line?.type === 'begin') calls.note(`${record.session}/${String(line.call)}`, line)
  const resource = { attributes: resourceAttributes(source) }
  const scope = { name: 'cordon', version: source.version }
  const logRecords = parsed.map(({ record, line }) => logRecord(source, record, line))
  const spans = parsed.flatMap(({ record, line }) => (line?.type === 'end' ? [span(source, record, line, calls)] : []))
  return {
    logs: JSON.stringify({ resourceLogs: [{ resource, scopeLogs: [{ scope, schemaUrl: SCHEMA, logRecords }] }] }),
    traces:
      spans.length === 0
        ? null
        : JSON.stringify({ resourceSpans: [{ resource, scopeSpans: [{ scope, schemaUrl: SCHEMA, spans }] }] }),
  }
}

/** Cumulative sums since the machine began to count, and the version of its policy. */
function otlpMetrics(source: OtlpSource, { total, rules, policy, started }: Tally): string {
  const timeUnixNano = nanoseconds(Date.now())
  const point = (value: number, attributes: Attribute[]) => ({
    asInt: String(value),
    startTimeUnixNano: nanoseconds(started),
    timeUnixNano,
    attributes,
  })
  const sum = (name: string, unit: string, dataPoints: readonly object[]) => ({
    name,
    unit,
    sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints },
  })
  const metrics = [
    sum('cordon.calls', '{call}', [
      point(total.calls - total.refused, [text('cordon.outcome', 'started')]),
      point(total.refused, [text('cordon.outcome', 'refused')]),
    ]),
    sum('cordon.asks', '{call}', [point(total.asked, [])]),
    sum(
      'cordon.refusals',
      '{call}',
      Object.entries(rules).map(([rule, count]) => point(count, [text('cordon.rule', rule)])),
    ),
    ...(policy === null ? [] : [{ name: 'cordon.policy.version', gauge: { dataPoints: [point(policy.version, [])] } }]),
  ]
  const resource = { attributes: resourceAttributes(source) }
  const scope = { name: 'cordon', version: source.version }
  return JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics: [{ scope, schemaUrl: SCHEMA, metrics }] }] })
}

function resourceAttributes({ fleet, machine, name, groups, version }: OtlpSource): Attribute[] {
  return [
    text('service.name', 'cordon'),
    text('service.version', version),
    text('host.name', name),
    text('cordon.fleet', fleet),
    text('cordon.machine', machine),
    text('cordon.groups', groups.join(',')),
  ]
}

function logRecord(source: OtlpSource, record: ShippedRecord, line: Line | null): object {
  const denied = line?.type === 'denied' || line?.violations?.length
  return {
    timeUnixNano: nanoseconds(line?.time),
    severityNumber: denied ? 13 : 9,
    severityText: denied ? 'WARN' : 'INFO',
    eventName: `cordon.${String(line?.type ?? 'unreadable')}`,
    body: { stringValue: record.text },
    traceId: traceId(source, record),
    ...(typeof line?.call === 'string' && { spanId: spanId(source, record, line.call) }),
    attributes: [
      text('cordon.record.id', recordId(source.machine, record)),
      text('cordon.session', record.session),
      number('cordon.record.part', record.part),
      number('cordon.record.offset', record.offset),
      ...(record.hash === undefined ? [] : [text('cordon.record.hash', record.hash)]),
      ...(record.voucher === undefined ? [] : [text('cordon.record.voucher', JSON.stringify(record.voucher))]),
      ...(line === null ? [] : callAttributes(record, line)),
    ],
  }
}

function callAttributes({ session }: ShippedRecord, line: Line): Attribute[] {
  const decision = line.decision as { verdict?: unknown; reason?: unknown } | undefined
  const optional = (key: string, value: unknown): Attribute[] => (typeof value === 'string' ? [text(key, value)] : [])
  return [
    ...(line.tool === undefined ? [] : [text('gen_ai.operation.name', 'execute_tool')]),
    text('gen_ai.conversation.id', session),
    ...optional('gen_ai.tool.name', line.tool),
    ...optional('gen_ai.tool.call.id', line.call),
    ...optional('gen_ai.agent.name', line.agent),
    ...optional('cordon.verdict', decision?.verdict),
    ...optional('cordon.reason', decision?.reason),
    ...optional('cordon.outcome', line.outcome),
    ...(typeof line.seq === 'number' ? [number('cordon.seq', line.seq)] : []),
  ]
}

function span(source: OtlpSource, record: ShippedRecord, line: Line, calls: OpenCalls): object {
  const call = String(line.call)
  const begin = calls.find(`${record.session}/${call}`)
  const end = Date.parse(String(line.time))
  const start = end - (typeof line.duration_ms === 'number' ? line.duration_ms : 0)
  const tool = typeof begin?.tool === 'string' ? begin.tool : null
  return {
    traceId: traceId(source, record),
    spanId: spanId(source, record, call),
    name: tool === null ? 'execute_tool' : `execute_tool ${tool}`,
    kind: 1,
    startTimeUnixNano: nanoseconds(start),
    endTimeUnixNano: nanoseconds(end),
    attributes: callAttributes(record, { ...begin, ...line, ...(tool !== null && { tool }) }),
    status: { code: line.outcome === 'ok' ? 1 : 2 },
  }
}

/** Derived from the content of a span, so that a resent one is the same. */
function traceId({ machine }: OtlpSource, { session }: ShippedRecord): string {
  return createHash('sha256').update(`trace\0${machine}\0${session}`).digest('hex').slice(0, 32)
}

function spanId({ machine }: OtlpSource, { session }: ShippedRecord, call: string): string {
  return createHash('sha256').update(`span\0${machine}\0${session}\0${call}`).digest('hex').slice(0, 16)
}

function nanoseconds(time: unknown): string {
  const milliseconds = typeof time === 'number' ? time : Date.parse(String(time))
  return Number.isFinite(milliseconds) ? `${Math.round(milliseconds)}000000` : '0'
}

function parseLine(text: string): Line | null {
  try {
    const value = JSON.parse(text) as Line | null
    return typeof value === 'object' && !Array.isArray(value) ? value : null
  } catch {
    return null
  }
}

function text(key: string, value: string): Attribute {
  return { key, value: { stringValue: value } }
}

function number(key: string, value: number): Attribute {
  return { key, value: { intValue: String(value) } }
}
