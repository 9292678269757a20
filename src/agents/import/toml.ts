/** Parses other programs' TOML settings to plain values. */

import { parseToml as parseTree } from '../../manifest/toml/toml.ts'
import { plainNode } from '../../manifest/toml/tree.ts'
import { Fault } from '../../system/fault.ts'

/** Parses TOML; throws a Fault if invalid. */
export function parseToml(text: string, file: string): unknown {
  const { root, problems } = parseTree(text)
  if (problems.length > 0) throw new Fault('not-toml', `${file} is not TOML: ${problems[0]!.message}`)
  return plainNode(root)
}
