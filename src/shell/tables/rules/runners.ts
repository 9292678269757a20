/**
 * Runners (npx, uv run, npm exec …) are judged by the command they run, npm scripts by their name.
 */

import type { Arg } from '../options.ts'
import { isUrl } from '../places.ts'
import { projectTools } from '../project-tools.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'
import { reportReleasing } from './build.ts'

/** Judges the operands as a separate command; a version after the name is dropped (`eslint@9`). */
function delegateTo(use: Use, operands: readonly Arg[]): void {
  const first = operands[0]
  if (first === undefined) return
  const name = first.text === null ? null : first.text.replace(/(?<=.)@[^/]*$/, '').replace(/^@[^/]+\//, '')
  const head = name === null ? first.word : { ...first.word, text: name, values: [name] }
  use.delegate([head, ...operands.slice(1).map((arg) => arg.word)])
}

const runs: Rule = (use) => {
  if (use.words.at(-1) === 'run' && /^(npm|pnpm|yarn|bun)$/.test(use.program)) return
  const module = usesOf(use, '-m')[0]
  if (module !== undefined && /^(uv|uvx)$/.test(use.program) && use.operands[0] !== undefined) {
    const python = { ...use.operands[0].word, text: 'python', values: ['python'] }
    const dashM = { ...python, text: '-m', values: ['-m'] }
    use.delegate([python, dashM, ...use.operands.map((arg) => arg.word)])
    return
  }
  const first = use.operands[0]?.text
  if (use.program === 'uv' && first != null && /\.pyw?$/.test(first)) {
    use.found.file(first, 'read', use.operands[0]?.word.span ?? use.span)
    return
  }
  // A package by its address.
  const [named] = use.operands
  if (named?.text != null && isUrl(named.text)) use.found.host(named.text, named.word.span)
  delegateTo(use, use.operands)
}

const scripts: Rule = (use) => {
  reportReleasing(use, use.operands[0]?.text)
}

/** pnpm, yarn and bun run a project script if the word is not one of their subcommands. */
const shorthand: Rule = (use) => {
  if (use.words.length > 1 && !['pnpm', 'yarn'].includes(use.program)) return
  const name = use.words[1] ?? use.operands[0]?.text
  if (name == null) return
  // These are separate subcommands.
  if (name === 'publish' || (use.program === 'pnpm' && name === 'deploy')) return
  reportReleasing(use, name)
}

/** `pnpm eslint …`, `yarn vitest …`: a program of the project by its name. */
const byName: Rule = (use) => {
  const name = use.words[1]
  if (name === undefined || !projectTools.has(name)) return
  const at = use.argv.findIndex((word) => word.values?.length === 1 && word.values[0] === name)
  if (at > 0) use.delegate(use.argv.slice(at))
}

/** `npm install --location=global`: the long way to say -g. */
const globalPlace: Rule = (use) => {
  for (const option of usesOf(use, '--location'))
    if (option.value?.text !== 'project' && option.value?.text !== 'user')
      use.found.hazard('changes-system', '`npm --location` changes packages of the whole account', option.span)
}

const pkgSet: Rule = (use) => {
  const [verb, ...pairs] = use.operands
  if (verb?.text !== 'set' && verb?.text !== 'fix' && verb?.text !== 'delete' && verb?.text !== null) return
  for (const arg of pairs)
    if (
      arg.text === null ||
      /^(scripts|bin|config|main|exports|dependencies|devDependencies|overrides|workspaces|type|packageManager)\b/.test(
        arg.text,
      )
    )
      use.found.hazard(
        'changes-config',
        `\`npm pkg set ${arg.text ?? '…'}\` changes what later commands run`,
        arg.word.span,
      )
}

/** A file given to bun is a program. */
const bun: Rule = (use) => {
  if (use.words.length > 1) return
  const first = use.operands[0]
  if (first === undefined) return
  if (first.text === '-') use.found.hazard('interpreter-code', '`bun -` runs what it reads', first.word.span)
  else if (first.text === null)
    use.found.hazard('interpreter-script', 'which script `bun` runs is not known beforehand', first.word.span)
}

const wrappedPython: Rule = (use) => {
  const first = use.operands[0]
  if (first === undefined) return
  if (has(use, '-m')) delegateTo(use, use.operands)
  else use.found.path(first, 'read')
}

/** `--cov-report html:dir` writes there. */
const coverageReport: Rule = (use) => {
  for (const option of usesOf(use, '--cov-report', '-o')) {
    const place = /^(?:(?:html|xml|json|lcov|annotate|markdown)(?:-append)?:|cache_dir=)(.+)$/.exec(
      option.value?.text ?? '',
    )?.[1]
    if (place !== undefined) use.found.file(place, 'write', option.span, { recursive: true })
  }
}

const pytest: Rule = (use) => {
  coverageReport(use)
  for (const arg of use.operands)
    if (arg.text?.startsWith('@'))
      use.found.hazard('option-reads-list', '`pytest @file` takes options from a file', arg.word.span)
  for (const option of usesOf(use, '-p'))
    if (!/^no:/.test(option.value?.text ?? ''))
      use.found.hazard('option-loads-code', '`pytest -p` loads a plugin', option.span)
  for (const option of usesOf(use, '-o')) {
    const text = option.value?.text ?? ''
    if (
      !/^(log_|console_|cache_dir=|junit_|xfail_|python_(files|classes|functions)=|testpaths=|norecursedirs=|timeout|asyncio_|faulthandler_|addopts=$)/.test(
        text,
      )
    )
      use.found.hazard('option-reads-config', '`pytest -o` sets configuration that can load code', option.span)
  }
}

const jestConfig: Rule = (use) => {
  for (const option of usesOf(use, '-c'))
    if (/^\s*\{/.test(option.value?.text ?? option.value?.prefix ?? ''))
      use.found.hazard('option-reads-config', '`jest --config` with text sets code to load', option.span)
}

export const runnerRules: Readonly<Record<string, Rule>> = {
  'npx, bunx, pnpx, uvx': runs,
  'npm exec, npm x, pnpm exec, pnpm dlx, yarn exec, yarn dlx, bun x': runs,
  'uv run, uv tool run, poetry run, pdm run, hatch run, rye run, pipenv run, pipx run, conda run, mamba run, micromamba run, bundle exec':
    runs,
  'npm run, npm run-script, pnpm run, yarn run, bun run, composer run, composer run-script': scripts,
  'pnpm, yarn': (use) => {
    shorthand(use)
    byName(use)
  },
  'npm pkg, pnpm pkg': pkgSet,
  'npm install, npm i, npm ci, npm add, npm uninstall, npm update, npm link': (use) => {
    globalPlace(use)
    for (const option of usesOf(use, '--prefix', '-C'))
      if (option.value !== null) use.found.path(option.value, 'write', true)
  },
  bun,
  'coverage run': wrappedPython,
  'pytest, py.test': pytest,
  'sphinx-build': (use) => {
    for (const option of usesOf(use, '-D'))
      if (/^(extensions|html_theme_path|.*_path|.*_command)\b/.test(option.value?.text ?? 'extensions'))
        use.found.hazard('option-loads-code', '`sphinx-build -D` can load code', option.span)
  },
  jest: jestConfig,
}
