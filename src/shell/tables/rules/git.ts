/** git: configuration keys, transports, and losses that rows cannot express. */

import { secretOfGlob } from '../../../files/aimed-globs.ts'
import { isHarmlessGitKey } from '../../../files/git-keys.ts'
import { commandsIn } from '../embedded.ts'
import type { Arg } from '../options.ts'
import { isCommandTransport, isLeftOut, resolvePath } from '../places.ts'
import { has, mayHave, type Rule, type Use, usesOf } from '../use.ts'

function reportSetting(use: Use, setting: string, arg: Arg, where: string): void {
  const equals = setting.indexOf('=')
  const key = equals < 0 ? setting : setting.slice(0, equals)
  const value = equals < 0 ? undefined : setting.slice(equals + 1)
  if (arg.text !== null && !gitSettingReaches(key, value)) return
  const message = `\`${where}\` sets \`${key}\`, which can make git run programs or go elsewhere`
  use.found.hazard('changes-config', message, arg.word.span)
}

/** Settings of this command: from options, the environment, and variables that an option names. */
function settingsOf(use: Use): readonly string[] {
  if (use.options.length === 0 && use.place.assignments.length === 0) return []
  const variable = (name: string): string | undefined => {
    const values = use.place.assignments.find((one) => one.name === name)?.value?.values
    return values?.length === 1 ? values[0] : undefined
  }
  const options = usesOf(use, '-c').flatMap(({ value }) => value?.text ?? [])
  const named = usesOf(use, '--config-env').flatMap(({ value }) => {
    const [, key, name] = /^([^=]+)=(.+)$/.exec(value?.text ?? '') ?? []
    return key === undefined || name === undefined ? [] : [`${key}=${variable(name) ?? ''}`]
  })
  if (use.place.assignments.length === 0) return [...options, ...named]
  const counted = use.place.assignments.flatMap(({ name, value }) => {
    const index = /^GIT_CONFIG_KEY_(\d+)$/.exec(name)?.[1]
    return index === undefined ? [] : [`${value?.values?.[0] ?? ''}=${variable(`GIT_CONFIG_VALUE_${index}`) ?? ''}`]
  })
  const parameters = [...(variable('GIT_CONFIG_PARAMETERS') ?? '').matchAll(/'([^']*)'(?:='([^']*)')?/g)].map(
    ([, key, value]) => (value === undefined ? (key ?? '') : `${key}=${value}`),
  )
  return [...options, ...named, ...counted, ...parameters]
}

/** Settings that change the command: another verb, a force, a program. */
const changesVerb: Rule = (use) => {
  for (const setting of settingsOf(use)) obeySetting(use, setting)
}

function obeySetting(use: Use, setting: string): void {
  const [, key = '', value = ''] = /^([^=]*)=?([\s\S]*)$/.exec(setting) ?? []
  const alias = /^alias\.(.+)$/i.exec(key)?.[1]
  const verb = use.words[1] ?? use.operands[0]?.text ?? ''
  if (alias !== undefined) {
    if (value === '' && alias.toLowerCase() === verb.toLowerCase())
      use.setEffect('loss', 'runs an alias that is not known beforehand')
    const rest = use.operands.slice(use.words.length > 1 ? 0 : 1).map((arg) => arg.text ?? arg.prefix)
    use.delegateTexts(
      value.startsWith('!')
        ? commandsIn(value.slice(1))
        : commandsIn(`git ${value}`).map((words) => [...words, ...rest]),
    )
  } else if (/^clean\.requireforce$/i.test(key)) {
    if (verb === 'clean' && /^(false|no|off|0|)$/i.test(value) && !has(use, '-n', '--dry-run'))
      use.setEffect('loss', 'deletes untracked files')
  } else if (/^gc\..*(expire|prune)/i.test(key)) {
    if (/^(gc|maintenance|reflog|prune|pull|fetch|merge|rebase|commit|am)$/.test(verb))
      use.setEffect('loss', 'deletes what could bring commits back')
  } else if (/^remote\..*\.(push|mirror)$/i.test(key)) {
    if (verb === 'push' && (value.startsWith('+') || /^(true|yes|on|1)$/i.test(value)))
      use.setEffect('destructive', 'rewrites commits on a remote')
  } else if (gitSettingReaches(key, value)) use.delegateTexts(commandsIn(value.replace(/^!/, '')))
}

const settings: Rule = (use) => {
  changesVerb(use)
  for (const option of usesOf(use, '-c')) {
    if (use.words.length > 1 && use.words[1] !== 'clone' && !isGlobal(use, option.span.start)) continue
    if (option.value !== null)
      reportSetting(use, option.value.text ?? option.value.prefix, option.value, `git ${option.name}`)
  }
}

/** Whether a word precedes the subcommand. */
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
  obeySetting(use, setting)
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

