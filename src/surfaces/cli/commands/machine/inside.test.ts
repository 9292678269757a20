/** Every fact counts: one that is missing means outside, where nothing is passed. */

import { expect, it } from 'vitest'
import { isInsideSandbox } from './hook.ts'

const STATUS =
  'Name:\tx\nCapEff:\t0000000000000000\nCapBnd:\t0000000000000000\nNoNewPrivs:\t1\nSeccomp:\t2\nSeccomp_filters:\t1\n'
const INSIDE: Readonly<Record<string, string>> = {
  '/proc/1/cmdline': '/proc/self/fd/4\x003\x005\0',
  '/proc/sys/user/max_user_namespaces': '0\n',
  '/proc/1/status': STATUS,
  '/proc/self/status': STATUS,
}
const seen = (change: Readonly<Record<string, string>>): boolean =>
  isInsideSandbox((path) => ({ ...INSIDE, ...change })[path] ?? '')

it('knows a sandbox of Cordon', () => {
  expect(seen({})).toBe(true)
})

it('knows one whose init is a broker for changes', () => {
  const broker = STATUS.replace('0000000000000000', '0000000000080000').replace('Seccomp:\t2', 'Seccomp:\t0')
  expect(seen({ '/proc/1/status': broker })).toBe(true)
})

it('knows one that has a way out', () => {
  expect(seen({ '/proc/1/cmdline': '/proc/self/fd/4\x003\x005\x008\0j11\0' })).toBe(true)
})

it.each([
  ['another pid 1', { '/proc/1/cmdline': '/sbin/init\0' }],
  ['bubblewrap of somebody else', { '/proc/1/cmdline': 'bwrap\0--args\x004\0' }],
  ['more words', { '/proc/1/cmdline': '/proc/self/fd/4\x003\x005\0sh\0' }],
  ['no /proc', { '/proc/1/cmdline': '' }],
  ['user namespaces', { '/proc/sys/user/max_user_namespaces': '15000\n' }],
  ['a capability to regain on pid 1', { '/proc/1/status': STATUS.replace('CapBnd:\t00', 'CapBnd:\tff') }],
  ['the init’s capability here', { '/proc/self/status': STATUS.replace('0000000000000000', '0000000000080000') }],
  ['no filter here', { '/proc/self/status': STATUS.replace('Seccomp:\t2', 'Seccomp:\t0') }],
  ['new privileges', { '/proc/self/status': STATUS.replace('NoNewPrivs:\t1', 'NoNewPrivs:\t0') }],
  ['a capability', { '/proc/1/status': STATUS.replace('0000000000000000', '0000000000200000') }],
])('takes %s for outside', (_, change) => {
  expect(seen(change)).toBe(false)
})

it('is outside where the tests run, unless they run in one', () => {
  expect(isInsideSandbox()).toBe(false)
})
