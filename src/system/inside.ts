/** Whether this process already lives in a sandbox of Cordon's, by what the kernel says of it: no variable could be believed. */

import { readFileSync } from 'node:fs'

/** How the sandbox's init was started: by a descriptor, with the numbers of others and no word beside them. */
const INIT = /^\/proc\/self\/fd\/\d+\0(?:[a-z]?\d+\0){2,8}$/

/**
 * True only where all of it holds: pid 1 is Cordon's init, without capabilities, under a filter and without new privileges, this
 * process as well, and no user namespace can be made. A program outside cannot choose its pid 1.
 */
export function isInsideSandbox(read: (path: string) => string = readText): boolean {
  if (!INIT.test(read('/proc/1/cmdline'))) return false
  if (read('/proc/sys/user/max_user_namespaces').trim() !== '0') return false
  return [read('/proc/1/status'), read('/proc/self/status')].every(
    (status) => /^NoNewPrivs:\s+1$/m.test(status) && /^Seccomp:\s+2$/m.test(status) && /^CapEff:\s+0+$/m.test(status),
  )
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
