/** The proxy, measured: the first request, new connections, throughput through ended TLS, many at once, memory over time. */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { promisify } from 'node:util'
import {
  askOnce,
  connectThrough,
  getPooled,
  inParallel,
  requestHead,
  ThroughAgent,
  warmClient,
} from './egress-client.ts'
import {
  HOST,
  MEGABYTE,
  type Origin,
  type ProxyName,
  type ProxyUnderTest,
  processorTime,
  proxyNames,
  startOrigin,
  startProxy,
} from './egress-proxies.ts'
import { median, printTable } from './measure.ts'
import { installPeers } from './peers.ts'

const MEGABYTES = 512
const run = promisify(execFile)

/** Samples in turns, so that a busy machine slows all sides alike; each sample may be several numbers. */
async function inTurns<Side>(
  sides: readonly Side[],
  rounds: number,
  sample: (side: Side) => Promise<readonly number[]>,
): Promise<number[][]> {
  const samples: (readonly number[])[][] = sides.map(() => [])
  for (let round = 0; round < rounds; round++) {
    for (const [index, side] of sides.entries()) {
      samples[index]!.push(await sample(side))
      // What the one leaves to be closed must not be charged to the next.
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
  }
  return samples.map((taken) => taken[0]!.map((_, column) => median(taken.map((values) => values[column]!))))
}

/** From a fresh process that takes over its listener, and makes all it needs, to the first byte of an answer. */
async function firstRequest(name: ProxyName, origin: Origin): Promise<readonly number[]> {
  const proxy = await startProxy(name, origin)
  const socket = await askOnce(proxy)
  const milliseconds = Number(process.hrtime.bigint() - proxy.started) / 1e6
  socket.destroy()
  await proxy.close()
  return [milliseconds]
}

/** The first of a row comes after a pause, with the processor's caches full of others; the rest follow one another. */
async function newConnections(proxy: ProxyUnderTest): Promise<readonly number[]> {
  const times: number[] = []
  for (let count = 0; count < 10; count++) {
    const started = performance.now()
    const socket = await askOnce(proxy)
    times.push(performance.now() - started)
    socket.destroy()
  }
  return [median(times.slice(1)), times[0]!]
}

/**
 * Megabytes in a second by curl's own clock, and in a second of the proxy's processor time. A client written in
 * JavaScript would need as much of the machine as the proxy does.
 */
async function throughput(proxy: ProxyUnderTest, directory: string): Promise<readonly number[]> {
  const trust = join(directory, `${proxy.name}.pem`)
  writeFileSync(trust, proxy.ca)
  const busy = processorTime(proxy.pid)
  const url = `https://${HOST}:${proxy.hostPort}/bytes/${MEGABYTES}`
  const reported = ['-o', '/dev/null', '-w', '%{size_download} %{speed_download}']
  const through = ['--http1.1', '--proxy', `http://127.0.0.1:${proxy.port}`, '--cacert', trust]
  const { stdout } = await run('curl', ['-sS', ...reported, ...through, url])
  const [bytes, speed] = stdout.split(' ').map(Number)
  if (bytes !== MEGABYTES * MEGABYTE) throw new Error(`${proxy.name} sent ${bytes} bytes of ${MEGABYTES} MB`)
  return [speed! / MEGABYTE, (MEGABYTES * 1000) / (processorTime(proxy.pid) - busy)]
}

async function keptAlive(proxy: ProxyUnderTest): Promise<readonly number[]> {
  const agent = new ThroughAgent(proxy, 8)
  const count = 1_000
  await inParallel(8, 8, () => getPooled(agent))
  const started = performance.now()
  await inParallel(8, count, () => getPooled(agent))
  const seconds = (performance.now() - started) / 1000
  agent.destroy()
  return [count / seconds]
}

/** How many of a thousand connections are answered while all of them are open. */
async function manyAtOnce(proxy: ProxyUnderTest): Promise<readonly number[]> {
  const sockets: TLSSocket[] = []
  await inParallel(50, 1_000, async () => {
    // A proxy that refuses some has fewer open.
    const socket = await connectThrough(proxy).catch(() => null)
    if (socket !== null) sockets.push(socket)
  })
  const answers = await Promise.all(sockets.map((socket) => isAnswered(proxy, socket)))
  for (const socket of sockets) socket.destroy()
  return [answers.filter(Boolean).length]
}

function isAnswered(proxy: ProxyUnderTest, socket: TLSSocket): Promise<boolean> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(false), 30_000).unref()
    socket.once('data', (chunk) => resolve(chunk.toString('latin1').startsWith('HTTP/1.1 200 ')))
    socket.once('close', () => resolve(false)).once('error', () => resolve(false))
    socket.write(requestHead(proxy, '/'))
  })
}

