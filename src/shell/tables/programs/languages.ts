/** Rust, Go, JVM, Ruby, PHP and other language tool chains. */

import { buildRules } from '../rules/build.ts'
import { runnerRules } from '../rules/runners.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'

export function languagePrograms(): ProgramTable {
  const goBuild = `
  -toolexec -exec -vettool <run>
  -overlay <load>
  -modfile -pgo <read>
  -C <tree>
  -o -coverprofile -cpuprofile -memprofile -blockprofile -mutexprofile -trace -outputdir <write>
  -pkgdir -test.gocoverdir <grow>
  -ldflags -gcflags -asmflags -gccgoflags -compiler -tags -mod -p -run -bench -count -timeout -cpu -parallel -skip -fuzz <text>
  -fuzztime -benchtime -shuffle -covermode -coverpkg -vet -list -buildmode -buildvcs -f -installsuffix -test.run <text>
`
  const goPackages: Spec = { style: 'word', options: goBuild, wary: true }

  const cargoTarget = `
  --target <auto>
  -p --package --bin --test --example --bench --profile --message-format --exclude -F --features -j --jobs <text>
  --format --edges -e -i --invert --prune --depth --charset --timings [text]
`

  const gradle: Spec = {
    abbreviates: false,
    options: `
  -I --init-script --include-build <load>
  -g --gradle-user-home <config>
  -b --build-file -c --settings-file <read>
  -p --project-dir <tree>
  --project-cache-dir <grow>
  --scan !send # uploads a report
  -D -P -x --exclude-task -M --tests --console --max-workers --warning-mode --priority --configuration <text>`,
    operands: 'text*',
    wary: true,
  }
  const maven: Spec = {
    abbreviates: false,
    options: `
  -s --settings -gs --global-settings -t --toolchains -gt --global-toolchains <config>
  -f --file <read>
  -l --log-file <output>
  -D --define -P --activate-profiles -pl --projects -rf --resume-from -T --threads -b --builder -emp <text>
  -am -amd -ntp -fae -fn -ff -U -N -nsu -q -o -B -e -X -V -v`,
    operands: 'text*',
    wary: true,
  }

  const goreleaserKind: Program = { options: '\n  -f --config -c <read>', operands: 'text*' }
  const mvnKind: Program = maven
  const sbtKind: Program = { always: ['code', 'runs code from its configuration'], operands: 'text*' }
  const dotnetKind: Program = {
    options: `
  --configfile -s --source --roll-forward <config>
  -o --output --artifacts-path <write>
  --results-directory --diag <output>
  --settings --project <read>
  -a --test-adapter-path <load>
  -c --configuration -f --framework -r --runtime -v --verbosity --filter -l --logger -p --property <text>`,
    subcommands: {
      exec: { always: ['code', 'runs an assembly'], operands: 'auto*' },
      tool: { operands: 'text*', always: ['system', 'changes installed tools'] },
      test: {
        options: `
  --settings -s <config>
  -a --test-adapter-path <load>
  -r --results-directory -o --output -d --diag <write>
  -c --configuration -f --framework -v --verbosity --filter -l --logger --collect -e --environment --arch --os <text>`,
        operands: 'auto*',
      },
      new: {
        subcommands: {
          install: { always: ['load', 'installs templates, which can run programs'], operands: 'text*' },
        },
        options: '\n  -o --output <write>\n  -n --name -lang --language -f --framework <text>',
        operands: 'text*',
      },
      fsi: { always: ['code', 'runs F#'], operands: 'auto*' },
    },
    operands: 'auto*',
  }
  const bundleKind: Program = {
    subcommands: {
      exec: { stops: true, operands: 'text*' },
      config: { operands: 'text*', always: ['system', 'shows or changes the configuration'] },
      console: { always: ['code', 'starts a Ruby shell'] },
      open: { always: ['run', 'opens an editor'], operands: 'text*' },
    },
    options: '\n  --gemfile <read>\n  --path <grow>\n  -j --jobs --without --with <text>',
    operands: 'text*',
  }
  const railsKind: Program = {
    subcommands: {
      runner: { always: ['code', 'runs Ruby'], operands: 'text*' },
      r: { always: ['code', 'runs Ruby'], operands: 'text*' },
      console: { always: ['code', 'starts a Ruby shell'] },
      c: { always: ['code', 'starts a Ruby shell'] },
      dbconsole: { always: ['code', 'starts a database shell'] },
      new: { operands: 'grow text*', options: '\n  -m --template <load>\n  -d --database -a -j --javascript <text>' },
      test: {
        operands: 'auto*',
        options: '\n  -r --require -I <load>\n  -n --name -e --environment -s --seed <text>',
      },
    },
    operands: 'text*',
  }
  const mixKind: Program = {
    subcommands: {
      format: {
        options: '\n  --check-formatted\n  --dot-formatter <load>',
        operands: 'grow*',
        operandsWith: { '--check-formatted': 'tree*' },
      },
    },
    operands: 'text*',
    options: '\n  -e --eval --rpc-eval <code>\n  -r -pr --require <load>',
    wary: true,
  }
  const ghcKind: Program = {
    operands: 'auto*',
    options:
      '\n  -e <code>\n  -pgmF -F <run>\n  --with-compiler -w --with-ghc --with-gcc <run>\n  -o --outputdir <write>',
    wary: true,
  }
  const zigKind: Program = {
    subcommands: {
      format: {
        options: '\n  -o --output --language-version -l --line-length <text>\n  --set-exit-if-changed',
        operands: 'grow*',
      },
      fmt: { options: '\n  --check\n  --stdin', operands: 'grow*', operandsWith: { '--check': 'tree*' } },
    },
    operands: 'auto*',
    options: '\n  -p --prefix --cache-dir --global-cache-dir <grow>\n  -o -femit-bin --output <write>\n  --eval <code>',
  }

  return {
    cargo: {
      wraps: [
        {
          sub: 'watch',
          options: `
  -s <shell>
  -x <wary>
  -w -i -d <text>
  -q -c -B -N
  --shell <shell>
  --exec <wary>
  --watch --ignore --delay <text>
  --clear --quiet --poll --postpone --no-vcs-ignores --no-restart --why`,
          run: 'words',
        },
      ],
      effects: `
  local        | build, b, check, c, test, t, run, r, bench, doc, d, clippy, fix, tree, metadata, package |  |
  local        | rustc, rustdoc, miri, nextest, deny, remove |  |
  local        | publish | -y --yes --dry-run |
  local        | publish | -n |
  remote-read  | add, update, fetch, install, search, info, generate-lockfile, vendor, audit, outdated |  | talks to a package registry
  remote-read  | binstall |  | talks to a package registry
  remote-read  | owner | --list -l | talks to a package registry
  remote-write | publish, yank, owner, login, release, workspaces publish, smart-release |  | changes a package registry`,
      rules: [buildRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --config -Z <config> # sets configuration that can run programs
  --manifest-path --lockfile-path <read>
  -C <tree>
  --target-dir --out-dir --artifact-dir --root <grow>
  --color <text>
  + <text>
${cargoTarget}`,
      subcommands: {
        run: { options: cargoTarget, stops: true, operands: 'auto*' },
        r: { stops: true, operands: 'auto*' },
        install: {
          options: `${cargoTarget}  --path <tree>\n  --git <url>\n  --index --registry <route>\n  --version --tag --branch --rev <text>`,
          operands: 'text*',
        },
        add: {
          options: '\n  --path <tree>\n  --git <url>\n  --registry <route>\n  --rename --tag --branch --rev <text>',
          operands: 'text*',
        },
        doc: { options: '\n  --open !run # starts a browser', operands: 'text*' },
        publish: { options: '\n  --index --registry <route>\n  --token <text>' },
        login: { always: ['system', 'stores a credential'], operands: 'text*' },
        logout: { always: ['system', 'changes a credential'] },
        vendor: { options: '\n  -s --sync <read>', operands: 'grow' },
        new: { options: '\n  --name --edition --vcs <text>', operands: 'grow' },
        init: { options: '\n  --name --edition --vcs <text>', operands: 'grow' },
        nextest: {
          options:
            '\n  --archive-file <read>\n  --config-file --tool-config-file <config>\n  -E --filterset -P --partition --retries --test-threads <text>',
          operands: 'text*',
        },
        bench: { operands: 'text*' },
        test: { operands: 'text*' },
      },
      otherwise: { operands: 'auto*', options: cargoTarget },
    },
    rustc: {
      rules: [buildRules],
      abbreviates: false,
      options:
        '\n  -C --codegen -Z <text>\n  --sysroot <load>\n  -o --out-dir <write>\n  -L --extern <text>\n  --crate-type --crate-name --edition --emit --cfg --print -A -W -D -F --target --error-format <text>',
      operands: 'read*',
      wary: true,
    },
    rustdoc: {
      rules: [buildRules],
      abbreviates: false,
      options:
        '\n  --runtool --test-runtool <run>\n  --test-builder <run>\n  --sysroot <load>\n  -o --out-dir --output <write>\n  --html-in-header --html-before-content --html-after-content -e --extend-css --theme <read>\n  -C --codegen -L --extern --crate-name --edition --cfg --test-args --runtool-arg <text>',
      operands: 'read*',
      wary: true,
    },
    rustfmt: {
      options: '\n  --config-path <read>\n  --config --edition --emit --color <text>',
      operands: 'write*',
      operandsWith: { '--check': 'read*' },
    },
    rustup: {
      effects: `
  remote-read  | update, install, toolchain, component, target |  | downloads a tool chain`,
      abbreviates: false,
      subcommands: {
        run: { always: ['run', 'runs a program of a tool chain'], operands: 'text*' },
        toolchain: {
          subcommands: {
            link: { always: ['load', 'adds a tool chain from a directory'], operands: 'text tree' },
            list: {},
          },
          always: ['system', 'changes the installed tool chains'],
          operands: 'text*',
        },
        show: { operands: 'text*' },
        which: { operands: 'text*' },
        doc: { operands: 'text*' },
        default: { always: ['system', 'changes the default tool chain'], operands: 'text*' },
        self: { always: ['system', 'changes the installed rustup'], operands: 'text*' },
        set: { always: ['system', 'changes rustup settings'], operands: 'text*' },
        override: { always: ['system', 'changes which tool chain runs'], operands: 'text*' },
      },
      operands: 'text*',
    },
    go: {
      effects: `
  local        | build, test, run, install, vet, list, work, tool, generate |  |
  remote-read  | get, mod download, mod tidy, mod vendor |  | downloads modules`,
      rules: [buildRules],
      style: 'word',
      options: '\n  -C <tree>',
      subcommands: {
        build: goPackages,
        test: goPackages,
        install: goPackages,
        vet: goPackages,
        list: goPackages,
        get: goPackages,
        run: { ...goPackages, stops: true, operands: 'auto*' },
        generate: goPackages,
        fix: { style: 'word' },
        fmt: goPackages,
        clean: { style: 'word', options: goBuild },
        doc: { style: 'word', operands: 'text*' },
        env: {
          style: 'word',
          options:
            '\n  -w !system # changes the configuration for every later run\n  -u !system # changes the configuration for every later run',
          operands: 'text*',
        },
        mod: {
          style: 'word',
          subcommands: {
            edit: {
              style: 'word',
              options:
                '\n  -replace <auto>\n  -require -droprequire -dropreplace -exclude -module -go -toolchain <text>',
              operands: 'write',
            },
            download: { style: 'word', options: '\n  -modfile <read>', operands: 'text*' },
            vendor: { style: 'word', options: '\n  -o <grow>' },
          },
          options: '\n  -modfile <read>\n  -go -compat <text>',
          operands: 'text*',
        },
        tool: {
          style: 'word',
          subcommands: {
            cover: { style: 'word', options: '\n  -o <write>\n  -func -html <read>\n  -mode -var <text>' },
            nm: { style: 'word', operands: 'read*' },
            objdump: { style: 'word', operands: 'read*' },
            test2json: { style: 'word', operands: 'text*' },
          },
          otherwise: { always: ['run', 'runs one of the tools of go'], style: 'word', operands: 'auto*' },
        },
        bug: { always: ['run', 'starts a browser'] },
        telemetry: { always: ['system', 'changes what is reported'], operands: 'text*' },
        work: { style: 'word', operands: 'auto*' },
        version: { style: 'word', operands: 'auto*' },
      },
    },
    gofmt: {
      style: 'word',
      options: '\n  -cpuprofile <output>\n  -r <text>\n  -w',
      operands: 'tree*',
      operandsWith: { '-w': 'grow*' },
    },
    'goimports gofumpt': {
      style: 'word',
      options: '\n  -cpuprofile -memprofile -trace <output>\n  -local -srcdir <text>\n  -w',
      operands: 'tree*',
      operandsWith: { '-w': 'grow*' },
    },
    'golangci-lint staticcheck govulncheck revive errcheck': {
      abbreviates: false,
      options: `
  -c --config -config <read>
  --cpu-profile-path --mem-profile-path --trace-path <output>
  --output.text.path --output.json.path --output.sarif.path --output.junit-xml.path <output>
  -E --enable -D --disable --out-format --timeout -j --concurrency --build-tags --new-from-rev -p --presets --modules-download-mode <text>
  -checks -tags -formatter -exclude -exclude_dirs <text>`,
      operands: 'text*',
    },
    gotestsum: {
      abbreviates: false,
      options:
        '\n  --post-run-command <run>\n  --raw-command !run\n  --junitfile --jsonfile --rerun-fails-report --jsonfile-timing-events <output>\n  -f --format --packages --rerun-fails <text>',
      operands: 'auto*',
    },
    goreleaser: {
      ...goreleaserKind,
      effects: `
  remote-write | release |  | publishes a release`,
    },
    'ko air': goreleaserKind,
    'gradle gradlew': { ...gradle, rules: [buildRules] },
    mvn: {
      ...mvnKind,
      effects: `
  remote-read  | dependency:get, dependency:resolve |  | talks to a package registry`,
      rules: [buildRules],
    },
    'mvnw mvnd': { ...mvnKind, rules: [buildRules] },
    ant: {
      style: 'word',
      options:
        '\n  -lib -logger -listener -inputhandler <load>\n  -f -file -buildfile -propertyfile <read>\n  -l -logfile <output>',
      operands: 'text*',
    },
    sbt: {
      ...sbtKind,
      effects: `
  remote-write | publish, publishSigned, release |  | publishes a package`,
    },
    mill: {
      ...sbtKind,
      effects: `
  remote-write | publish |  | publishes a package`,
    },
    'bloop amm scala-cli': sbtKind,
    'javac javadoc': {
      rules: [buildRules],
      style: 'word',
      options:
        '\n  -processorpath -processor-path -processormodulepath -Xplugin -doclet -docletpath -taglet -tagletpath -bootclasspath -Xbootclasspath <load>\n  -J [load]\n  -d -s -h <write>\n  -cp -classpath -class-path -sourcepath -p -module-path <text>\n  -processor -source -target -release -encoding --release <text>',
      operands: 'read*',
    },
    'kotlinc kotlin scalac': {
      style: 'word',
      options: '\n  -Xplugin -Xscript <load>\n  -d <write>\n  -cp -classpath <text>\n  -script -e <code>',
      operands: 'read*',
    },
    dotnet: {
      ...dotnetKind,
      effects: `
  local        | build, run, test, publish, new, pack, package, watch |  |
  remote-read  | workload |  | talks to a package registry
  remote-write | nuget push |  | publishes a package
  remote-read  | restore, add, tool |  | talks to a package registry`,
      rules: [buildRules],
    },
    msbuild: { ...dotnetKind, rules: [buildRules] },
    'bundle bundler': {
      ...bundleKind,
      wraps: [
        {
          sub: 'exec',
          options: `
  --keep-file-descriptors
  --gemfile <text>`,
          run: 'words',
        },
      ],
      effects: `
  remote-read  | lock, info |  | talks to a package registry
  remote-read  | install, update, add, outdated |  | talks to a package registry`,
      rules: [runnerRules],
    },
    gem: {
      effects: `
  remote-read  | install, update, search, fetch |  | talks to a package registry
  remote-write | push, yank, owner |  | publishes a package`,
      options:
        '\n  -i --install-dir -n --bindir <grow>\n  -s --source -p --http-proxy <route>\n  --config-file <config>\n  -P <text>',
      subcommands: { open: { always: ['run', 'opens an editor'], operands: 'text*' }, push: { operands: 'read' } },
      operands: 'text*',
    },
    'rspec rubocop': {
      options:
        '\n  -r --require -I <load>\n  -c --config -O --options <read>\n  -o --out <output>\n  -f --format <module>\n  -e --example -t --tag --only --except --seed <text>\n  -a\n  -A\n  --autocorrect\n  --auto-correct\n  --autocorrect-all\n  -x --fix-layout',
      operands: 'tree*',
      operandsWith: { '-a -A -x --autocorrect --auto-correct --autocorrect-all': 'grow*' },
    },
    rails: {
      ...railsKind,
      verbs: {
        at: 'a database',
        under: 'db:|data:|migrate',
        groups: 'db data schema',
        reads: 'version abort_if_pending_migrations status charset collation dump',
      },
      effects: `
  remote-write | db:migrate, db:seed, db:setup, db:create, db:prepare, db:schema:load |  | changes a database
  destructive  | db:drop, db:reset, db:rollback, db:migrate:reset |  | deletes data in a database`,
    },
    'rake.rb': railsKind,
    composer: {
      effects: `
  remote-read  | create-project, search, show, global, self-update, audit, remove, reinstall |  | talks to a package registry
  remote-read  | install, update, require, outdated |  | talks to a package registry`,
      options: '\n  -d --working-dir <tree>',
      subcommands: {
        exec: { always: ['run', 'runs a program of a package'], operands: 'text*' },
        'run-script': { operands: 'text*', options: '\n  --timeout <text>' },
        run: { operands: 'text*', options: '\n  --timeout <text>' },
        config: { operands: 'text*', always: ['system', 'shows or changes the configuration'] },
        global: { always: ['system', 'changes packages of the account'], operands: 'text*' },
      },
      operands: 'text*',
      rules: [runnerRules],
    },
    artisan: {
      verbs: { at: 'a database', under: 'db|migrate', reads: 'status monitor show table' },
      effects: `
  remote-write | migrate, db:seed |  | changes a database
  destructive  | migrate:fresh, migrate:reset, db:wipe, migrate:refresh, migrate:rollback |  | deletes data in a database`,
      subcommands: { tinker: { always: ['code', 'starts a PHP shell'] } },
      operands: 'text*',
    },
    'phpcs phpcbf php-cs-fixer': {
      abbreviates: false,
      options:
        '\n  --bootstrap --autoload-file --runtime-set <load>\n  --standard --config --basepath <auto>\n  --extensions --ignore --sniffs --report --rules --severity <text>',
      operands: 'tree*',
    },
    'phpunit pest phpstan psalm': {
      options:
        '\n  -d <config>\n  --bootstrap -a --autoload-file --extension --printer <load>\n  --prepend <load>\n  -c --configuration <read>\n  --log-junit --coverage-html --coverage-clover --coverage-text --testdox-html <output>\n  -d <text>\n  --filter --group --testsuite -l --level --memory-limit --error-format <text>',
      operands: 'tree*',
    },
    mix: {
      ...mixKind,
      verbs: { at: 'a database', under: 'ecto\\.', reads: 'ecto.gen ecto.migrations ecto.dump' },
      effects: `
  remote-write | hex.publish, hex.retire |  | publishes a package
  remote-write | ecto.migrate, ecto.create, ecto.setup |  | changes a database
  destructive  | ecto.drop, ecto.reset, ecto.rollback |  | deletes data in a database`,
    },
    'elixir iex': mixKind,
    'ghc runghc runhaskell': ghcKind,
    stack: {
      ...ghcKind,
      wraps: [
        {
          sub: 'exec',
          options: `
  --plain --no-ghc-package-path --no-rts-options
  --package --cwd <text>`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | upload |  | publishes a package`,
    },
    cabal: {
      ...ghcKind,
      wraps: [
        {
          sub: 'exec',
          options: `
  -v [text]
  -w <text>
  --verbose [text]
  --builddir --project-file <text>`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | upload |  | publishes a package`,
    },
    nim: {
      options: '\n  -o --out <write>\n  -d --define <text>',
      subcommands: { e: { always: ['code', 'runs a script'], operands: 'read auto*' } },
    },
    crystal: {
      options: '\n  -o --output <write>',
      subcommands: { eval: { always: ['code', 'runs text as code'], operands: 'text*' } },
    },
    zig: zigKind,
    'dart flutter': {
      ...zigKind,
      effects: `
  remote-write | pub publish |  | publishes a package`,
    },
  }
}
