/** Records to an OpenTelemetry receiver, by OTLP/HTTP. */

import { gzipSync } from 'node:zlib'
import { messageOf } from '../../system/fault.ts'
import type { FleetHttp, FleetResponse } from '../http.ts'
import { OpenCalls, type OtlpSource, otlpBodies } from './otlp-json.ts'
import { type RecordSink, SinkProblem } from './record.ts'

export interface OtlpOptions {
  readonly endpoint: string
  readonly headers: Readonly<Record<string, string>>
  readonly source: OtlpSource
  readonly http: FleetHttp
}

/** A sink at an OTLP endpoint; its word is a 200 without a rejection. */
export function otlpSink({ endpoint, headers, source, http }: OtlpOptions): RecordSink {
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
    },
  }
}

/** By the protocol 429, 502, 503 and 504 are to be tried again; we try everything again, and tell apart what looks final. */
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
