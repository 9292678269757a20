/** What the commands of a session have read of package registries. */

import type { EgressDenial } from '../wire/refusal.ts'
import type { Ecosystem, PackageFacts } from './release.ts'

export class PackageMemory {
  readonly facts: Map<string, Promise<PackageFacts | EgressDenial>> = new Map()
  /** Files by host and path, wherever registries said that they are. */
  readonly files: Map<string, { readonly ecosystem: Ecosystem; readonly name: string }> = new Map()
}
