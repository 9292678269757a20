/** Python installers, runners, linters and test tools. */

import type { ProgramTable, Spec } from '../spec.ts'

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
      show: { operands: 'text*' },
      list: {},
      freeze: {},
    },
    otherwise: { operands: 'auto*' },
  }

  const delegating: Spec = {
    stops: true,
    options: `
  --with --with-editable --with-requirements <load>
  -p --python --extra --group --index-strategy --package -E <text>
  --env-file <read>
  --project --directory <tree>
  -s --script -m --module
`,
    operands: 'text*',
  }

  return {
    'pip pip3': pip,
    pipx: {
      options: '\n  --index-url -i <route>\n  --spec --pip-args <load>\n  --python <run>',
      subcommands: { run: delegating, install: { operands: 'auto*' }, list: {} },
      operands: 'text*',
    },
    uv: {
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
    uvx: delegating,
    'poetry pdm hatch rye pipenv': {
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
    },
    'conda mamba micromamba': {
      options: '\n  -n --name <text>\n  -c --channel <auto>\n  -p --prefix <grow>\n  -f --file <read>',
      subcommands: {
        run: { ...delegating, options: '\n  -n --name <text>\n  -p --prefix <tree>\n  --cwd <tree>' },
        config: { always: ['system', 'changes the configuration'], operands: 'text*' },
        init: { always: ['system', 'changes the start-up files of the shells'], operands: 'text*' },
      },
      operands: 'text*',
    },
    'pytest py.test': {
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
    'tox nox': {
      options:
        '\n  -c --conf -f --noxfile <read>\n  -x --override <config>\n  --discover --extra-pythons --force-pythons --force-python <module>\n  --workdir --root --envdir <grow>\n  -e -s --session --sessions -k -t --python -m <text>\n  -p --parallel [text]\n  --result-json --report <output>',
      operands: 'auto*',
    },
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
    'django-admin manage.py': {
      options: '\n  --pythonpath <load>\n  --settings <text>',
      subcommands: {
        shell: { always: ['code', 'starts a Python shell'] },
        dbshell: { always: ['code', 'starts a database shell'] },
        startproject: { options: '\n  --template <load>', operands: 'text grow' },
        startapp: { options: '\n  --template <load>', operands: 'text grow' },
      },
      operands: 'text*',
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
