/** Build tools, compilers and debuggers. */

import { buildRules } from '../rules/build.ts'
import { systemRules } from '../rules/system.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import type { Wrap } from '../wrap.ts'
import { controls, traced } from '../wrap.ts'

/** Runs a program with tools of mise's. */
const miseRun: Wrap = {
  before: `
  -C -E -j <text>
  -q -v -y
  --cd --env --jobs --log-level <text>
  --quiet --verbose --yes --raw --no-config --silent --trace --debug --no-timings --locked --no-env --no-hooks`,
  options: `
  -c <shell>
  -j -E <text>
  -C <chdir>
  -q -v -y
  --command <shell>
  --jobs --env --allow-env --allow-net --allow-read --allow-write <text>
  --cd <chdir>
  --raw --fresh-env --no-prepare --no-deps --deny-all --deny-env --deny-net --deny-read --deny-write --quiet --verbose --yes --silent`,
  afterDashes: true,
  inspect: true,
  run: 'words',
}

export function buildPrograms(): ProgramTable {
  const debugger_: Spec = { always: ['code', 'controls another program and runs commands'], operands: 'auto*' }

  const makeKind: Program = {
    options: `
  -E --eval <code>
  -f --file --makefile <read>
  -C --directory <tree>
  -I --include-dir <read>
  -W --what-if --new-file --assume-new -o --old-file --assume-old <text>
  -j --jobs -l --load-average --max-load -O --output-sync --debug --shuffle --jobserver-auth [text]
  -e --environment-overrides`,
    operands: 'text*',
    wary: true,
  }
  const bazelKind: Program = {
    abbreviates: false,
    options: `
  --run_under --shell_executable --workspace_status_command --credential_helper <run>
  --remote_executor --remote_cache --bes_backend <route>
  --script_path --output_file <output>
  --action_env --host_action_env --test_env --repo_env <text>
  --bazelrc --server_javabase <config>
  --override_repository --override_module --extra_toolchains <load>
  --output_base --output_user_root --symlink_prefix <grow>
  --host_jvm_args <load>`,
    operands: 'text*',
  }
  const gccKind: Program = {
    operands: 'text*',
    wary: true,
    style: 'keys',
  }
  const stripKind: Program = {
    options:
      '\n  --plugin <load>\n  -o <write>\n  --dump-section <text>\n  --add-section --update-section -O -I -R -j -F --strip-symbol <text>',
    operands: 'write*',
  }
  const gdbKind: Program = debugger_
  const direnvKind: Program = {
    operands: 'text*',
    wary: true,
  }

  return {
    'make gmake bmake': { ...makeKind, rules: [buildRules] },
    remake: makeKind,
    just: {
      rules: [buildRules],
      abbreviates: false,
      options: `
  --shell --shell-arg -c --command --chooser <run>
  -e --edit !run
  -f --justfile --dotenv-path <read>
  -d --working-directory <tree>
  --set (code)
  --color --dump-format --list-heading --timestamp-format <text>`,
      operands: 'text*',
    },
    'task go-task': {
      rules: [buildRules],
      options:
        '\n  -g --global !config # runs the tasks of the home directory\n  -t --taskfile <read>\n  -d --dir <tree>\n  -o --output -C --concurrency -I --interval <text>',
      subcommands: {
        execute: { always: ['run', 'runs any command'], operands: 'text*' },
        exec: { always: ['run', 'runs any command'], operands: 'text*' },
      },
      operands: 'text*',
    },
    rake: {
      verbs: {
        at: 'a database',
        under: 'db:|data:|migrate',
        groups: 'db data schema',
        reads: 'version abort_if_pending_migrations status charset collation dump',
      },
      effects: `
  remote-write | db:migrate, db:seed, db:setup, db:create |  | changes a database
  destructive  | db:drop, db:reset, db:rollback |  | deletes data in a database`,
      rules: [buildRules],
      options:
        '\n  -e --execute -E --execute-continue -p --execute-print <code>\n  -r --require -R --rakelibdir -I --libdir <load>\n  -f --rakefile <read>',
      operands: 'text*',
    },
    cmake: {
      rules: [buildRules],
      abbreviates: false,
      options: `
  -P <load>
  -C <load>
  --toolchain <load>
  --open !run
  --trace-redirect --graphviz --log-file <output>
  -S <tree>
  -B <grow>
  --build --install <grow>
  --prefix --install-prefix <grow>
  -D -G -T -A -U -W -t --target -j --parallel --config --preset --component --log-level --default-directory-permissions <text>
  -E`,
      operands: 'auto*',
      wary: true,
    },
    'ctest cpack': {
      abbreviates: false,
      options: `
  -S -SP --script --extra-submit <load>
  --build-and-test !run
  --test-command --build-makeprogram <run>
  -O --output-log --output-junit <output>
  --test-dir --build-dir <tree>
  --config -C -R --tests-regex -E --exclude-regex -L --label-regex -LE --label-exclude -j --parallel -I --timeout <text>
  -D -M -T -A --preset --stop-time --repeat --schedule-random --test-load --resource-spec-file -G --verbose-level <text>
  -V -VV -N -Q -F`,
      operands: 'auto*',
    },
    'ninja samu': { options: '\n  -C <tree>\n  -f <read>\n  -t -j -k -l -d -w <text>', operands: 'text*' },
    meson: {
      wraps: [
        {
          sub: 'devenv',
          options: `
  -C -w <text>
  --workdir <text>
  --dump [text]`,
          otherwise: 'shell',
          run: 'words',
        },
      ],
      options:
        '\n  --wrapper --gdb-path <run>\n  --native-file --cross-file <load>\n  -C <tree>\n  -D --prefix --buildtype <text>\n  --gdb !run',
      subcommands: { setup: { operands: 'grow tree' } },
      everywhere: true,
      otherwise: { operands: 'auto*' },
    },
    'bazel bazelisk': { ...bazelKind, rules: [buildRules] },
    'buck buck2': bazelKind,
    'scons waf xmake': { always: ['code', 'runs build files that are programs'], operands: 'text*' },
    configure: { rules: [buildRules], operands: 'text*', options: '\n  --prefix --srcdir <text>' },
    'autoreconf autoconf automake libtoolize': {
      options: '\n  -B -I --prepend-include --include <load>\n  -o --output <output>',
    },
    'gcc g++ cc c++ clang clang++ cpp tcc icc gfortran gccgo nvcc': { ...gccKind, rules: [buildRules] },
    'zig-cc': gccKind,
    'ld gold lld ld.lld ld.gold mold': {
      style: 'word',
      options:
        '\n  -plugin -plugin-opt <load>\n  -o -Map <write>\n  -T -version-script -L -rpath <read>\n  -dynamic-linker -l -m -e -z -soname <text>',
      operands: 'read*',
    },
    'as nasm yasm': { options: '\n  -o -MD -l <write>\n  -I <read>\n  -f -D -g -P <text>', operands: 'read*' },
    'nm objdump readelf size addr2line c++filt': {
      options: '\n  --plugin <load>\n  -e --exe <read>\n  -j -M -m --target -b --demangle <text>',
      operands: 'read*',
    },
    strip: stripKind,
    objcopy: { ...stripKind, rules: [buildRules] },
    'gdb lldb': {
      ...gdbKind,
      wraps: [
        {
          options: `
  --args --batch --quiet`,
          hazard: traced('gdb'),
          run: 'words',
        },
      ],
    },
    rr: { ...gdbKind, wraps: controls },
    'pwndbg cgdb dlv pdb ipdb jdb radare2 r2': gdbKind,
    perf: {
      wraps: controls,
      options: '\n  -o --output <output>\n  --objdump --addr2line <run>\n  -e -F -p -g <text>',
      always: ['run', 'runs and measures programs'],
    },
    'pre-commit': {
      subcommands: {
        install: { always: ['system', 'installs a git hook'] },
        'init-templatedir': { always: ['system', 'installs git hooks for new repositories'] },
        run: {
          options: '\n  -c --config <read>\n  --files --hook-stage --from-ref --to-ref <text>',
          operands: 'text*',
        },
      },
      options: '\n  -c --config <read>',
      operands: 'text*',
    },
    act: {
      abbreviates: false,
      options: `
  -b --bind !widen # shows the working directory to the container
  --privileged !widen
  --container-options --container-cap-add --container-daemon-socket <widen>
  -P --platform <load> # runs another image
  --secret-file --env-file --var-file --input-file <read>
  -W --workflows -e --eventpath -C --directory <tree>
  -s --secret -j --job --matrix --env --var --input --container-architecture <text>`,
      operands: 'text*',
    },
    direnv: {
      ...direnvKind,
      wraps: [{ sub: 'exec', operands: 1, hazard: traced('direnv'), run: 'words' }],
      rules: [systemRules],
    },
    asdf: { ...direnvKind, wraps: [{ sub: 'exec', run: 'words' }], rules: [systemRules] },
    'mise rtx': {
      ...direnvKind,
      wraps: [
        { sub: 'exec', ...miseRun },
        { sub: 'x', ...miseRun },
      ],
      rules: [buildRules, systemRules],
    },
    'nix nix-build nix-env nix-instantiate guix devbox': { ...direnvKind, rules: [systemRules] },
    'nix-shell': {
      ...direnvKind,
      wraps: [
        {
          options: `
  -p -I -j -A -E <text>
  --run --command <shell>
  --pure
  --packages --attr --expr --keep --argstr --arg <text>`,
          permutes: true,
          inspect: true,
          hazard: traced('nix-shell'),
          run: 'text',
        },
      ],
      rules: [systemRules],
    },
    'protoc buf': {
      abbreviates: false,
      options: '\n  --plugin <load>\n  -I --proto_path <tree>\n  -o --descriptor_set_out <write>\n  --config <config>',
    },
    swift: {
      options:
        '\n  --package-path <tree>\n  --scratch-path --build-path <grow>\n  -Xcc -Xcxx -Xlinker -Xswiftc <load>\n  -c --configuration --filter --target <text>',
      everywhere: true,
      subcommands: { build: {}, test: {}, package: { operands: 'text*' }, format: { operands: 'auto*' } },
      otherwise: { always: ['code', 'runs code'], operands: 'auto*' },
    },
    'xcodebuild xcrun': { always: ['run', 'runs build tools by name'], operands: 'text*' },
    'shellcheck hadolint yamllint actionlint markdownlint codespell typos vale': {
      options:
        '\n  --rcfile -c --config --config-file --configuration <read>\n  -shellcheck -pyflakes <run>\n  -e -i -s -x -f -o -S -P -ln --exclude --include --shell --format --severity --ignore --skip <text>\n  -w --write --fix --write-changes',
      operands: 'read*',
    },
  }
}
