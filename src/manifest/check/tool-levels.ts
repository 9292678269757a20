/** Levels of tools that could never take effect. */

import { toolKind } from '../../policy/tool-kind.ts'
import type { Manifest } from '../schema/manifest.ts'
import type { Report } from '../toml/problem.ts'
import { splitKey } from '../toml/tree.ts'

/** The plan agent neither writes nor runs (P3): a level that says otherwise would be read by no one. */
export function checkToolLevels(manifest: Manifest, report: Report): void {
  for (const [path, { at, value }] of manifest.settings) {
    const [section, agent, table, tool] = splitKey(path)
    if (section !== 'agents' || agent !== 'plan' || table !== 'tools' || tool === undefined || value === 'deny')
      continue
    const { kind } = toolKind(tool)
    if (kind !== 'write' && kind !== 'command') continue
    report.error(at, path, {
      code: 'unused',
      message: `the plan agent is read-only, so the level of ${tool} has no effect`,
      expected: '"deny", or a tool that reads',
      found: JSON.stringify(value),
      suggestion: 'delete it, or give the level to an agent of your own: [agents.NAME.tools]',
    })
  }
}
