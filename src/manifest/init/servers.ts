/** Servers of a project, read from its own files: ports that its scripts serve, and databases that it talks to (M4). */

import { attempt } from '../../system/fault.ts'
import { recordOf } from '../../system/json.ts'
import type { ProjectFiles } from './detect.ts'

/** A database or the like that runs beside the project. */
export interface Service {
  readonly name: string
  readonly port: number
  /** The file that speaks of it. */
  readonly source: string
}

/** What programs of scripts listen on where nothing else is said; the first that fits. */
const DEFAULT_PORTS: readonly (readonly [program: RegExp, port: number])[] = [
  [/\bvite\s+preview\b/, 4173],
  [/\bvite(?:\s+(?:dev|serve))?(?:\s+-|\s*$|\s*&)/, 5173],
  [/\bsvelte-kit\s+dev\b/, 5173],
  [/\bnext\s+(?:dev|start)\b/, 3000],
  [/\bnuxi?t?\s+(?:dev|preview|start)\b/, 3000],
  [/\bastro\s+(?:dev|preview)\b/, 4321],
  [/\bng\s+serve\b/, 4200],
  [/\b(?:react-scripts|craco)\s+start\b/, 3000],
  [/\bvue-cli-service\s+serve\b/, 8080],
  [/\bwebpack(?:-dev-server|\s+serve)\b/, 8080],
  [/\bgatsby\s+develop\b/, 8000],
  [/\bparcel(?:\s+serve|\s+[\w./*-]+\.html)/, 1234],
  [/\b(?:storybook\s+dev|start-storybook)\b/, 6006],
  [/\bwrangler\s+dev\b/, 8787],
  [/\bhttp-server\b/, 8080],
  [/\b(?:eleventy|@11ty\/eleventy)\b.*--serve/, 8080],
  [/\bdocusaurus\s+start\b/, 3000],
  [/\bexpo\s+start\b/, 8081],
  [/\bmanage\.py\s+runserver\b/, 8000],
  [/\b(?:uvicorn|fastapi\s+(?:dev|run))\b/, 8000],
  [/\bflask\s+(?:.*\s)?run\b/, 5000],
]

/** A port that is said: `-p 4321`, `--port=4321`, `PORT=4321`. */
const SAID = /(?:^|\s)(?:-p|--port)[\s=]+(\d{4,5})\b|(?:^|\s)PORT=(\d{4,5})\b/g

/** Ports that identify other services: a project's server must not use them. */
const TAKEN: ReadonlySet<number> = new Set([
  1433, 1521, 2375, 2376, 2379, 3306, 4222, 5432, 5672, 5984, 6379, 6443, 8125, 8200, 9042, 9092, 9200, 9300, 11211,
  27017,
])
const MAX_PORTS = 8

/** Ports that the package's scripts serve for the person. */
export function servedPorts(scripts: Readonly<Record<string, unknown>>, files: ProjectFiles): number[] {
  const found = new Set<number>()
  for (const [name, script] of Object.entries(scripts)) {
    if (typeof script !== 'string' || script.length > 4096) continue
    const program = DEFAULT_PORTS.find(([pattern]) => pattern.test(script))
    const serves = program !== undefined || SERVES.test(name)
    const said = serves ? [...script.matchAll(SAID)].map((match) => Number(match[1] ?? match[2])) : []
    for (const port of said) found.add(port)
    if (said.length === 0 && program) found.add(configuredPort(script, files) ?? program[1])
  }
  return [...found].filter(isOpenable).slice(0, MAX_PORTS)
}

/** Names of scripts that start a server for the person. */
export const SERVES: RegExp = /^(?:dev|develop|start|serve|preview|storybook)(?::|$)/

function isOpenable(port: number): boolean {
  return port >= 1024 && port <= 65_535 && !TAKEN.has(port)
}

/** The port of vite's own configuration. */
function configuredPort(script: string, files: ProjectFiles): number | null {
  if (!/\bvite\b/.test(script) || /\bpreview\b/.test(script)) return null
  for (const extension of ['ts', 'mts', 'js', 'mjs']) {
    const text = files.readText(`vite.config.${extension}`)
    const port = /\bserver\s*:\s*\{[^}]*?\bport\s*:\s*(\d{4,5})\b/.exec(text?.slice(0, 100_000) ?? '')?.[1]
    if (port !== undefined) return Number(port)
  }
  return null
}

/** Programs that are served beside a project, by the name of their image or the scheme of their address. */
const SERVICES: readonly {
  readonly name: string
  readonly image: RegExp
  readonly scheme: RegExp
  readonly port: number
}[] = [
  { name: 'postgres', image: /postg(?:res|is)|timescale|pgvector/, scheme: /^postgres(?:ql)?$/, port: 5432 },
  { name: 'mysql', image: /mysql|mariadb|percona/, scheme: /^(?:mysql|mariadb)$/, port: 3306 },
  { name: 'redis', image: /redis|valkey|dragonfly/, scheme: /^rediss?$/, port: 6379 },
  { name: 'mongodb', image: /mongo/, scheme: /^mongodb$/, port: 27_017 },
  { name: 'rabbitmq', image: /rabbitmq/, scheme: /^amqps?$/, port: 5672 },
  { name: 'nats', image: /nats/, scheme: /^nats$/, port: 4222 },
  { name: 'memcached', image: /memcached/, scheme: /^memcached$/, port: 11_211 },
  { name: 'elasticsearch', image: /elasticsearch|opensearch/, scheme: /^elasticsearch$/, port: 9200 },
  { name: 'minio', image: /minio/, scheme: /^s3$/, port: 9000 },
]

const COMPOSE = ['compose.yaml', 'compose.yml', 'docker-compose.yml', 'docker-compose.yaml']

/** Databases of compose files and of samples of `.env`. */
export function detectServices(files: ProjectFiles, samples: readonly string[]): Service[] {
  const found = new Map<number, Service>()
  const add = (name: string, port: number, source: string) => {
    if (port >= 1 && port <= 65_535 && !found.has(port)) found.set(port, { name, port, source })
  }
  for (const source of COMPOSE) {
    for (const block of services(files.readText(source) ?? '')) {
      const image = /^\s+image:\s*["']?([\w./:@-]+)/m.exec(block)?.[1] ?? ''
      const row = SERVICES.find((candidate) => candidate.image.test(image.split(':')[0]!))
      if (row) add(row.name, publishedPort(block, row.port) ?? row.port, source)
    }
  }
  for (const source of samples) {
    const text = (files.readText(source) ?? '').slice(0, 100_000)
    for (const [, scheme, port] of text.matchAll(
      /\b([a-z0-9]+):\/\/(?:[^\s@/]*@)?(?:localhost|127\.0\.0\.1|host\.docker\.internal)(?::(\d{1,5}))?/g,
    )) {
      const row = SERVICES.find((candidate) => candidate.scheme.test(scheme!))
      if (row) add(row.name, port === undefined ? row.port : Number(port), source)
    }
  }
  return [...found.values()].slice(0, MAX_PORTS)
}

/** The blocks of a compose file, each from the name of a service to the next; its indentation is the first one's. */
function services(text: string): string[] {
  const body =
    /^services:[^\n]*\n((?:[ \t]+[^\n]*\n|#[^\n]*\n|[ \t]*\n)*)/m.exec(`${text.slice(0, 200_000)}\n`)?.[1] ?? ''
  const indent = /^([ \t]+)[\w.-]+:/m.exec(body)?.[1]
  if (indent === undefined) return []
  return body.split(new RegExp(`^(?=${indent}[\\w.-]+:)`, 'm'))
}

/** The port on this machine that a service publishes for its own. */
function publishedPort(block: string, inner: number): number | null {
  for (const [, outer, own] of block.matchAll(/^\s*-\s*["']?(?:[\d.]+:)?(\d{1,5}):(\d{1,5})(?:\/tcp)?["']?\s*$/gm))
    if (Number(own) === inner) return Number(outer)
  return null
}

/** The scripts of a package, by name. */
export function scriptsOf(packageText: string | null): Readonly<Record<string, unknown>> {
  return attempt(() => recordOf(recordOf(JSON.parse(packageText ?? '{}')).scripts), {})
}
