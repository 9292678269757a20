/** Whether this process already lives in a sandbox of Cordon's, by what the kernel says of it: no variable could be believed. */

import { readFileSync } from 'node:fs'

/** How the sandbox's init was started: by a descriptor, with the numbers of others and no word beside them. */
const INIT = /^\/proc\/self\/fd\/\d+\0(?:[a-z]?\d+\0){2,8}$/

/**
 * True only where all of it holds: pid 1 is Cordon's init, without new privileges and without capabilities, but for the one by which
 * the door reads a path; this process has none, and is under a filter; no user namespace can be made. A program outside cannot
 * choose its pid 1.
 */
export function isInsideSandbox(read: (path: string) => string = readText): boolean {
  if (!INIT.test(read('/proc/1/cmdline'))) return false
  if (read('/proc/sys/user/max_user_namespaces').trim() !== '0') return false
  const [init, own] = [read('/proc/1/status'), read('/proc/self/status')]
  if (![init, own].every((status) => /^NoNewPrivs:\s+1$/m.test(status) && /^CapBnd:\s+0+$/m.test(status))) return false
  // CAP_SYS_PTRACE, in the sandbox's own user namespace.
  if (!/^CapEff:\s+0{11}[08]0000$/m.test(init)) return false
  return /^Seccomp:\s+2$/m.test(own) && /^CapEff:\s+0+$/m.test(own)
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}
