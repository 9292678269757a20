/** The files that `cordon setup` adds to the account: a link on PATH and shell completions. */

import { existsSync, lstatSync, readFileSync, readlinkSync } from 'node:fs'
import { basename, delimiter, dirname, join, resolve } from 'node:path'
import { machineFiles } from '../../../../system/files.ts'
import type { Machine } from '../../../../system/machine.ts'

export type AccountFile =
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'completions'; readonly path: string; readonly text: string }

/** Where each shell looks for completions. The script asks the installed Cordon for them. */
const COMPLETIONS: Readonly<Record<string, (machine: Machine) => { readonly path: string; readonly text: string }>> = {
  bash: (machine) => ({
    path: join(dataHome(machine), 'bash-completion/completions/cordon'),
    text: 'command -v cordon > /dev/null && source <(cordon completions bash)\n',
  }),
  zsh: (machine) => ({
    path: join(dataHome(machine), 'zsh/site-functions/_cordon'),
    text: '(( $+commands[cordon] )) && eval "$(cordon completions zsh)"\n',
  }),
  fish: (machine) => ({
    path: join(configHome(machine), 'fish/completions/cordon.fish'),
    text: 'command -q cordon; and cordon completions fish | source\n',
  }),
}

const FIRST_LINE = '# Written by cordon setup.'

/** The files of this account, present or not. */
export function accountFiles(machine: Machine): readonly AccountFile[] {
  const completions = Object.entries(COMPLETIONS).map(([shell, of]) => {
    const { path, text } = of(machine)
    // zsh requires this marker in the first line.
    return {
      kind: 'completions' as const,
      path,
      text: `${shell === 'zsh' ? '#compdef cordon\n' : ''}${FIRST_LINE}\n${text}`,
    }
  })
  return [{ kind: 'link', path: join(machine.home, '.local/bin/cordon'), to: programFile() }, ...completions]
}

export function completionsOf(machine: Machine, shell: string): AccountFile | null {
  const wanted = COMPLETIONS[shell]?.(machine).path
  return accountFiles(machine).find(({ path }) => path === wanted) ?? null
}

/** The program that a person calls: the checkout's, which rebuilds on change, or the package's. */
function programFile(): string {
  const root = dirname(dirname(machineFiles.canonical(process.argv[1] ?? '')))
  const ofCheckout = join(root, 'cordon')
  return existsSync(join(root, 'scripts/is-built.sh')) ? ofCheckout : join(root, 'bin/cordon')
}

/** The status of a file: absent, current, outdated, or not Cordon's. */
export function fileStatusOf(file: AccountFile): 'absent' | 'same' | 'older' | 'other' {
  const facts = lstatSync(file.path, { throwIfNoEntry: false })
  if (facts === undefined) return 'absent'
  if (file.kind === 'link') {
    if (!facts.isSymbolicLink()) return 'other'
    const to = resolve(dirname(file.path), readlinkSync(file.path))
    if (machineFiles.canonical(to) === machineFiles.canonical(file.to)) return 'same'
    // A link to a Cordon that moved or is gone, or to another one.
    return basename(to) === 'cordon' && (!existsSync(to) || isCordon(to)) ? 'older' : 'other'
  }
  const text = facts.isFile() ? readFileSync(file.path, 'utf8') : ''
  return text === file.text ? 'same' : text.includes(FIRST_LINE) ? 'older' : 'other'
}

function isCordon(path: string): boolean {
  const package_ = join(dirname(machineFiles.canonical(path)), 'dist/cordon.cjs')
  return existsSync(package_) || existsSync(join(dirname(machineFiles.canonical(path)), '../dist/cordon.cjs'))
}

export function isOnPath(folder: string, { env }: Machine): boolean {
  return (env.PATH ?? '').split(delimiter).some((entry) => entry !== '' && resolve(entry) === folder)
}

/** The `cordon` that the person's shell finds, or null. */
export function foundOnPath({ env }: Machine): string | null {
  const paths = (env.PATH ?? '').split(delimiter).filter((entry) => entry.startsWith('/'))
  return paths.map((entry) => join(entry, 'cordon')).find((path) => existsSync(path)) ?? null
}

const dataHome = ({ env, home }: Machine): string => absolute(env.XDG_DATA_HOME) ?? join(home, '.local/share')
const configHome = ({ env, home }: Machine): string => absolute(env.XDG_CONFIG_HOME) ?? join(home, '.config')
const absolute = (path: string | undefined): string | null => (path?.startsWith('/') ? path : null)
