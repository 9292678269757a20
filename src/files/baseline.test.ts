import { expect, test } from 'vitest'
import { isBaselineRead, isInside, isPrivateTmp, isProcessPath, isSandboxDevice } from './baseline.ts'

test.each([
  ['/a/b', '/a', true, 'below it'],
  ['/a', '/a', true, 'the directory itself'],
  ['/ab', '/a', false, 'a name that only begins the same'],
  ['/a', '/a/b', false, 'above it'],
  ['/a', '/', true, 'the root contains everything'],
  ['/', '/', true, 'the root itself'],
])('%s inside %s: %s (%s)', (path, directory, inside) => {
  expect(isInside(path, directory)).toBe(inside)
})

test.each([
  ['/usr/bin/env', true],
  ['/etc/hostname', true],
  ['/etcetera', false],
  ['/proc/cpuinfo', true],
  ['/dev/null', true],
  ['/dev/sda', false],
  ['/home/u/x', false],
  ['/run/user/0', false],
])('every command may read %s: %s', (path, readable) => {
  expect(isBaselineRead(path)).toBe(readable)
})

test.each([
  ['/dev/null', true],
  ['/dev/fd/3', true],
  ['/dev/fd/3/x', false],
  ['/dev/mem', false],
  ['/dev/nullx', false],
])('every command may write %s: %s', (path, writable) => {
  expect(isSandboxDevice(path)).toBe(writable)
})

const links: readonly (readonly [path: string, broker: boolean])[] = [
  ...['root', 'cwd', 'exe', 'fd', 'map_files', 'mem', 'environ'].map((name) => [`/proc/1/${name}`, true] as const),
  ['/proc/self/task/7/mem', true],
  ['/proc/1/root/etc/passwd', true],
  ['/proc/kcore', true],
  ['/proc/sysrq-trigger', true],
  ['/proc/1/status', false],
  ['/proc/rootless', false],
  ['/proc/1/environment', false],
]
test.each(links)('a way through a process by %s: %s', (path, broker) => {
  expect(isProcessPath(path)).toBe(broker)
})

test('a private /tmp is one on macOS as well', () => {
  expect(['/tmp/a', '/private/tmp/a', '/var/tmp/a', '/tmpfile'].map(isPrivateTmp)).toEqual([true, true, true, false])
})
