/** Registry data that the commands of a session have read. */

import type { EgressDenial } from '../wire/refusal.ts'
import type { Ecosystem, PackageFacts } from './release.ts'

export class PackageMemory {
  readonly facts: Map<string, Promise<PackageFacts | EgressDenial>> = new Map()
  /** Files by host and path, wherever registries place them. */
  readonly files: Map<string, { readonly ecosystem: Ecosystem; readonly name: string }> = new Map()
}
