/** rm, chmod, dd, cp, find and archives: losses and changes that rows cannot express. */

import { posix } from 'node:path'
import type { Arg } from '../options.ts'
import { resolvePath } from '../places.ts'
import { has, mayHave, type Rule, type Use, usesOf } from '../use.ts'

/** Names of build and run outputs: deleting them loses nothing. */
const reproducible: ReadonlySet<string> = new Set(
  (
    'node_modules dist build target out coverage .next .nuxt .output .svelte-kit .turbo .cache .parcel-cache .vite .vitest ' +
    '.angular .expo .astro .docusaurus .nyc_output .pytest_cache .mypy_cache .ruff_cache .tox .nox .eggs .hypothesis ' +
    '__pycache__ htmlcov .coverage .gradle .dart_tool storybook-static test-results playwright-report tmp temp .tmp .temp ' +
    '.venv venv obj cmake-build-debug cmake-build-release _build .stack-work dist-newstyle zig-cache .zig-cache ' +
    'DerivedData .build .terraform .serverless .wrangler .vercel .netlify .swc .esbuild .rollup.cache .eslintcache ' +
    'package-lock.json yarn.lock pnpm-lock.yaml bun.lock bun.lockb .tsbuildinfo .sass-cache .jekyll-cache _site logs .logs'
  ).split(' '),
)

/** Names below which a tool manages every file: people write nothing there. */
const toolOwned: ReadonlySet<string> = new Set(
  'node_modules .next .nuxt .turbo .cache .parcel-cache .vite .svelte-kit .angular __pycache__ .pytest_cache .mypy_cache .ruff_cache .tox .gradle .venv target DerivedData .terraform'.split(
    ' ',
  ),
)

/** Names of what programs leave behind. */
const litter =
  /^(\*\.(pyc|pyo|o|class|log|tmp|orig|rej|bak|swp|map|tgz|tsbuildinfo|out|prof|cov)|__pycache__|\.DS_Store|Thumbs\.db|\*~)$/

/** Whether a build or a new run restores the path: build output in the project, scratch files. */
function isDisposable(arg: Arg, use: Use): boolean {
  const { cwd, fallback } = use.place
  return isDisposableAt(arg, use, cwd) && (fallback === null || isDisposableAt(arg, use, fallback))
}

