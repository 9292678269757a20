/** What one-shot commands cost from a cold process: against `node -e 0`, and `cordon run` against bare bubblewrap as well. */

import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compare, printTable } from './measure.ts'

const COMMAND = 'git diff --stat HEAD~1 -- src/ && npm test -- --run src/policy 2>&1 | tail -n 20'
const ROUNDS = 40
/** How much of `node -e 0` a command may take; null where it is only shown. */
const TARGETS: Readonly<Record<string, number | null>> = {
  'node -e 0': null,
  'cordon --version': 1.1,
  'cordon check (file)': 1.5,
  'cordon check (command)': 1.5,
  'cordon run -- true': 1.5,
  'bwrap true': null,
}

/** Runs this part of the bench: in a project with the manifest that `cordon init` writes. */
export async function benchStartup(): Promise<void> {
  const project = mkdtempSync(join(tmpdir(), 'cordon-bench-'))
  const cordon = [process.execPath, join(import.meta.dirname, '../dist/cordon.cjs')]
  try {
    mkdirSync(join(project, 'src'))
    writeFileSync(join(project, 'src/a.ts'), '')
    writeFileSync(join(project, 'package.json'), JSON.stringify({ scripts: { test: 'vitest', build: 'tsc' } }))
    execFileSync(cordon[0]!, [cordon[1]!, 'init'], { cwd: project, stdio: 'ignore' })
    const times = compare(
      {
        'node -e 0': [process.execPath, '-e', '0'],
        'cordon --version': [...cordon, '--version'],
        'cordon check (file)': [...cordon, 'check', '--json', '--tool', 'read', '--input', '{"path":"src/a.ts"}'],
        'cordon check (command)': [...cordon, 'check', '--json', '--', COMMAND],
        // Named by hand, so that the bench needs no key: the manifest is then taken as the person's own.
        'cordon run -- true': [...cordon, 'run', '--manifest', 'cordon.toml', '--', 'true'],
        'bwrap true': ['bwrap', '--unshare-all', '--ro-bind', '/', '/', '--proc', '/proc', '--dev', '/dev', 'true'],
      },
      ROUNDS,
      project,
    )
    const base = times['node -e 0']!
    printTable(`One-shot start-up (median of ${ROUNDS}, in turns)`, [
      ['command', 'time', 'ratio', 'target'],
      ...Object.entries(times).map(([name, time]) => {
        const target = TARGETS[name] ?? null
        return [
          name,
          `${time.toFixed(1)} ms`,
          `${(time / base).toFixed(2)}x`,
          target === null ? '' : `<= ${target.toFixed(2)}x`,
        ]
      }),
    ])
  } finally {
    rmSync(project, { recursive: true, force: true })
  }
}
