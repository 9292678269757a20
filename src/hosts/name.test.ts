import { expect, test } from 'vitest'
import { classifyName, type NameClass } from './judge.ts'

const names: readonly [host: string, expected: NameClass, note: string][] = [
  ['github.com', 'public', 'an ordinary name'],
  ['intra.corp.test', 'public', 'corp is not the last label'],
  ['evil.test', 'public', 'reserved for tests, resolves nowhere by itself'],
  ['local.example.com', 'public', 'local is not the last label'],
  ['notlocal', 'internal', 'a single label'],
  ['mylocalhost.com', 'public', 'label boundary'],
  ['localhost', 'internal', 'this machine'],
  ['foo.localhost', 'internal', 'RFC 6761'],
  ['localhost.localdomain', 'internal', 'distribution alias'],
  ['printer.local', 'internal', 'mDNS'],
  ['db.internal', 'internal', 'ICANN private use'],
  ['router.lan', 'internal', 'home router'],
  ['nas.home.arpa', 'internal', 'RFC 8375'],
  ['kubernetes.default', 'internal', 'in-cluster API'],
  ['kubernetes.default.svc', 'internal', 'in-cluster API'],
  ['api.default.svc.cluster.local', 'internal', 'in-cluster service'],
  ['host.docker.internal', 'internal', 'Docker host'],
  ['host.containers.internal', 'internal', 'Podman host'],
  ['localhost6.localdomain6', 'internal', 'what some distributions write for ::1'],
  ['localhost4.localdomain4', 'internal', 'and for 127.0.0.1'],
  ['wiki', 'internal', 'search list decides'],
  ['metadata', 'metadata', 'GCP short name'],
  ['metadata.google.internal', 'metadata', 'GCP'],
  ['x.metadata.google.internal', 'metadata', 'below GCP'],
  ['instance-data.ec2.internal', 'metadata', 'AWS'],
  ['metadata.tencentyun.com', 'metadata', 'Tencent, under a public domain'],
  ['metadata.example.com', 'public', 'somebody else'],
]

test.each(names)('%s is %s (%s)', (host, expected) => {
  expect(classifyName(host)).toBe(expected)
})