function isDisposableAt(arg: Arg, use: Use, cwd: string | null): boolean {
  const text = arg.text ?? arg.pattern
  if (text === null || text === '') return false
  const { path } = resolvePath(text, cwd ?? '/', use.place.home)
  if (path === null) return false
  const scratch = /^(?:\/private)?\/(?:tmp|var\/tmp)\/[^/*?]|^\/var\/folders\/.+\/T\/[^/*?]/.test(path)
  // A project in /tmp is still a project.
  if (scratch && !use.place.roots.some((kept) => isAbout(path, kept))) return true
  const root = cwd
  const inside = root === null ? !text.startsWith('/') && !text.startsWith('~') : path.startsWith(`${root}/`)
  if (!inside || text.split('/').includes('..')) return false
  const below = (root === null ? text : path.slice(root.length + 1)).replace(/\/\*$/, '').split('/')
  // Only as the whole last name: `src/dist/notes` is somebody's work.
  const last = below.at(-1) ?? ''
  return reproducible.has(last) || /\.(egg-info|tsbuildinfo)$/.test(last) || below.some((part) => toolOwned.has(part))
}

/** Whether one of the two contains the other. */
function isAbout(path: string, kept: string): boolean {
  return `${path}/`.startsWith(`${kept}/`) || `${kept}/`.startsWith(`${path}/`)
}

/** A file that a variable or a substitution names: a temporary one by its beginning, or any. */
function isUnknown(arg: Arg): boolean {
  if (arg.text !== null || arg.word.values !== null) return false
  if (/^(\/private)?\/(tmp|var\/tmp)\/./.test(arg.prefix) && !arg.word.splits) return false
  return arg.word.dynamic.some((kind) => kind !== 'glob' && kind !== 'tilde' && kind !== 'arithmetic')
}

/** `rm -rf *`, `rm -rf "$PWD"`: the working directory, a folder above it, or all its contents. */
function isEverything(arg: Arg, use: Use): boolean {
  if (arg.text === null) return arg.pattern !== null && /^(\.\/)?\.?\*\/?$/.test(arg.pattern)
  const { path } = resolvePath(arg.text, use.place.cwd, use.place.home)
  const { cwd } = use.place
  return path !== null && cwd !== null && (cwd === path || cwd.startsWith(path === '/' ? '/' : `${path}/`))
}

/** `*` and `*.ts`: all files of a directory or of a kind, without build and run outputs. */
function isWholeKind(arg: Arg, use: Use): boolean {
  const name = arg.pattern === null || arg.text !== null ? '' : posix.basename(arg.pattern)
  return /^\*(\.\w+)*$/.test(name) && !litter.test(name) && !isDisposable(arg, use)
}

const remove: Rule = (use) => {
  const recursive = use.program === 'rimraf' || mayHave(use, '-r', '-R', '--recursive')
  // `find … -exec rm {} +`, `… | xargs rm`, `rm $(cat list)`, `rm src/*.ts`: as many files as there are.
  if (!recursive && use.operands.some((arg) => isUnknown(arg) || isWholeKind(arg, use)))
    use.setEffect('loss', 'deletes every file it is given')
  if (!recursive) return
  for (const arg of use.operands) {
    use.found.path(arg, 'write', true)
    if (isEverything(arg, use))
      use.found.hazard(
        'deletes-everything',
        `\`${use.program} ${arg.word.text}\` deletes the whole directory it works in`,
        arg.word.span,
      )
  }
  if (use.operands.length > 0 && use.operands.every((arg) => isDisposable(arg, use))) use.setEffect('local', '')
  else use.setEffect('loss', 'deletes directories with everything in them')
}

/** `chmod -x f`: a mode that looks like options. */
const modeWord = /^([ugoa]*[-+=][rwxXstugo]*,?)+$|^[0-7]+$/

const chmod: Rule = (use) => {
  const dashed = use.args.filter((arg) => /^-[rwxXst]+$/.test(arg.text ?? ''))
  const mode = dashed.length > 0 ? dashed[0] : use.operands[0]
  if (dashed.length > 0 && use.operands[0] !== undefined) use.found.path(use.operands[0], 'write')
  if (mode === undefined || has(use, '--reference')) return
  const text = mode.text
  if (text === null || !modeWord.test(text) || /[+=][rwxXugo]*s/.test(text) || /^0*[2-7][0-7]{3}$/.test(text))
    use.found.hazard(
      'changes-system',
      '`chmod` sets a set-user-id or set-group-id bit, or a mode that is not known',
      mode.word.span,
    )
}

/** Modes that let every account write: `777`, `666`, `o+w`, `a+rwx`. */
const openToAll = /^0*[0-7]{0,2}[2367]$|(^|,)[ugo]*[oa][ugoa]*[+=][rxXst]*w/

const openMode: Rule = (use) => {
  const mode = use.operands[0]
  if (mode?.text != null && !has(use, '--reference') && openToAll.test(mode.text))
    use.found.hazard('changes-system', '`chmod` lets every account write', mode.word.span)
}

const dd: Rule = (use) => {
  for (const arg of use.args) {
    const text = arg.text ?? arg.prefix
    const match = /^(if|of)=(.*)$/s.exec(text)
    if (match === null) continue
    const access = match[1] === 'of' ? 'write' : 'read'
    const file = match[2] ?? ''
    if (arg.text === null) use.found.unknownPath(arg.word, file, access, false)
    else use.found.file(file, access, arg.word.span)
    if (access === 'write' && (/^\/dev\/(?!null$|stdout$|stderr$|zero$)/.test(file) || arg.text === null)) {
      use.found.hazard('changes-system', '`dd` writes to a device', arg.word.span)
      use.setEffect('destructive', 'overwrites a device')
    }
  }
}

const copy: Rule = (use) => {
  if (!has(use, '-r', '-R', '-a', '--recursive', '--archive')) return
  const last = use.operands.length - 1
  use.operands.forEach((arg, index) => {
    const destination = index === last && index > 0 && !has(use, '-t')
    use.found.path(arg, destination ? 'write' : 'read', true)
  })
}

/** A symbolic link resolves from its folder; a single operand creates one of that name here. */
const link: Rule = (use) => {
  const [only] = use.operands
  if (!has(use, '-s')) {
    if (use.operands.length === 1 && only !== undefined) use.found.path(only, 'read')
    return
  }
  const into = usesOf(use, '-t')[0]?.value?.text
  const name = into ?? (use.operands.length > 1 ? use.operands.at(-1)?.text : '.') ?? null
  const targets = into === undefined && use.operands.length > 1 ? use.operands.slice(0, -1) : use.operands
  const base = name === null || into !== undefined || /(^|\/)\.{0,2}$/.test(name) ? name : posix.dirname(name)
  for (const arg of targets)
    if (arg.text === null || base === null || /^[/~]/.test(arg.text)) use.found.path(arg, 'read')
    else use.found.file(`${base}/${arg.text}`, 'read', arg.word.span)
}

/** `find . -name .git -exec rm -rf {} +`: the repository itself, unless it is excluded. */
function reportRepository(use: Use): void {
  const words = use.args.map((arg) => arg.text ?? '')
  if (words.some((word) => /^(?:!|-not|-prune|-E|--exclude)$/.test(word))) return
  const at = words.findIndex((word) => /(?:^|[/^\\])\.git(?:[/*$]|$)/.test(word))
  const removes = words.some((word) => /^(?:-delete|(?:\S*\/)?(?:rm|mv|shred|unlink|truncate|rmdir))$/.test(word))
  if (at >= 0 && removes) use.found.file('.git', 'write', use.args[at]?.word.span ?? use.span, { recursive: true })
}

const find: Rule = (use) => {
  reportRepository(use)
  // Found files are passed to a command: names that aim at secrets are read.
  if (has(use, '-exec', '-execdir', '-ok', '-okdir'))
    for (const option of usesOf(use, '-name', '-iname'))
      if (option.value?.text != null) use.found.file(option.value.text, 'read', option.span, { glob: true })
  if (has(use, '-delete')) {
    for (const arg of use.operands) use.found.path(arg, 'write', true)
    const names = usesOf(use, '-name', '-iname').map((option) => option.value?.text ?? '')
    const tidies = names.length > 0 && names.every((name) => litter.test(name)) && !has(use, '-o', '-or', '-not')
    if (tidies && use.operands.every((arg) => /^(\.|\.\/.*|[\w-][\w./-]*)$/.test(arg.text ?? '/')))
      use.setEffect('local', '')
    else use.setEffect('loss', 'deletes every file it finds')
  }
}

/** `xargs mv`, `xargs truncate -s 0`: changes every file from its input. */
const changesGiven: Rule = (use) => {
  const emptied = use.program === 'truncate' && use.operands.some((arg) => isWholeKind(arg, use))
  if (emptied || use.operands.some(isInput)) use.setEffect('loss', 'changes every file it is given')
}

const deletesGiven: Rule = (use) => {
  if (use.operands.some(isUnknown)) use.setEffect('loss', 'deletes every file it is given')
}

/** Comes from input: nobody knows how many. */
const isInput = (arg: Arg): boolean => arg.word.dynamic.includes('input')

export const fileRules: Readonly<Record<string, Rule>> = {
  'rm, rimraf, srm': remove,
  'unlink, shred, wipe': deletesGiven,
  'mv, truncate, dd': changesGiven,
  chmod: (use) => {
    chmod(use)
    openMode(use)
  },
  dd,
  cp: copy,
  ln: link,
  find,
  'fd, fdfind': reportRepository,
}

/** tar, zip and 7z: the letters decide which side is read and which is written. */
const tar: Rule = (use) => {
  const extracts = has(use, '-x', '--extract', '--get')
  const lists = has(use, '-t', '--list', '-d', '--diff', '--compare')
  if (mayHave(use, '--remove-files', '--recursive-unlink')) use.setEffect('loss', 'deletes the files that it packs')
  for (const option of usesOf(use, '-f')) {
    const text = option.value?.text
    if (text != null && /^[^/]+:/.test(text) && !has(use, '--force-local'))
      use.found.hazard('option-runs-program', '`tar -f host:file` starts a program on another machine', option.span)
    else if (option.value !== null) use.found.path(option.value, extracts || lists ? 'read' : 'write')
  }
  for (const option of usesOf(use, '-C', '--one-top-level'))
    if (option.value !== null) use.found.path(option.value, extracts ? 'write' : 'read', true)
  if (extracts || lists) return
  // Operands are resolved at the last -C; without one, here.
  if (!has(use, '-C')) for (const arg of use.operands) use.found.path(arg, 'read', true)
  else for (const arg of use.operands) use.found.loose(arg)
}

const sevenZip: Rule = (use) => {
  if (use.args.some(({ text }) => text === '-sdel')) use.setEffect('loss', 'deletes the files that it packs')
  for (const option of use.options) {
    const glued = /^-o(.+)$/.exec(option.name)?.[1]
    if (glued !== undefined) use.found.file(glued, 'write', option.span, { recursive: true })
    if (/^-[ix]r?[0-]?@/.test(option.name) || /^-sfx/.test(option.name))
      use.found.hazard('option-reads-list', '`7z` takes file names or a module from a file', option.span)
  }
  const command = use.operands[0]?.text ?? ''
  const archive = use.operands[1]
  if (archive !== undefined) use.found.path(archive, /^[xetl]$/.test(command) ? 'read' : 'write')
  for (const arg of use.operands.slice(2))
    if (arg.text?.startsWith('@')) {
      use.found.hazard('option-reads-list', '`7z @file` takes file names from a file', arg.word.span)
      use.found.file(arg.text.slice(1), 'read', arg.word.span)
    }
}

/** `ar rcs lib.a x.o`: the letters say whether the archive is written. */
const ar: Rule = (use) => {
  const archive = use.operands[0]
  if (archive !== undefined && has(use, '-r', '-q', '-d', '-m', '-s')) use.found.path(archive, 'write')
}

/** `zip -TmTT cmd`: two letters in a cluster are one option that runs a command. */
const zip: Rule = (use) => {
  if (mayHave(use, '-m', '--move', '-d', '--delete')) use.setEffect('loss', 'deletes files')
  for (const arg of use.args)
    if (/^-[A-Za-z0-9]*TT/.test(arg.text ?? ''))
      use.found.hazard('option-runs-program', '`zip -TT` runs a command on the archive', arg.word.span)
}

export const archiveRules: Readonly<Record<string, Rule>> = {
  ar,
  zip,
  'tar, bsdtar': tar,
  '7z, 7za, 7zr, 7zz': sevenZip,
}
