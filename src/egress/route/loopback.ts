/** Addresses of this machine that no cable carries. PURE. */

import { classifyAddress } from '../../hosts/address.ts'

export function isLoopback(address: string): boolean {
  return classifyAddress(address) === 'loopback'
}
