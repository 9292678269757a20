/** Writes, edits and patches a project until it is killed. Every version of every file says what it must hold. */

import { join } from 'node:path'
import { machineFiles } from '../../../src/system/files.ts'
import { checkedPath } from '../../../src/system/guarded/checked-path.ts'
import { openGuardedFiles } from '../../../src/system/guarded/guarded-files.ts'
import { openTemporaryJournal } from '../../../src/system/guarded/journal.ts'
import { builtInTool } from '../../../src/tools/built-in/registry.ts'
import type { ToolContext } from '../../../src/tools/tool.ts'
import { versionOf, versionText } from './tools-crash.ts'

const [root = '', state = ''] = process.argv.slice(2)
const files = openGuardedFiles(openTemporaryJournal(state))
const context = {
  cwd: root,
  roots: [root],
  files,
  judge: (_access: string, path: string) => ({ path, verdict: 'allow' }),
  checked: (given: string) => machineFiles.canonical(join(root, given)),
  limits: { readSizeLimit: 1_000_000, maxOutputBytes: 1_000_000, timeoutMs: 10_000 },
  signal: new AbortController().signal,
} as unknown as ToolContext

const run = (tool: string, input: Record<string, unknown>) => builtInTool(tool)!.run(input, context)

// The first run loads what tools do, which would take most of the time until the kill.
await import('../../../src/tools/built-in/runs.ts')
process.send?.('ready')
for (let version = versionOf(files.read(checkedPath(join(root, 'a.txt'))).bytes.toString())! + 1; ; version++) {
  const text = versionText(version)
  await run('write', { path: 'a.txt', content: text })
  const old = files.read(checkedPath(join(root, 'b.txt'))).bytes.toString()
  await run('edit', { path: 'b.txt', old_string: old, new_string: text })
  const minus = (path: string) =>
    files
      .read(checkedPath(join(root, path)))
      .bytes.toString()
      .split('\n')
      .slice(0, -1)
      .map((line) => `-${line}`)
  const plus = text
    .split('\n')
    .slice(0, -1)
    .map((line) => `+${line}`)
  const update = (path: string) => [`*** Update File: ${path}`, '@@', ...minus(path), ...plus]
  const turn = version % 2 === 0 ? [`*** Add File: turn-${version}.txt`, ...plus] : []
  const gone = machineFiles
    .list(root)
    .filter((name) => name.startsWith('turn-'))
    .map((name) => `*** Delete File: ${name}`)
  const patch = ['*** Begin Patch', ...update('c.txt'), ...update('deep/d.txt'), ...turn, ...gone, '*** End Patch']
  await run('apply_patch', { patch: patch.join('\n') })
}
