/** JavaScript package managers, runners, linters, bundlers and test tools. */

import { runnerRules } from '../rules/runners.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { controls, npmRun, type Wrap } from '../wrap.ts'

/** Runs a program of the project's packages. */
const scriptRun: Wrap = {
  before: `
  -C -w -F <text>
  -r -s -q -d -y -c
  --prefix --workspace --loglevel --dir --filter --filter-prod --workspace-concurrency --reporter --resume-from --cwd <text>
  --workspaces --ws --include-workspace-root --silent --yes --no --if-present --recursive --workspace-root --parallel --stream --aggregate-output --use-stderr --color
  --no-color --no-bail --no-sort --shell-mode --report-summary --ignore-workspace --fail-if-no-match --verbose --offline --json --non-interactive`,
  options: `
  -c <shell>
  -y -r -s -q
  -p -w -F <text>
  --call <shell>
  --package --workspace --filter --filter-prod --resume-from --workspace-concurrency --loglevel <text>
  --yes --no --workspaces --ws --recursive --parallel --shell-mode --include-workspace-root --silent --no-bail --no-reporter-hide-prefix --report-summary --stream --if-present`,
  inspect: true,
  run: 'words',
}

export function javascriptPrograms(): ProgramTable {
  const account: Spec = { always: ['system', 'changes the account or its credentials'], operands: 'text*' }
  const settings: Spec = {
    subcommands: {
      set: { always: ['system', 'changes configuration that can run programs'], operands: 'text*' },
      delete: { always: ['system', 'changes configuration'], operands: 'text*' },
      rm: { always: ['system', 'changes configuration'], operands: 'text*' },
      edit: { always: ['run', 'opens an editor'] },
      get: { operands: 'text*' },
      list: {},
      ls: {},
    },
  }
  const running: Spec = { operands: 'text auto*' }
  const packages: Spec = { operands: 'auto*' }

  const shared: Readonly<Record<string, Spec>> = {
    run: running,
    'run-script': running,
    test: { operands: 'auto*' },
    t: { operands: 'auto*' },
    start: { operands: 'auto*' },
    install: packages,
    i: packages,
    ci: packages,
    add: packages,
    remove: { operands: 'text*' },
    config: settings,
    c: settings,
    login: account,
    logout: account,
    adduser: account,
    'add-user': account,
    token: account,
    set: { always: ['system', 'changes configuration that can run programs'], operands: 'text*' },
    view: { operands: 'text*' },
    info: { operands: 'text*' },
    show: { operands: 'text*' },
    search: { operands: 'text*' },
    pack: { options: '\n  --pack-destination <write>', operands: 'auto*' },
    version: { options: '\n  -m --message --preid <text>', operands: 'text*' },
    pkg: { operands: 'text*', wary: true },
    explore: { always: ['run', 'runs a command in a package'], operands: 'text*' },
    edit: { always: ['run', 'opens an editor'], operands: 'text*' },
  }

  const executing: Spec = {
    stops: true,
    options: '\n  -c --call --shell-mode <run>\n  -p --package <load>',
    operands: 'text*',
  }

  const npxKind: Program = {
    abbreviates: false,
    stops: true,
    options: `
  -c --call <run>
  -p --package <load>
  --node-options --node-arg -n <load>
  --shell --script-shell <run>
  --userconfig <config>
  --registry <route>
  --prefix -C <tree>
  -w --workspace --cache <text>`,
    operands: 'text*',
  }
  const nodemonKind: Program = {
    abbreviates: false,
    options:
      '\n  -x --exec -c --command <run>\n  -r --require <load>\n  --config <config>\n  -w --watch -e --ext -i --ignore --delay --signal <text>',
    operands: 'auto*',
  }
  const turboKind: Program = {
    abbreviates: false,
    options:
      '\n  --npm-client --exec <run>\n  --api --login <route>\n  --runner --plugin <module>\n  --cwd <tree>\n  --cache-dir <write>\n  --filter --scope --concurrency --parallel -t --target --projects -p --output-logs --log-order <text>\n  --graph --profile <output>',
    operands: 'text*',
  }
  const madgeKind: Program = {
    abbreviates: false,
    options: '\n  -c --config --ts-config <read>\n  --image -i <output>',
    operands: 'auto*',
  }

  return {
    npm: {
      dryRuns: 'publish unpublish',
      wraps: [
        { sub: 'exec', ...scriptRun },
        { sub: 'x', ...npmRun },
      ],
      effects: `
  remote-read  | clean-install, it, cit, install-ci-test, upgrade, v, ddp, find-dupes, diff, doctor |  | talks to a package registry
  local        | exec, x, pack, link, cache |  |
  remote-read  | install, i, ci, add, update, up, view, info, show, search |  | talks to a package registry
  remote-read  | outdated, audit, ping, create, init, fund, docs, dist-tag ls, install-test, dedupe |  | talks to a package registry
  remote-read  | owner ls, owner list, access list, access ls-packages, access ls-collaborators, access get, profile get, token list, team ls, org ls |  | talks to a package registry
  remote-read  | hook ls, whoami, stars, bugs, repo, dist-tag ls, dist-tags ls |  | talks to a package registry
  remote-write | publish, deprecate, dist-tag, owner, access, team, star, unstar, hook, token |  | changes a package registry
  remote-write | true, false, null |  | may publish: it is the value of an option before the subcommand
  remote-write | profile, org, login, adduser, logout |  | changes a package registry
  destructive  | unpublish |  | removes a published package
  local        | init | -y --yes |`,
      rules: [runnerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --script-shell --shell --git --editor --viewer --browser <run>
  --node-options --init-module <load>
  --userconfig --globalconfig <config>
  --registry --proxy --https-proxy <route>
  -g --global !system # changes packages of the whole account
  --location <text>
  --prefix -C <tree>
  --cache <grow>
  --cafile --cert --key <read>
  -w --workspace --loglevel --tag --otp --access --scope --omit --include --depth --before --fetch-timeout --searchlimit <text>
  --install-strategy --save-prefix --audit-level <text>
  --color [text]`,
      subcommands: { ...shared, exec: executing, x: executing, link: { operands: 'tree*' } },
      otherwise: { operands: 'auto*' },
    },
    pnpm: {
      dryRuns: 'publish',
      wraps: [
        { sub: 'exec', ...scriptRun },
        { sub: 'dlx', ...npmRun },
      ],
      effects: `
  remote-read  | upgrade, dedupe, self-update |  | talks to a package registry
  local        | setup, env, store, link, patch, remove, rm, uninstall |  |
  destructive  | unpublish |  | removes a published package
  remote-read  | install, i, add, update, up, outdated, audit, dlx, create, fetch |  | talks to a package registry
  remote-read  | view, info, search, import |  | talks to a package registry
  remote-write | publish, deprecate, dist-tag, owner, access, deploy, login |  | changes a package registry
  remote-write | true, false, null |  | may publish: it is the value of an option before the subcommand`,
      rules: [runnerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --script-shell <run>
  --node-options --pnpmfile --global-pnpmfile <load>
  --userconfig --globalconfig --npmrc-auth-file <config>
  --registry --proxy --https-proxy <route>
  -g --global !system # changes packages of the whole account
  -C --dir <tree>
  --store-dir --virtual-store-dir --modules-dir --global-dir <grow>
  -F --filter --filter-prod --workspace-concurrency --reporter --loglevel --tag --otp --access --depth --resume-from <text>
  --test-pattern --changed-files-ignore-pattern <text>`,
      subcommands: {
        ...shared,
        exec: executing,
        dlx: executing,
        link: { operands: 'tree*' },
        deploy: { options: '\n  --prod\n  --legacy', operands: 'grow' },
      },
      otherwise: { operands: 'auto*' },
    },
    'yarn yarnpkg': {
      dryRuns: '',
      wraps: [
        { sub: 'exec', ...scriptRun },
        { sub: 'dlx', ...npmRun },
        { sub: 'run', ...npmRun },
        { sub: 'workspaces foreach', ...npmRun },
        { sub: 'workspace', operands: 1, inspect: true, nested: true, run: 'words' },
      ],
      effects: `
  remote-read  | upgrade-interactive, global, import, dedupe, remove, plugin, workspaces focus |  | talks to a package registry
  remote-read  | *, install, add, up, upgrade, outdated, audit, dlx, create, info |  | talks to a package registry
  remote-read  | npm audit, npm info, set |  | talks to a package registry
  remote-write | publish, npm publish, npm tag, npm login, owner, tag, login |  | changes a package registry
  destructive  | npm unpublish, unpublish, npm deprecate |  | removes a published package
  remote-read  | npm whoami, npm tag list, tag list, owner list |  | talks to a package registry
  local        | run, test, start, build, dev, lint, exec, workspace, workspaces, why |  |
  local        | list, config, node, bin, --version |  |`,
      rules: [runnerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --script-shell <run>
  --use-yarnrc <config>
  --registry --proxy --https-proxy <route>
  --cwd <tree>
  --modules-folder --cache-folder --global-folder --preferred-cache-folder --link-folder <grow>
  --network-timeout --mutex --tag --access --otp <text>`,
      subcommands: {
        ...shared,
        exec: executing,
        dlx: executing,
        node: { always: ['code', 'runs JavaScript'], operands: 'auto*' },
        global: { always: ['system', 'changes packages of the whole account'], operands: 'text*' },
        plugin: { always: ['load', 'changes the plugins of yarn'], operands: 'text*' },
        policies: { always: ['load', 'changes which yarn runs'], operands: 'text*' },
      },
      otherwise: { operands: 'auto*' },
    },
    bun: {
      dryRuns: 'publish',
      wraps: [
        { sub: 'x', ...npmRun },
        { sub: 'run', ...npmRun },
      ],
      effects: `
  remote-read  | ci, a, c |  | talks to a package registry
  local        | x, pm, init, remove, rm, link |  |
  remote-read  | install, i, add, update, outdated, audit, create, upgrade, info |  | talks to a package registry
  remote-write | publish |  | changes a package registry`,
      rules: [runnerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  -e --eval -p --print <code>
  -r --preload --require --import <load>
  -c --config <config>
  -g --global !system # changes packages of the whole account
  --cwd <tree>
  --env-file --tsconfig-override <read>
  --registry <route>
  --outdir --outfile --cache-dir --coverage-dir --reporter-outfile <write>
  -F --filter --timeout -t --test-name-pattern --rerun-each --target --format --define --external --port --shell <text>
  --coverage-reporter --reporter --loader --conditions --max-concurrency --seed --entry-naming <text>
  --bail --coverage [text]`,
      subcommands: {
        run: { operands: 'auto*' },
        test: { operands: 'auto*' },
        x: executing,
        exec: { always: ['run', 'runs a shell command'], operands: 'text*' },
        repl: { always: ['code', 'reads and runs code'] },
        upgrade: { always: ['system', 'replaces the installed bun'] },
        install: packages,
        i: packages,
        add: packages,
        remove: { operands: 'text*' },
        build: { operands: 'read*' },
        pm: { operands: 'text*' },
        link: { operands: 'text*' },
        create: { operands: 'auto*' },
        init: {},
        update: { operands: 'text*' },
        outdated: { operands: 'text*' },
        publish: { operands: 'auto*' },
      },
    },
    npx: {
      ...npxKind,
      wraps: [npmRun],
      rules: [runnerRules],
    },
    bunx: {
      ...npxKind,
      wraps: [npmRun],
      rules: [runnerRules],
    },
    pnpx: {
      ...npxKind,
      wraps: [npmRun],
      rules: [runnerRules],
    },
    corepack: { always: ['system', 'changes which package manager runs'], operands: 'text*' },
    'eslint eslint_d oxlint xo standard': {
      abbreviates: false,
      options: `
  --rulesdir --resolve-plugins-relative-to <load>
  --plugin --parser --format -f <module>
  -o --output-file <output>
  -c --config --ignore-path --tsconfig <read>
  --cache-location --cache-file <write>
  --ext --rule --global --env --parser-options --max-warnings --ignore-pattern --stdin-filename --cache-strategy <text>
  --fix-type --flag --report-unused-disable-directives-severity -A -D -W <text>
  --fix --fix-dry-run
  --init !load # installs packages`,
      operands: 'tree*',
      operandsWith: { '--fix': 'grow*' },
    },
    'tsc tsgo vue-tsc': {
      abbreviates: false,
      options: `
  --outDir --outdir --outFile --outfile --declarationDir --declarationdir --tsBuildInfoFile --tsbuildinfofile <write>
  -outDir -outdir -outFile -outfile -declarationDir <write>
  --generateTrace --generatetrace --generateCpuProfile --generatecpuprofile <output>
  -p --project --rootDir --rootdir --baseUrl --typeRoots <read>
  --plugins <load>
  -t --target -m --module --jsx --lib --moduleResolution --types --locale --maxNodeModuleJsDepth <text>`,
      operands: 'auto*',
    },
    'prettier prettierd': {
      abbreviates: false,
      options: `
  --plugin <module>
  --plugin-search-dir <load>
  --config --ignore-path --find-config-path <read>
  --cache-location <write>
  --stdin-filepath --parser --log-level --end-of-line --tab-width --print-width --trailing-comma --config-precedence <text>
  -w --write`,
      operands: 'tree*',
      operandsWith: { '-w': 'grow*' },
    },
    jest: {
      rules: [runnerRules],
      abbreviates: false,
      options: `
  --preset --setupFiles --setupFilesAfterEnv --globalSetup --globalTeardown --testRunner --runner --resolver <module>
  --transform <load>
  --reporters --testEnvironment --env --watchPlugins --testResultsProcessor --snapshotSerializers --testSequencer <module>
  --prettierPath --filter --dependencyExtractor <module>
  --outputFile <output>
  --coverageDirectory --cacheDirectory <write>
  -c --config --rootDir --roots --projects --modulePaths <read>
  -t --testNamePattern --testPathPattern --testPathPatterns --testMatch -w --maxWorkers --testTimeout --shard --coverageReporters <text>
  --collectCoverageFrom --testPathIgnorePatterns --selectProjects --changedSince --maxConcurrency --displayName <text>`,
      operands: 'auto*',
    },
    vitest: {
      abbreviates: false,
      options: `
  --reporter --environment --runner --globalSetup --setupFiles --snapshotSerializers --coverage.provider <module>
  --execArgv --poolOptions.forks.execArgv --poolOptions.threads.execArgv --vmMemoryLimit <load>
  --outputFile [output]
  --coverage.reportsDirectory --cache.dir <write>
  -c --config -r --root --dir <read>
  -t --testNamePattern --project --pool --exclude --shard --retry --testTimeout --hookTimeout --maxWorkers --mode <text>
  --coverage.reporter --coverage.include --coverage.exclude <text>
  --changed --silent --api --poolOptions --bail --coverage --ui [text]
  --open !run`,
      operands: 'text auto*',
    },
    'mocha _mocha ava tap jasmine': {
      abbreviates: false,
      options: `
  -r --require --import --loader --file -R --reporter --ui -u <module>
  -n --node-option --v8-option --node-arg --test-arg <load>
  --node-arguments <load>
  -c --config --opts --package <read>
  -g --grep -f --fgrep -t --timeout --extension -O --reporter-option --reporter-options -j --jobs --retries -s --slow <text>
  -m --match -T --ignore --spec --watch-files --watch-ignore <text>`,
      operands: 'tree*',
    },
    'playwright cypress wdio testcafe': {
      abbreviates: false,
      options: `
  --reporter <module>
  -c --config -C --config-file --project-dir <read>
  --output -o <output>
  --browser -b <module>
  -g --grep --grep-invert -j --workers --project --retries --timeout --shard --spec -s --max-failures --trace <text>
  --headed`,
      operands: 'text auto*',
    },
    'webpack vite rollup esbuild parcel tsup tsdown rspack swc rolldown': {
      abbreviates: false,
      options: `
  --onSuccess <run>
  -p --plugin --configPlugin --inject <module>
  -r --require <module>
  -c --config --tsconfig --root <read>
  -o --outfile --outdir --outDir --output-path --file -d --dist-dir --out-dir --out-file <write>
  --metafile --profile --json <output>
  --mode -m --entry --env --target --format -f --port --base --define --external --loader --platform <text>`,
      operands: 'auto*',
    },
    'babel babel-node': {
      abbreviates: false,
      options:
        '\n  --plugins --presets <module>\n  -r --require <load>\n  --config-file <read>\n  -o --out-file -d --out-dir <write>\n  -e --eval -p --print <code>\n  -x --extensions --ignore --only --env-name -f <text>',
      operands: 'auto*',
    },
    'nodemon node-dev ts-node-dev chokidar': nodemonKind,
    onchange: { ...nodemonKind, wraps: controls },
    concurrently: { wraps: controls, always: ['run', 'runs the commands that it is given'], operands: 'text*' },
    'turbo rush': turboKind,
    lerna: {
      dryRuns: '',
      ...turboKind,
      wraps: [
        {
          sub: 'exec',
          options: `
  --scope --ignore --concurrency <text>
  --stream --parallel --no-bail --no-prefix --include-dependents --include-dependencies
  --since [text]`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | publish |  | publishes a release`,
    },
    nx: {
      ...turboKind,
      wraps: [
        {
          sub: 'exec',
          options: `
  --nx-bail --nx-ignore-cycles --all
  --parallel --projects --target --exclude <text>`,
          afterDashes: true,
          run: 'words',
        },
      ],
    },
    jscodeshift: {
      abbreviates: false,
      options:
        '\n  -t --transform --babylon --parser-config <load>\n  --extensions --parser --ignore-pattern -c --cpus <text>',
      operands: 'grow*',
    },
    'gulp grunt': {
      abbreviates: false,
      options: '\n  --require --preload --tasks <load>\n  -f --gulpfile --gruntfile <read>\n  --cwd --base <tree>',
      operands: 'text*',
    },
    husky: { operands: 'text write text', options: '' },
    sass: {
      abbreviates: false,
      options: '\n  -I --load-path <tree>\n  -p --pkg-importer -s --style <text>\n  -w --watch',
      operands: 'read write',
    },
    'postcss postcss-cli': {
      abbreviates: false,
      options:
        '\n  -u --use --syntax --parser --stringifier <module>\n  -o --output -d --dir <write>\n  --base --config <read>\n  --ext --env <text>\n  -r --replace',
      operands: 'auto*',
      operandsWith: { '-r': 'change*' },
    },
    'mkdirp make-dir': { operands: 'write*' },
    'cpx cpy copyfiles ncp': { operands: 'tree* grow' },
    'pm2 forever': { always: ['run', 'starts programs that outlive the session'], operands: 'auto*' },
    'tsc-watch': {
      options: '\n  --onSuccess --onFailure --onFirstSuccess --onCompilationComplete <run>',
      operands: 'auto*',
    },
    'madge depcheck knip npm-check-updates syncpack': madgeKind,
    ncu: { ...madgeKind, wraps: controls },
  }
}
