/** Python installers, runners, linters and test tools. */

import { runnerRules } from '../rules/runners.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { packageRun, type Wrap } from '../wrap.ts'

/** Runs a program in an environment of conda's. */
const condaRun: Wrap = {
  before: `
  -r <text>
  -q -v -h
  --root-prefix --rc-file <text>
  --quiet --verbose --no-rc --no-env --help`,
  options: `
  -n -p -r -a <text>
  -e <wary>
  -d -v -q -h
  --name --prefix --root-prefix --attach --label <text>
  --no-capture-output --live-stream --verbose --quiet --dev --debug-wrapper-scripts --detach --clean-env --help
  --cwd <chdir>
  --env <wary>`,
  run: 'words',
}

/** Runs a program in an environment of tox's. */
const toxRun: Wrap = {
  before: `
  -c <text>
  -q -v -r -h
  --conf --workdir --root --colored <text>
  --quiet --verbose --help`,
  options: `
  -e <text>
  -c -x <wary>
  -r -q -v -h
  --conf --workdir --root --override --installpkg --discover <wary>
  --recreate --skip-pkg-install --develop --no-recreate-pkg --no-list-dependencies --quiet --verbose --help
  --result-json --hashseed <text>`,
  afterDashes: true,
  run: 'words',
}

export function pythonPrograms(): ProgramTable {
  const installing = `
  -i --index-url --extra-index-url --index --default-index -f --find-links --proxy --trusted-host <route>
  --python <run>
  --global-option --build-option --install-option <run>
  -w --wheel-dir <grow>
  -t --target --prefix --root --src -d --dest --cache-dir <grow>
  --log --report <output>
  -r --requirement -c --constraint --cert --client-cert --override --build-constraint <read>
  -e --editable <auto>
  --pre
  -U --upgrade
  --break-system-packages !system
  -C --config-settings --only-binary --no-binary --platform --python-version --implementation --abi --timeout --retries <text>
  --progress-bar --upgrade-strategy --extra --group --exists-action --keyring-provider --format --exclude <text>
  --path <meta>
  --system !system # changes the packages of the machine
`

  const pip: Spec = {
    everywhere: true,
    options: installing,
    subcommands: {
      config: {
        subcommands: {
          set: { always: ['system', 'changes the configuration'], operands: 'text*' },
          unset: { always: ['system', 'changes the configuration'], operands: 'text*' },
          edit: { always: ['run', 'opens an editor'], options: '\n  --editor <run>' },
          list: {},
          get: { operands: 'text*' },
        },
      },
      install: { operands: 'auto*' },
      uninstall: { operands: 'text*' },
      show: { everywhere: false, options: '\n  -f --files -v --verbose', operands: 'text*' },
      list: {},
      freeze: {},
    },
    otherwise: { operands: 'auto*' },
  }

  const delegating: Spec = {
    stops: true,
    options: `
  --with --with-editable --with-requirements <load>
  -p --python --extra --group --index-strategy --package --from -E <text>
  --env-file <read>
  --project --directory <tree>
  -s --script -m --module
`,
    operands: 'text*',
  }

  const pipKind: Program = pip
  const poetryKind: Program = {
    abbreviates: false,
    everywhere: true,
    options:
      '\n  --python <module>\n  --pypi-mirror <route>\n  -o --output <write>\n  -C --directory -P --project -p <tree>\n  -G --group --with --without --only -E --extras -e --env <text>',
    subcommands: {
      run: { ...delegating, everywhere: false },
      shell: { always: ['code', 'starts a shell'] },
      config: { operands: 'text*', always: ['system', 'shows or changes the configuration'] },
      self: { always: ['system', 'changes the installed tool'], operands: 'text*' },
      plugin: { always: ['load', 'changes plugins'], operands: 'text*' },
      source: { always: ['route', 'changes where packages come from'], operands: 'text*' },
      env: { operands: 'text module' },
      new: { options: '\n  --name --readme --description --author --python --license <text>', operands: 'grow' },
      init: { operands: 'grow' },
      install: { options: '\n  -i --index <route>', operands: 'auto*' },
    },
    otherwise: { operands: 'auto*' },
  }
  const condaKind: Program = {
    options: '\n  -n --name <text>\n  -c --channel <auto>\n  -p --prefix <grow>\n  -f --file <read>',
    subcommands: {
      run: { ...delegating, options: '\n  -n --name <text>\n  -p --prefix <tree>\n  --cwd <tree>' },
      config: { always: ['system', 'changes the configuration'], operands: 'text*' },
      init: { always: ['system', 'changes the start-up files of the shells'], operands: 'text*' },
    },
    operands: 'text*',
  }
  const toxKind: Program = {
    options:
      '\n  -c --conf -f --noxfile <read>\n  -x --override <config>\n  --discover --extra-pythons --force-pythons --force-python <module>\n  --workdir --root --envdir <grow>\n  -e -s --session --sessions -k -t --python -m <text>\n  -p --parallel [text]\n  --result-json --report <output>',
    operands: 'auto*',
  }
  const djangoAdminKind: Program = {
    options: '\n  --pythonpath <load>\n  --settings <text>',
    subcommands: {
      shell: { always: ['code', 'starts a Python shell'] },
      dbshell: { always: ['code', 'starts a database shell'] },
      startproject: { options: '\n  --template <load>', operands: 'text grow' },
      startapp: { options: '\n  --template <load>', operands: 'text grow' },
    },
    operands: 'text*',
  }

  return {
    pip: {
      ...pipKind,
      effects: `
  remote-read  | lock |  | talks to a package registry
  remote-read  | install, download, wheel, index, search |  | talks to a package registry`,
    },
    pip3: {
      ...pipKind,
      effects: `
  remote-read  | install, download, wheel, index |  | talks to a package registry`,
    },
    pipx: {
      wraps: [{ sub: 'run', ...packageRun }],
      effects: `
  remote-read  | install, upgrade, run |  | talks to a package registry`,
      rules: [runnerRules],
      options: '\n  --index-url -i <route>\n  --spec --pip-args <load>\n  --python <run>',
      subcommands: { run: delegating, install: { operands: 'auto*' }, list: {} },
      operands: 'text*',
    },
    uv: {
      wraps: [
        {
          sub: 'run',
          before: `
  -q -v -n -h -V
  --quiet --verbose --offline --no-cache --no-config --no-progress --native-tls --system-certs --preview --no-preview --managed-python --no-managed-python --no-python-downloads
  --directory --project --config-file --cache-dir --color --allow-insecure-host --preview-features --python-preference <text>`,
          options: `
  -p -P <text>
  -w -i -f -C <wary>
  -m -s !wary
  -n -q -v -U -h
  --python --extra --group --package --only-group --no-group --no-extra --resolution --prerelease --link-mode --color --exclude-newer --python-platform --index-strategy <text>
  --cache-dir --keyring-provider --upgrade-package --reinstall-package --refresh-package --fork-strategy --exclude-newer-package --no-sources-package --config-settings-package --no-build-isolation-package --no-build-package --no-binary-package --python-preference --python-fetch <text>
  --torch-backend --preview-features <text>
  --with --env-file --directory --project --with-requirements --with-editable --index-url --index --default-index --extra-index-url --find-links --config-file --config-setting --config-settings <wary>
  --allow-insecure-host <wary>
  --no-sync --frozen --locked --isolated --active --all-extras --no-dev --dev --no-project --offline --quiet --all-groups --all-packages --exact
  --only-dev --no-default-groups --no-env-file --no-cache --no-config --no-progress --no-editable --no-sources --no-index --no-build --no-binary --native-tls --verbose --upgrade
  --reinstall --refresh --managed-python --no-managed-python --no-python-downloads --compile-bytecode --no-build-isolation --allow-python-downloads --system-certs --preview --no-preview --show-resolution --help
  --module --script --gui-script !wary`,
          run: 'words',
        },
        { sub: 'tool run', ...packageRun },
      ],
      effects: `
  local        | remove, run, build, export, tree, venv, init, version |  |
  remote-read  | add, sync, lock, pip install, pip compile, pip sync, tool install, tool upgrade, python install, self |  | talks to a package registry
  remote-write | publish |  | publishes a package`,
      rules: [runnerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --config-file <config>
  --directory --project <tree>
  --cache-dir <grow>
  -i --index-url --extra-index-url --index --default-index -f --find-links --allow-insecure-host <route>
  --color <text>`,
      subcommands: {
        run: delegating,
        pip,
        tool: {
          subcommands: {
            run: delegating,
            install: { always: ['system', 'installs programs for the account'], operands: 'text*' },
            list: {},
          },
        },
        python: { operands: 'text*' },
        venv: { options: '\n  -p --python <module>\n  --prompt --link-mode <text>', operands: 'grow' },
        add: {
          options: '\n  -r --requirements <read>\n  --optional --group --extra --tag --branch --rev <text>',
          operands: 'auto*',
        },
        self: { always: ['system', 'replaces the installed uv'] },
        init: {
          options: '\n  -p --python <module>\n  --name --description --build-backend --vcs --author-from <text>',
          operands: 'grow',
        },
      },
      otherwise: {
        options: '\n  -o --output-file --out-dir <write>\n  -p --python <module>\n  --extra --group <text>',
        operands: 'auto*',
      },
    },
    uvx: {
      ...delegating,
      wraps: [packageRun],
      rules: [runnerRules],
    },
    poetry: {
      ...poetryKind,
      wraps: [
        {
          sub: 'run',
          before: `
  -q -v -n -h -V
  -C -P <text>
  --quiet --verbose --no-interaction --no-ansi --ansi --no-plugins --no-cache --help --version
  --directory --project <text>`,
          run: 'words',
        },
      ],
      effects: `
  remote-read  | search, self, remove, show, sync, source |  | talks to a package registry
  remote-write | publish |  | publishes a package
  remote-read  | add, install, update, lock |  | talks to a package registry`,
      rules: [runnerRules],
    },
    pdm: {
      ...poetryKind,
      wraps: [
        {
          sub: 'run',
          before: `
  -c <text>
  -q -v -V -h -I
  --config <text>
  --quiet --verbose --version --help --ignore-python --pep582 --no-cache --non-interactive`,
          options: `
  -p <wary>
  -k <text>
  -s -l -q -v -h -g -n
  --project --env-file <wary>
  --skip --venv <text>
  --site-packages --list --json --recreate --quiet --verbose --help --global --non-interactive`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | publish |  | publishes a package
  remote-read  | add, install, update, lock, sync |  | talks to a package registry`,
      rules: [runnerRules],
    },
    hatch: {
      ...poetryKind,
      wraps: [
        {
          sub: 'run',
          before: `
  -e -p <text>
  -v -q -h
  --env --project --data-dir --cache-dir --config <text>
  --color --no-color --interactive --no-interactive --verbose --quiet --help --version`,
          environment: true,
          run: 'joined',
        },
        {
          sub: 'env run',
          before: `
  -e -p <text>
  -v -q -h
  --env --project <text>
  --color --no-color --interactive --no-interactive --verbose --quiet`,
          options: `
  -e -i -x -f <text>
  -h
  --env --include --exclude --filter <text>
  --force-continue --ignore-compat --keep-env --help`,
          environment: true,
          run: 'joined',
        },
      ],
      effects: `
  remote-write | publish |  | publishes a package`,
      rules: [runnerRules],
    },
    rye: {
      ...poetryKind,
      wraps: [
        {
          sub: 'run',
          options: `
  -l -f -q -v -h
  --list --verbose --quiet --help
  --pyproject <wary>`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | publish |  | publishes a package
  remote-read  | sync, add |  | talks to a package registry`,
      rules: [runnerRules],
    },
    pipenv: {
      ...poetryKind,
      wraps: [
        {
          sub: 'run',
          before: `
  -q -v
  --python --pypi-mirror <text>
  --verbose --quiet --where --venv --py --envs --clear`,
          options: `
  -q -v
  --verbose --quiet --system`,
          run: 'words',
        },
      ],
      effects: `
  remote-read  | install, update, lock, sync |  | talks to a package registry`,
      rules: [runnerRules],
    },
    conda: {
      ...condaKind,
      wraps: [{ sub: 'run', ...condaRun }],
      effects: `
  remote-read  | install, create, update |  | talks to a package registry`,
      rules: [runnerRules],
    },
    mamba: {
      ...condaKind,
      wraps: [{ sub: 'run', ...condaRun }],
      effects: `
  remote-read  | install, create |  | talks to a package registry`,
      rules: [runnerRules],
    },
    micromamba: {
      ...condaKind,
      wraps: [{ sub: 'run', ...condaRun }],
      rules: [runnerRules],
    },
    'pytest py.test': {
      rules: [runnerRules],
      options: `
  -p <text>
  -o --override-ini <text>
  --pdbcls --cov-config-plugin <load>
  --pdb --trace !code # starts a debugger
  --junitxml --junit-xml --resultlog --result-log --report-log --log-file --html --json-report-file <output>
  --debug [output]
  --pastebin [send]
  -c --config-file --rootdir --confcutdir --cov-config <read>
  --basetemp <grow>
  -k -m -n -W --tb --maxfail --durations --durations-min --ignore --ignore-glob --deselect --import-mode --timeout --dist <text>
  --log-level --log-cli-level --log-format --numprocesses --pythonwarnings --capture --cache-show --assert --count --reruns <text>
  --cov --cov-report --color -r --verbosity --strict [text]
  --cov-fail-under <text>
  --co --collect-only
  --lf --last-failed --ff --failed-first --nf --sw --stepwise
  --pyargs`,
      operands: 'auto*',
      wary: true,
    },
    tox: {
      ...toxKind,
      wraps: [
        { sub: 'exec', ...toxRun },
        { sub: 'e', ...toxRun },
      ],
    },
    nox: toxKind,
    mypy: {
      options: `
  --python-executable <run>
  --config-file --custom-typeshed-dir <read>
  --cache-dir <write>
  --any-exprs-report --html-report --xml-report --txt-report --linecount-report --lineprecision-report --junit-xml <output>
  --install-types !load # installs packages
  -p --package -m --module -c --command --python-version --platform --exclude --follow-imports --enable-error-code <text>
  --shadow-file (read)`,
      operands: 'tree*',
    },
    pylint: {
      options:
        '\n  --load-plugins <load>\n  --init-hook <code>\n  --rcfile <read>\n  --output <output>\n  -d --disable -e --enable -f --output-format --ignore --fail-under -j --jobs --msg-template <text>',
      operands: 'tree*',
    },
    'pyright basedpyright pyre': {
      options:
        '\n  -p --project --typeshedpath <read>\n  --pythonpath <run>\n  --level --pythonversion --threads <text>',
      operands: 'tree*',
    },
    'bandit safety pip-audit vulture radon': {
      options: '\n  -o --output <output>\n  -c --configfile <read>\n  -r -f -x -s -t <text>',
      operands: 'auto*',
    },
    coverage: {
      rules: [runnerRules],
      subcommands: {
        run: {
          stops: true,
          options: '\n  --rcfile <read>\n  --source --include --omit --context --concurrency <text>\n  -m --module',
          operands: 'auto*',
        },
      },
      options: '\n  --rcfile <read>\n  -d --directory -o <write>\n  -i --include --omit <text>',
      operands: 'auto*',
    },
    'jupyter jupyter-nbconvert jupyter-lab jupyter-notebook papermill': {
      always: ['code', 'runs notebooks'],
      operands: 'auto*',
    },
    'sphinx-build': {
      rules: [runnerRules],
      options: '\n  -c -f --config-file <read>\n  -d -w --doctree-dir --warning-file <write>\n  -D -A -b -j -t <text>',
      operands: 'tree grow text*',
    },
    mkdocs: {
      options: '\n  -c -f --config-file <read>\n  -d --site-dir -w <write>\n  -D -A -b -j -t <text>',
      operands: 'auto*',
    },
    'gunicorn uvicorn hypercorn daphne': {
      options:
        '\n  -c --config --app-dir --pythonpath --chdir <load>\n  --log-config <config>\n  -b --bind -w --workers --host --port -k <text>\n  --uds <write>',
      operands: 'text*',
    },
    'django-admin': {
      ...djangoAdminKind,
      effects: `
  remote-write | migrate |  | changes a database
  destructive  | flush |  | deletes data in a database`,
    },
    'manage.py': {
      ...djangoAdminKind,
      verbs: { at: 'a database', under: 'migrate|flush|reset|clear|delete|drop|truncate|purge|wipe|load' },
      effects: `
  remote-write | migrate, loaddata, createsuperuser |  | changes a database
  destructive  | flush, sqlflush, reset_db |  | deletes data in a database`,
    },
    'cookiecutter copier': {
      options:
        '\n  -o --output-dir <grow>\n  -a --answers-file -d --data -r --vcs-ref --checkout --directory <text>\n  --config-file <config>\n  --trust --UNSAFE !load',
      always: ['load', 'runs the hooks of a template'],
      operands: 'auto*',
    },
    cython: { options: '\n  -o <write>\n  -I <read>', operands: 'read*' },
  }
}
