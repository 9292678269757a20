/** Programs that publish packages, releases and data; formatters and fixers. */

import type { ProgramTable, Spec } from '../spec.ts'

export function publishingPrograms(): ProgramTable {
  return {
    lein: {
      partial: true,
      effects: `
  remote-write | deploy |  | publishes a package`,
    },
    snapcraft: {
      partial: true,
      effects: `
  remote-write | upload, push, release, promote, register, close, set-default-track |  | publishes a package`,
    },
    'conan luarocks': {
      partial: true,
      effects: `
  remote-write | upload |  | publishes a package`,
    },
    'vcpkg vsce ovsx flit': {
      partial: true,
      effects: `
  remote-write | publish |  | publishes a package`,
    },
    eas: {
      partial: true,
      effects: `
  remote-write | build, submit, update |  | changes something at another service
  remote-read  | whoami |  | reads from another service`,
    },
    'expo dagger': {
      partial: true,
      effects: `
  remote-write | publish |  | changes something at another service`,
    },
    fastlane: {
      partial: true,
      dryRuns: '',
      effects: `
  remote-write | * |  | changes something at another service
  remote-read  | lanes |  | reads from another service`,
    },
    'codecov cap mina': {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service`,
    },
    'stripe twilio dokku sentry-cli datadog-ci sf sfdx auth0 okta b2 pagerduty newrelic': {
      partial: true,
      dryRuns: '',
      verbs: {
        at: 'another service',
        local: 'version help completion autocomplete',
        reads: 'listen logs info',
        deletes: 'release clear-account',
      },
    },
    shopify: {
      partial: true,
      dryRuns: '',
      verbs: { at: 'another service', local: 'version help', reads: 'info dev build check package pull generate init' },
    },
    kamal: {
      partial: true,
      effects: `
  remote-write | * |  | changes something at another service
  remote-read  | config |  | reads from another service`,
    },
    twine: {
      partial: true,
      effects: `
  remote-write | upload, register |  | publishes a package`,
    },
    maturin: {
      partial: true,
      effects: `
  remote-write | publish, upload |  | publishes a package`,
    },
    pod: {
      partial: true,
      effects: `
  remote-write | trunk push |  | publishes a package`,
    },
    nuget: {
      partial: true,
      effects: `
  remote-write | push |  | publishes a package
  destructive  | delete |  | takes a package away`,
    },
    'semantic-release release-it np release-please': {
      partial: true,
      effects: `
  remote-write | * |  | publishes a release`,
    },
    'changeset standard-version': {
      partial: true,
      effects: `
  remote-write | publish |  | publishes a release`,
    },
    auto: {
      partial: true,
      effects: `
  remote-write | shipit |  | publishes a release`,
    },
    'ollama dvc': {
      partial: true,
      effects: `
  remote-read  | pull |  | downloads data
  remote-write | push |  | uploads data`,
    },
    'huggingface-cli hf': {
      partial: true,
      effects: `
  remote-read  | download |  | downloads data
  remote-write | upload |  | uploads data`,
    },
    wandb: {
      partial: true,
      effects: `
  remote-write | sync |  | uploads data`,
    },
    kaggle: {
      partial: true,
      effects: `
  remote-write | * |  | uploads data`,
    },
  }
}

/** Programs that rewrite the files they are given, always or with an option. */
export function formatterPrograms(): ProgramTable {
  /** Rewrites its operands unless it only checks. */
  const rewrites = (checking: string, more = ''): Spec => ({
    abbreviates: false,
    options: `\n  ${checking}${more}`,
    operands: 'grow*',
    operandsWith: { [checking]: 'tree*' },
  })
  /** Rewrites its operands when one of these options says so. */
  const rewritesWith = (writing: string, more = ''): Spec => ({
    abbreviates: false,
    options: `\n  ${writing}${more}`,
    operands: 'tree*',
    operandsWith: { [writing.split(' ')[0] ?? '']: 'grow*' },
  })
  const python = `
  --config --settings-path --settings-file --global-config --append-config --style --stdin-filename <auto>
  -o --output-file <output>
  --cache-dir <write>
  -l --line-length --line_length -t --target-version --include --exclude --extend-exclude --select --ignore --fixable <text>
  --output-format --profile --max-line-length --max-complexity --per-file-ignores --extend-select --extend-ignore --format --filename <text>`

  return {
    black: {
      options: `${python}\n  -c --code <text>\n  --check\n  --diff`,
      operands: 'grow*',
      operandsWith: { '--check --diff -c': 'tree*' },
    },
    isort: {
      options: `${python}\n  -c --check-only\n  --check\n  --diff\n  --sp --settings <auto>`,
      operands: 'grow*',
      operandsWith: { '-c --check --diff': 'tree*' },
    },
    ruff: {
      everywhere: true,
      options: python,
      subcommands: {
        format: { options: '\n  --check\n  --diff', operands: 'grow*', operandsWith: { '--check --diff': 'tree*' } },
        check: {
          options: '\n  --fix\n  --unsafe-fixes\n  --fix-only',
          operands: 'tree*',
          operandsWith: { '--fix --fix-only': 'grow*' },
        },
      },
      otherwise: { operands: 'auto*' },
    },
    'autopep8 yapf autoflake docformatter pyupgrade': {
      options: `${python}\n  -i --in-place`,
      operands: 'tree*',
      operandsWith: { '-i': 'grow*' },
    },
    'flake8 pyflakes pycodestyle pydocstyle': { options: `${python}\n  -c --code <text>`, operands: 'tree*' },
    'clang-format git-clang-format google-java-format': rewritesWith(
      '-i',
      '\n  -r --replace\n  --style <auto>\n  --assume-filename --lines --offset --length --fallback-style --sort-includes --cursor <text>\n  --files <list>\n  --binary <run>',
    ),
    shfmt: rewritesWith('-w --write', '\n  -ln --language-dialect -i --indent --filename <text>'),
    'ormolu fourmolu brittany stylish-haskell': rewritesWith(
      '-i --inplace',
      '\n  -m --mode <text>\n  -o --ghc-opt -f --fixity -p --package <text>\n  -c --config <read>',
    ),
    perltidy: rewritesWith('-b', '\n  -o --outfile <write>\n  -pro --profile <config>\n  -opath <write>'),
    'nixfmt nixpkgs-fmt alejandra taplo topiary cmake-format gersemi': rewrites(
      '--check',
      '\n  -i --in-place\n  -c --config <read>',
    ),
    buildifier: {
      style: 'word',
      options:
        '\n  -mode --mode -lint --lint -type --type -path --path -warnings --warnings <text>\n  -config --config <read>',
      operands: 'grow*',
    },
    sqlfluff: {
      options:
        '\n  --config <read>\n  --library-path <load>\n  -d --dialect -t --templater -r --rules -e --exclude-rules -p --processes <text>\n  --write-output <output>',
      everywhere: true,
      subcommands: { fix: { operands: 'grow*' }, format: { operands: 'grow*' }, lint: { operands: 'tree*' } },
      otherwise: { operands: 'auto*' },
    },
    stylelint: {
      abbreviates: false,
      options:
        '\n  --custom-syntax --custom-formatter --formatter -f <module>\n  --config-basedir <load>\n  -o --output-file <output>\n  -c --config -i --ignore-path <read>\n  --fix\n  --max-warnings --mw <text>',
      operands: 'tree*',
      operandsWith: { '--fix': 'grow*' },
    },
    'biome dprint rome': {
      abbreviates: false,
      everywhere: true,
      options:
        '\n  --config-path -c --config <read>\n  --plugins <load>\n  --write\n  --fix\n  --apply\n  --apply-unsafe\n  --max-diagnostics --diagnostic-level --reporter --stdin-file-path --colors --log-level --only --skip <text>',
      operands: 'text auto*',
      operandsWith: { '--write --fix --apply --apply-unsafe': 'text grow*' },
      subcommands: { fmt: { operands: 'grow*' } },
    },
    'swiftformat swift-format ktlint scalafmt': {
      abbreviates: false,
      options:
        '\n  --lint\n  -F --format\n  --config -c <read>\n  -R --ruleset <load>\n  --output -o <write>\n  --rules --disable --enable <text>',
      operands: 'grow*',
      operandsWith: { '--lint': 'tree*' },
    },
    recode: { options: '\n  -f -v -q -d', operands: 'text change*' },
  }
}