/** A word that is a file rather than a branch: `src/app.ts`, `./x`, `*.ts`, `:(top)`. */
function isPathspec(arg: Arg): boolean {
  if (arg.text === null) return true
  return /^(\.{1,2}(\/|$)|:|\*)|[*?[]|\.[A-Za-z][A-Za-z0-9]{0,4}$/.test(arg.text)
}

const checkout: Rule = (use) => {
  if (has(use, '-b', '--orphan', '--detach', '-t', '--track')) return
  const dashes = use.args.some((arg) => arg.text === '--')
  const paths = dashes ? use.operands.slice(use.beforeDashes) : use.operands.slice(1)
  if (paths.length > 0 || (!dashes && use.operands.some(isPathspec)))
    use.setEffect('loss', 'throws away uncommitted changes of files')
  if (dashes) for (const arg of paths) use.found.path(arg, 'write')
}

const restore: Rule = (use) => {
  const staged = has(use, '--staged', '-S') && !mayHave(use, '--worktree', '-W')
  if (staged && !mayHave(use, '-p', '--patch')) use.setEffect('local', '')
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
  if (mayHave(use, '-d', '--delete') && mayHave(use, '-f', '--force'))
    use.setEffect('loss', 'deletes a branch that may not be merged')
}

/** `git switch -C x`, `git branch -C a b`; before the subcommand `-C` is a directory. */
const overwrites: Rule = (use) => {
  const at = use.args.findIndex((arg) => arg.text === use.words[1])
  if (use.args.slice(at + 1).some((arg) => /^-[a-zA-Z]*C/.test(arg.text ?? '')))
    use.setEffect('loss', 'moves or overwrites a branch')
}

/** `git fetch origin +main:main` overwrites a branch of this repository. */
const fetch: Rule = (use) => {
  if (use.operands.slice(1).some((arg) => /^\+[^:]+:(?!refs\/remotes\/)/.test(arg.text ?? '')))
    use.setEffect('loss', 'overwrites branches of this repository')
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
  'git fetch, git pull': fetch,
  'git switch, git branch': overwrites,
  'git diff, git grep': noIndex,
  'git merge, git pull, git rebase, git cherry-pick, git revert': strategy,
  'git worktree add': worktreeAdd,
}

/** `HEAD:path`, `:0:path`, `stash@{0}:path`: the part after the colon. Addresses do not match. */
const COMMITTED = /^[^:]*:(?!\/\/)(?:\d:)?(.+)$/s

/** `main@{10:00}:path`, `HEAD^{/a: b}:path`: the colons in here are of the revision. */
const BRACES = /\{[^}]*\}/g

/** `:(top,icase)path`, `:/path`: the magic prefix of a pathspec. */
const MAGIC = /^:(?:\([^)]*\)|[/!^]+)/

/** The words that can name files; the first word of grep is its pattern. */
function named(use: Use): readonly Arg[] {
  const looks = use.words[1] === 'grep' && !has(use, '-e', '-f')
  return use.operands.slice(looks ? 1 : 0).filter((arg) => !isLeftOut(arg.text ?? ''))
}

/** A word as written, including unknown parts: `"$rev:.env"` still names the file. */
function written(arg: Arg): string {
  return arg.text ?? arg.word.text.replace(/["']/g, '')
}

/** The path of a word that names a file by what was committed. */
function committedIn(text: string): string | undefined {
  return COMMITTED.exec(text.replace(MAGIC, 'HEAD:').replace(BRACES, ''))?.[1]
}

function reportCommitted(use: Use, arg: Arg): void {
  const path = committedIn(written(arg))
  if (path !== undefined) use.found.file(path, 'read', arg.word.span)
}

/** git matches the patterns that bash left alone; one that is aimed at a secret reads it. */
function reportPattern(use: Use, arg: Arg): void {
  const pattern = arg.text?.replace(MAGIC, '') ?? ''
  if (!/[*?[]/.test(pattern)) return
  const { path } = resolvePath(pattern, use.place.cwd ?? '/', use.place.home)
  if (path !== null && secretOfGlob(path, use.place.home) !== null)
    use.found.file(pattern, 'read', arg.word.span, { glob: true })
}

const shows: Rule = (use) => {
  for (const arg of named(use)) {
    reportCommitted(use, arg)
    reportPattern(use, arg)
  }
  for (const { value } of usesOf(use, '-L', '--blob')) {
    // `-L1,9:path`, `-L:name:path`: the path is behind the last colon.
    const path = value === null ? undefined : /:([^:]+)$/s.exec(written(value))?.[1]
    if (value !== null && path !== undefined) use.found.file(path, 'read', value.word.span)
  }
}

/** `git cat-file --batch <<< HEAD:.env`. */
const listed: Rule = (use) => {
  for (const line of use.place.input?.split('\n') ?? []) {
    const path = committedIn(line.trim())
    if (path !== undefined) use.found.file(path, 'read', use.span)
  }
}

const SHOWING = [
  'annotate archive blame cat-file config diff diff-files diff-index diff-tree difftool fast-export format-patch grep log merge-file',
  'merge-tree mergetool notes range-diff read-tree rev-list shortlog show stash unpack-file whatchanged',
].flatMap((line) => line.split(' '))

export const gitHistoryRules: Readonly<Record<string, Rule>> = {
  [SHOWING.map((subcommand) => `git ${subcommand}`).join(', ')]: shows,
  'git cat-file': listed,
}

/** Host rules judge hosts of a command line, file rules folders, and written files. */
const facts = { isKnownHost: () => true, isOwnFolder: () => false }

/** True when the setting can make git run a program, load configuration, or talk to another place. */
function gitSettingReaches(key: string, value: string | undefined): boolean {
  return !isHarmlessGitKey(key, value, facts)
}
