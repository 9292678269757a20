import { expect, it } from 'vitest'
import { namedOwnPorts } from './own-ports.ts'

const ROWS: readonly (readonly [note: string, words: readonly string[], ports: readonly number[]])[] = [
  ['a URL', ['curl', 'http://localhost:3000/x'], [3000]],
  ['the port of its scheme', ['curl', '-s', 'http://127.0.0.1/'], [80]],
  ['a login', ['psql', 'postgres://me:pass@localhost/db'], [5432]],
  ['in a shell text', ['sh', '-c', 'curl -s "http://[::1]:8080/health" && echo ok'], [8080]],
  ['host and port alone', ['nc', 'localhost:9000'], [9000]],
  ['psql by its options', ['psql', '-h', 'localhost', '-p5433', 'db'], [5433]],
  ['psql by its default', ['psql', '--host=127.0.0.1'], [5432]],
  ['psql by a socket file', ['psql', 'db'], []],
  ['redis-cli by itself', ['redis-cli', 'ping'], [6379]],
  ['redis-cli elsewhere', ['redis-cli', '-h', 'cache.example.org'], []],
  ['a name that only ends so', ['curl', 'http://notlocalhost:3000', 'http://localhost.example.org:3000'], []],
  ['an address that only looks so', ['curl', 'http://1.127.0.0.1:80'], []],
  ['no port that can be', ['curl', 'http://localhost:99999'], []],
]

it.each(ROWS)('%s', (_, words, ports) => {
  expect(namedOwnPorts(words)).toEqual(ports)
})
