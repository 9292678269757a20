/** Loopback addresses of this machine. PURE. */

import { classifyAddress } from '../../hosts/address.ts'

export function isLoopback(address: string): boolean {
  return classifyAddress(address) === 'loopback'
}
