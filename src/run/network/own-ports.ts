/**
 * Finds ports of this machine in the words of a command: inside, 127.0.0.1 is the sandbox's
 * loopback.
 */

import { basename } from 'node:path'

/** The default ports of URL schemes. */
const SCHEMES: Readonly<Record<string, number>> = {
  http: 80,
  ws: 80,
  https: 443,
  wss: 443,
  postgres: 5432,
  postgresql: 5432,
  mysql: 3306,
  mariadb: 3306,
  redis: 6379,
  mongodb: 27017,
  amqp: 5672,
}

interface Client {
  readonly programs: string
  readonly port: number
  readonly portOptions: readonly string[]
  /** Whether it uses loopback without a host; otherwise it uses a socket file. */
  readonly isDefault: boolean
}

const CLIENTS: readonly Client[] = [
  {
    programs: 'psql pg_dump pg_restore pg_isready createdb dropdb',
    port: 5432,
    portOptions: ['-p', '--port'],
    isDefault: false,
  },
  { programs: 'mysql mysqldump mariadb', port: 3306, portOptions: ['-P', '--port'], isDefault: false },
  { programs: 'redis-cli valkey-cli', port: 6379, portOptions: ['-p'], isDefault: true },
  { programs: 'mongosh mongo', port: 27017, portOptions: ['--port'], isDefault: true },
]

const MOST_PORTS = 5
const LOOPBACK_URL =
  /(?:\b([a-z][a-z0-9+]*):\/\/(?:[^\s@/'"]*@)?)?(?<![\w.-])(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::(\d{1,5}))?(?![\w.-])/gi

/** The ports, each once: in addresses in any word, and in options of database clients. */
export function namedOwnPorts(words: readonly string[]): readonly number[] {
  const text = words.join(' ')
  const addressed = Array.from(text.matchAll(LOOPBACK_URL), ([, scheme = '', port]) =>
    port === undefined ? SCHEMES[scheme.toLowerCase()] : Number(port),
  )
  const spoken = text.split(/[\s;|&<>()"'`]+/)
  const ports = [...addressed, clientPort(spoken)].filter((port) => port !== undefined && port > 0 && port < 65_536)
  return [...new Set(ports as number[])].slice(0, MOST_PORTS)
}

function clientPort(words: readonly string[]): number | undefined {
  const at = words.findIndex((word) => clientOf(word) !== undefined)
  const client = clientOf(words[at] ?? '')
  if (client === undefined) return undefined
  const rest = words.slice(at + 1)
  if (rest.some((word) => word.includes('://'))) return undefined
  const host = optionOf(rest, ['-h', '--host'])
  if (host === undefined ? !client.isDefault : !/^(?:localhost|127\.\d+\.\d+\.\d+|::1)$/.test(host)) return undefined
  return Number(optionOf(rest, client.portOptions) ?? client.port)
}

function clientOf(word: string): Client | undefined {
  return CLIENTS.find(({ programs }) => programs.split(' ').includes(basename(word)))
}

function optionOf(words: readonly string[], names: readonly string[]): string | undefined {
  for (const [at, word] of words.entries()) {
    for (const name of names) {
      if (word === name) return words[at + 1]
      if (word.startsWith(`${name}=`)) return word.slice(name.length + 1)
      if (!name.startsWith('--') && word.startsWith(name) && word.length > name.length) return word.slice(name.length)
    }
  }
  return undefined
}

/** One line for a person or an agent: why nothing answered, and how to reach the machine's port. */
export function ownPortLine(port: number, isHost: boolean): string {
  if (!isHost)
    return `127.0.0.1 in here is this command's own, and nothing of it serves on port ${port}. Start the server in the same command, or list the port: dev_server_ports = [${port}] under [sandbox.os] and the host 127.0.0.1:${port}`
  return `127.0.0.1 in here is the sandbox's own; to reach port ${port} of this machine: cordon run --allow-host 127.0.0.1:${port} …, or for good: cordon add host 127.0.0.1:${port}`
}
