/** `cordon setup`: puts `cordon` on PATH and completions into the person's shell, after a yes. */

import { chmodSync, existsSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { attempt } from '../../../../system/fault.ts'
import { machineFiles } from '../../../../system/files.ts'
import { type Machine, thisMachine } from '../../../../system/machine.ts'
import { makeDirectories } from '../../../../system/state.ts'
import { visible } from '../../../terminal/terminal.ts'
import { confirm } from '../../confirm.ts'
import { type CommandContext, EXIT } from '../../usage.ts'
import { type AccountFile, accountFiles, completionsOf, fileStatusOf, foundOnPath, isOnPath } from './account-files.ts'

export async function run({ terminal, args }: CommandContext): Promise<number> {
  const machine = thisMachine()
  const shell = basename(machine.env.SHELL ?? '')
  const wanted = wantedFiles(machine, shell)
  const blocked = wanted.filter((file) => fileStatusOf(file) === 'other')
  const steps = wanted.filter((file) => fileStatusOf(file) === 'absent' || fileStatusOf(file) === 'older')
  const answer = (written: boolean): number => {
    const [link] = accountFiles(machine)
    const notes = [...blocked.map(inTheWay), ...pathNotes(machine, shell, link!)]
    if (args.flags.json) {
      const changes = steps.map(({ kind, path }) => ({ kind, path }))
      terminal.out(`${JSON.stringify({ changes, written, notes })}\n`)
    }
    for (const note of notes) terminal.err(`cordon: ${visible(note)}\n`)
    return blocked.length > 0 || (steps.length > 0 && !written) ? EXIT.failed : EXIT.ok
  }
  if (steps.length === 0) {
    if (blocked.length === 0) terminal.err('Everything is set up already.\n')
    return answer(false)
  }
  terminal.err(args.flags.yes ? 'Written for you:\n' : 'This would be written for you:\n')
  for (const step of steps) terminal.err(`  ${visible(describeStep(step).replaceAll(`${machine.home}/`, '~/'))}\n`)
  if (!args.flags.yes && !(await confirm(terminal, 'Do it? [y/N] '))) {
    terminal.err('nothing was changed (--yes skips the question)\n')
    return answer(false)
  }
  for (const step of steps) write(step)
  return answer(true)
}

/** A package that the system installed is already on PATH. */
function wantedFiles(machine: Machine, shell: string): readonly AccountFile[] {
  const [link] = accountFiles(machine)
  const found = foundOnPath(machine)
  const program = link?.kind === 'link' ? machineFiles.canonical(link.to) : ''
  const isThere = found !== null && found !== link!.path && machineFiles.canonical(found) === program
  const completions = completionsOf(machine, shell)
  return [...(isThere ? [] : [link!]), ...(completions ? [completions] : [])]
}

function describeStep(file: AccountFile): string {
  const older = fileStatusOf(file) === 'older' ? ', instead of the one that is there' : ''
  return file.kind === 'link' ? `link ${file.path} to ${file.to}${older}` : `file ${file.path}: completions${older}`
}

function write(file: AccountFile): void {
  makeDirectories(dirname(file.path), 0o755)
  rmSync(file.path, { force: true })
  if (file.kind === 'link') symlinkSync(file.to, file.path)
  else {
    writeFileSync(file.path, file.text, { flag: 'wx' })
    chmodSync(file.path, 0o644)
  }
}

function inTheWay({ path }: AccountFile): string {
  return `${path} exists and is not Cordon’s, so it stays; move it away and run cordon setup again`
}

const LINES: Readonly<Record<string, { readonly file: string; readonly line: string }>> = {
  bash: { file: '~/.bashrc', line: 'export PATH="$HOME/.local/bin:$PATH"' },
  zsh: { file: '~/.zshrc', line: 'export PATH="$HOME/.local/bin:$PATH"' },
  fish: { file: '~/.config/fish/config.fish', line: 'fish_add_path ~/.local/bin' },
}

/** What the person's shell still lacks. Cordon does not edit start-up files. */
function pathNotes(machine: Machine, shell: string, link: AccountFile): readonly string[] {
  const notes: string[] = []
  const folder = dirname(link.path)
  const { file, line } = LINES[shell] ?? LINES.bash!
  if (existsSync(link.path) && !isOnPath(folder, machine)) {
    notes.push(
      mentions(join(machine.home, '.profile'), '.local/bin') && shell !== 'fish'
        ? `${folder} is not on PATH yet; your ~/.profile adds it when you log in again; in this shell: ${line}`
        : `${folder} is not on PATH; add this line to ${file}: ${line}`,
    )
  }
  const completions = completionsOf(machine, shell)
  if (shell === 'zsh' && completions && existsSync(completions.path)) {
    notes.push(
      `zsh finds the completions with this line in ~/.zshrc, before compinit: fpath+=(${dirname(completions.path)})`,
    )
  }
  if (shell === 'bash' && completions && existsSync(completions.path) && !existsSync('/usr/share/bash-completion')) {
    notes.push('bash loads completions with the package bash-completion; without it: source <(cordon completions bash)')
  }
  return notes
}

function mentions(path: string, text: string): boolean {
  return attempt(() => readFileSync(path, 'utf8').includes(text), false)
}
