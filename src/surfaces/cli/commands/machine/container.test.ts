import { expect, test } from 'vitest'
import { containerKind } from './doctor.ts'

const rows: readonly [string, { files?: Record<string, string>; env?: Record<string, string> }, string | null][] = [
  ['a machine', { files: { '/proc/1/cgroup': '0::/init.scope\n' } }, null],
  ['podman', { files: { '/run/.containerenv': '' }, env: { container: 'podman' } }, 'podman'],
  ['docker', { files: { '/.dockerenv': '' } }, 'docker'],
  ['docker, by its control group', { files: { '/proc/1/cgroup': '12:pids:/docker/abc\n' } }, 'docker'],
  ['a Pod', { files: { '/.dockerenv': '' }, env: { KUBERNETES_SERVICE_HOST: '10.0.0.1' } }, 'kubernetes'],
  ['a Pod without services', { files: { '/proc/1/cgroup': '0::/kubepods/burstable/pod1\n' } }, 'kubernetes'],
  ['gVisor', { files: { '/proc/version': 'Linux version 4.4.0 gVisor' } }, 'gvisor'],
  ['systemd-nspawn', { env: { container: 'systemd-nspawn' } }, 'container'],
  ['an empty variable', { env: { container: '' } }, null],
]

test.each(rows)('%s', (_, { files = {}, env = {} }, kind) => {
  const traces = { exists: (path: string) => path in files, read: (path: string) => files[path] ?? '', env }
  expect(containerKind(traces)).toBe(kind)
})
