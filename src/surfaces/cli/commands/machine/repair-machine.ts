/** `cordon doctor --fix`: shows what would repair this machine, and does it after you confirm. */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Support } from '../../../../run/open-backend.ts'
import { ownUid } from '../../../../system/state.ts'
import { type Terminal, visible } from '../../../terminal/terminal.ts'
import { confirm } from '../../confirm.ts'

type RepairStep = NonNullable<Support['assurances'][number]['repair']>[number]

/** Programs that run as root come from system folders, whatever PATH contains. */
const FOLDERS = ['/usr/sbin', '/usr/bin', '/sbin', '/bin']

/** Kernel settings are written in place; files are replaced. */
const WRITE =
  'umask 022; case $1 in /proc/*) exec cat > "$1";; esac; mkdir -p "$(dirname "$1")" && cat > "$1.cordon" && mv -f "$1.cordon" "$1"'

/** Repairs what a probe found, after the person confirms. The next probe reports what is left. */
export async function repairMachine(terminal: Terminal, { assurances }: Support, yes: boolean): Promise<void> {
  const steps = assurances.flatMap(({ repair }) => repair ?? [])
  if (steps.length === 0) return terminal.err('cordon: Cordon can repair nothing here\n')
  const sudo = ownUid() === 0 ? null : find('sudo')
  terminal.err('This would be done as root:\n')
  for (const step of steps) terminal.err(describeStep(step))
  if (sudo === undefined) return terminal.err('cordon: sudo is not installed; do it as root\n')
  if (!yes && !(await confirm(terminal, 'Do it? [y/N] '))) return terminal.err('cordon: nothing was changed\n')
  for (const step of steps) {
    const failed = carryOut(step, sudo)
    // Later steps depend on earlier ones.
    if (failed !== null) return terminal.err(`cordon: a step failed (${visible(failed)}):\n${describeStep(step)}`)
  }
}

function describeStep(step: RepairStep): string {
  const lines =
    step.kind === 'run'
      ? [`run ${step.argv.join(' ')}`]
      : [
          `write ${step.path}`,
          ...step.text
            .trimEnd()
            .split('\n')
            .map((line) => `  ${line}`),
        ]
  return lines.map((line) => `  ${visible(line)}\n`).join('')
}

function find(name: string): string | undefined {
  return FOLDERS.map((folder) => join(folder, name)).find((path) => existsSync(path))
}

function carryOut(step: RepairStep, sudo: string | null): string | null {
  const argv =
    step.kind === 'run' ? [find(step.argv[0]), ...step.argv.slice(1)] : ['/bin/sh', '-c', WRITE, 'sh', step.path]
  const [program, ...args] = sudo === null ? argv : [sudo, ...argv]
  if (argv[0] === undefined || program === undefined) return 'the program is not installed'
  const { error, status } = spawnSync(
    program,
    args as string[],
    {
      env: { PATH: FOLDERS.join(':'), LC_ALL: 'C.UTF-8' },
      cwd: '/',
      ...(step.kind === 'write'
        ? { input: step.text, stdio: ['pipe', 2, 2] as const }
        : { stdio: ['inherit', 2, 2] as const }),
    } as Parameters<typeof spawnSync>[2],
  )
  return error ? error.message : status === 0 ? null : `it ended with ${status}`
}
