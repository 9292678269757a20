/** git: configuration keys, transports, and what the rows cannot say about losing work. */

import { gitSettingReaches } from '../git-settings.ts'
import { isCommandTransport } from '../hosts.ts'
import type { Arg } from '../options.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

function reportSetting(use: Use, setting: string, arg: Arg, where: string): void {
  const equals = setting.indexOf('=')
  const key = equals < 0 ? setting : setting.slice(0, equals)
  const value = equals < 0 ? undefined : setting.slice(equals + 1)
  if (arg.text !== null && !gitSettingReaches(key, value)) return
  const message = `\`${where}\` sets \`${key}\`, which can make git run programs or go elsewhere`
  use.found.hazard('changes-config', message, arg.word.span)
}

const settings: Rule = (use) => {
  for (const option of usesOf(use, '-c')) {
    if (use.words.length > 1 && use.words[1] !== 'clone' && !isGlobal(use, option.span.start)) continue
    if (option.value !== null)
      reportSetting(use, option.value.text ?? option.value.prefix, option.value, `git ${option.name}`)
  }
}

/** True when a word stands before the subcommand. */
function isGlobal(use: Use, start: number): boolean {
  const sub = use.args.find((arg) => arg.text === use.words[1])
  return sub === undefined || start < sub.word.span.start
}

const writers = ['--add', '--replace-all', '--unset', '--unset-all', '--remove-section', '--rename-section']
const readers = [
  '--get',
  '--get-all',
  '--get-regexp',
  '--get-urlmatch',
  '--list',
  '-l',
  '--get-color',
  '--get-colorbool',
]

const config: Rule = (use) => {
  const verb = use.operands[0]?.text ?? ''
  const modern = ['set', 'unset', 'rename-section', 'remove-section', 'edit'].includes(verb)
  if (has(use, ...readers) || ['get', 'list'].includes(verb)) return
  const writes = modern || has(use, ...writers) || use.operands.length >= 2
  if (!writes) return
  const place = use.options.find((option) => ['--global', '--system', '-f', '--file', '--blob'].includes(option.name))
  if (place !== undefined) {
    use.found.hazard(
      'changes-config',
      `\`git config ${place.name}\` changes configuration outside the repository`,
      place.span,
    )
    if (place.value !== null) use.found.path(place.value, 'write')
  }
  if (verb === 'edit')
    use.found.hazard('option-runs-program', '`git config edit` opens the configured editor', use.span)
  const [key, value] = modern ? use.operands.slice(1, 3) : use.operands
  if (key === undefined) return
  const setting = `${key.text ?? key.prefix}${value === undefined ? '' : `=${value.text ?? value.prefix}`}`
  reportSetting(use, setting, value?.text === null ? value : key, 'git config')
  if (value !== undefined) {
    if (isCommandTransport(value.text ?? value.prefix))
      use.found.hazard('option-runs-program', '`git config` sets a transport that runs a program', value.word.span)
    use.found.loose(value)
  }
  if (verb.endsWith('-section') || has(use, '--rename-section'))
    use.found.hazard('changes-config', '`git config` renames or removes a section', key.word.span)
}

/** `ext::sh -c id`, `fd::7` and option-like addresses run programs. */
const transport: Rule = (use) => {
  const values = use.options.flatMap((option) => (option.value === null ? [] : [option.value]))
  for (const arg of [...use.operands, ...values]) {
    const text = arg.text ?? arg.prefix
    if (isCommandTransport(text))
      use.found.hazard(
        'option-runs-program',
        `\`${text.slice(0, 40)}\` is a transport that runs a program`,
        arg.word.span,
      )
    else if (/^(ssh|git|https?):\/\/-/.test(text))
      use.found.hazard('option-runs-program', 'the host name is read as an option of ssh', arg.word.span)
  }
}

const submoduleAdd: Rule = (use) => {
  const path = use.operands[1]
  if (path !== undefined) use.found.path(path, 'write')
}

/** A pathspec that takes everything: `.`, `:/`, `*`. */
function isEverything(arg: Arg): boolean {
  return arg.text === null ? arg.prefix === '' : /^(\.|\.\/|:\/|:|\*|:\/\*)$/.test(arg.text)
}

const checkout: Rule = (use) => {
  if (has(use, '-b', '-B', '--orphan', '--detach', '-t', '--track')) return
  if (use.operands.some(isEverything)) use.setEffect('destructive', 'throws away every uncommitted change')
  if (use.args.some((arg) => arg.text === '--'))
    for (const arg of use.operands.slice(use.beforeDashes)) use.found.path(arg, 'write')
}

const restore: Rule = (use) => {
  const staged = has(use, '--staged', '-S') && !has(use, '--worktree', '-W')
  if (!staged && use.operands.some(isEverything)) use.setEffect('destructive', 'throws away every uncommitted change')
}

const clean: Rule = (use) => {
  if (has(use, '-n', '--dry-run')) use.setEffect('local', '')
}

const rebase: Rule = (use) => {
  if (has(use, '--abort', '--continue', '--skip', '--quit', '--show-current-patch', '--edit-todo'))
    use.setEffect('local', '')
}

const push: Rule = (use) => {
  if (has(use, '-n', '--dry-run')) use.setEffect('remote-read', 'asks a remote what a push would change')
  else if (use.operands.slice(1).some((arg) => /^[+:]/.test(arg.text ?? '')))
    use.setEffect('destructive', 'rewrites or deletes a branch of a remote')
}

const branch: Rule = (use) => {
  if (has(use, '-d', '--delete') && has(use, '-f', '--force'))
    use.setEffect('destructive', 'deletes a branch that may not be merged')
}

/** A merge strategy that git does not bring is the program `git-merge-…`. */
const strategy: Rule = (use) => {
  for (const option of usesOf(use, '-s', '--strategy')) {
    const text = option.value?.text
    if (
      option.row?.takes === 'value' &&
      (text == null || !/^(ort|recursive|resolve|octopus|ours|theirs|subtree)$/.test(text))
    )
      use.found.hazard(
        'option-runs-program',
        `\`${use.words.join(' ')} ${option.name} ${text ?? '…'}\` runs a program`,
        option.span,
      )
  }
}

const noIndex: Rule = (use) => {
  if (!has(use, '--no-index')) return
  for (const arg of use.operands) use.found.path(arg, 'read')
}

/** `git show HEAD:.env` reads a file as it was committed. */
const committedFile: Rule = (use) => {
  for (const arg of use.operands) {
    const path = /^[^:\s]*:(?!\/\/)(?:\d:)?([^:]+)$/.exec(arg.text ?? '')?.[1]
    if (path !== undefined) use.found.file(path, 'read', arg.word.span)
  }
}

const worktreeAdd: Rule = (use) => {
  if (has(use, '--force', '-f')) use.setEffect('local', '')
}

export const gitRules: Readonly<Record<string, Rule>> = {
  git: settings,
  'git config': config,
  'git clone, git fetch, git pull, git push, git ls-remote, git remote, git submodule, git archive, git fetch-pack, git request-pull':
    transport,
  'git submodule add': submoduleAdd,
  'git checkout': checkout,
  'git restore': restore,
  'git clean': clean,
  'git rebase': rebase,
  'git push': push,
  'git branch': branch,
  'git diff, git grep': noIndex,
  'git merge, git pull, git rebase, git cherry-pick, git revert': strategy,
  'git show, git cat-file, git diff': committedFile,
  'git worktree add': worktreeAdd,
}