/** Of a fresh proxy, once it has its size: megabytes resident, and of its heap after a collection. */
async function memoryGrowth(name: ProxyName, origin: Origin, requests: number): Promise<readonly number[]> {
  const proxy = await startProxy(name, origin)
  const agent = new ThroughAgent(proxy, 8)
  await inParallel(8, requests / 2, () => getPooled(agent))
  const before = await proxy.usage()
  await inParallel(8, requests, () => getPooled(agent))
  const after = await proxy.usage()
  agent.destroy()
  await proxy.close()
  return [after.resident - before.resident, after.heap - before.heap]
}

/** Prints one table; the peer is in it where it can be installed. Two minutes on a quiet machine; most of it is for memory, by the count of requests. */
export async function benchEgress(requests = 20_000): Promise<void> {
  installPeers()
  const started = performance.now()
  const say = (what: string) => console.error(`bench: ${Math.round((performance.now() - started) / 1000)} s, ${what}`)
  const origin = await startOrigin()
  const names = proxyNames()
  await warmClient(origin)
  say('first requests')
  const cold = await inTurns(names, 11, (name) => firstRequest(name, origin))
  say('new connections')
  const proxies: ProxyUnderTest[] = []
  for (const name of names) proxies.push(await startProxy(name, origin))
  // The first ones find code that was not compiled yet, in the proxies and in the bench.
  await inTurns(proxies, 20, newConnections)
  const connections = await inTurns(proxies, 60, newConnections)
  say('downloads')
  const directory = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  const downloads = await inTurns(proxies, 7, (proxy) => throughput(proxy, directory))
  rmSync(directory, { recursive: true })
  say('kept connections')
  const kept = await inTurns(proxies, 9, keptAlive)
  say('many at once')
  const stored = await inTurns(proxies, 1, manyAtOnce)
  say('memory')
  const growth = await inTurns(names, 1, (name) => memoryGrowth(name, origin, requests))
  const table: readonly (readonly [what: string, unit: string, samples: readonly number[][], column?: number])[] = [
    ['first request of a fresh process', 'ms', cold],
    ['new connection and request', 'ms', connections, 0],
    ['the same after a pause', 'ms', connections, 1],
    ['one download', 'MB/s', downloads, 0],
    ['one download, by its processor time', 'MB/s', downloads, 1],
    ['requests on 8 kept connections', '1/s', kept],
    ['of 1,000 connections at once, kept open', '', stored],
    [`memory growth over ${requests} requests`, 'MB', growth, 0],
    ['the same of the heap, collected', 'MB', growth, 1],
  ]
  const rows = table.map(([what, unit, samples, column = 0]) => {
    const values = samples.map((columns) => columns[column]!)
    // Two differences have no ratio that says anything.
    const ratio = values.length > 1 && samples !== growth ? (values[0]! / values[1]!).toFixed(2) : ''
    return [what, ...values.map((value) => `${value.toFixed(2)} ${unit}`), ratio]
  })
  printTable('The proxy', [['', ...names, 'ratio'], ...rows])
  for (const proxy of proxies) await proxy.close()
  origin.close()
}

if (import.meta.main) await benchEgress(process.argv[2] === undefined ? undefined : Number(process.argv[2]))
