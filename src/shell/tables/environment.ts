/** Environment variables that change what programs load, run or trust. */

import type { AssignmentFact } from '../facts.ts'
import { READABLE_LOCALE } from '../read/unreadable-text.ts'

/** Names and their effect. A name is exact, or a prefix if it ends with `*`. */
const rows: readonly (readonly [names: string, does: string])[] = [
  [
    'LD_* DYLD_* _RLD_* LIBPATH SHLIB_PATH LDR_PRELOAD GLIBC_TUNABLES MALLOC_* GCONV_PATH LOCPATH NLSPATH RES_OPTIONS HOSTALIASES LOCALDOMAIN RESOLV_* GETCONF_DIR',
    'changes which libraries every program loads or how',
  ],
  ['PATH', 'changes which programs run'],
  [
    'IFS CDPATH GLOBIGNORE FIGNORE EXECIGNORE BASH_COMPAT POSIXLY_CORRECT OPTIND GLOBSORT LC_ALL LC_CTYPE LANG',
    'changes how the shell reads words',
  ],
  ['TEXTDOMAIN TEXTDOMAINDIR', 'makes programs translate text, and bash expand the translation'],
  [
    'BASH_ENV ENV ZDOTDIR PROMPT_COMMAND PROMPT_COMMAND* PS0 PS1 PS2 PS3 PS4 SHELLOPTS BASHOPTS BASH_FUNC_* BASH_XTRACEFD BASH_LOADABLES_PATH BASH_ALIASES BASH_CMDS BASH_ARGV0 INPUTRC HISTFILE HISTCONTROL TMOUT',
    'makes the shell run something or change how it works',
  ],
  ['SHELL', 'changes which shell programs start'],
  ['HOME USERPROFILE XDG_* ZDOTDIR APPDATA', 'changes where programs find their configuration'],
  [
    'GIT_SSH GIT_SSH_COMMAND GIT_SSH_VARIANT GIT_PROXY_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXEC_PATH GIT_TEMPLATE_DIR GIT_DIFFTOOL_* GIT_MERGETOOL_* GIT_MERGE_*',
    'makes git run another program',
  ],
  [
    'GIT_CONFIG GIT_CONFIG_* GIT_DIR GIT_WORK_TREE GIT_COMMON_DIR GIT_OBJECT_DIRECTORY GIT_ALTERNATE_OBJECT_DIRECTORIES GIT_INDEX_FILE GIT_NAMESPACE GIT_CEILING_DIRECTORIES GIT_DISCOVERY_ACROSS_FILESYSTEM GIT_ATTR_SOURCE GIT_ATTR_NOSYSTEM GIT_SHALLOW_FILE GIT_GRAFT_FILE GIT_REPLACE_REF_BASE',
    'makes git use other configuration or another repository',
  ],
  [
    'GIT_TRACE* GIT_REDIRECT_* GIT_CURL_VERBOSE GIT_SSL_* GIT_ALLOW_PROTOCOL GIT_PROTOCOL_* GIT_PROXY_* GIT_HTTP_PROXY_* GIT_NO_LAZY_FETCH GIT_TEST_*',
    'makes git write files, trust or reach something else',
  ],
  [
    'PAGER MANPAGER SYSTEMD_PAGER* GH_PAGER GLAB_PAGER AWS_PAGER BAT_PAGER DELTA_PAGER PSQL_PAGER MYSQL_PAGER DELTA_FEATURES',
    'makes programs run another pager',
  ],
  [
    'EDITOR VISUAL FCEDIT SUDO_EDITOR SVN_EDITOR HGEDITOR KUBE_EDITOR GH_EDITOR SYSTEMD_EDITOR PSQL_EDITOR',
    'makes programs run another editor',
  ],
  ['BROWSER GH_BROWSER OPENER', 'makes programs run another browser'],
  [
    'LESS LESSOPEN LESSCLOSE LESSKEY* LESSKEYIN* LESSEDIT LESSHISTFILE LESSSECURE* LESS_* MORE MANOPT MANPATH MANROFFOPT MANROFFSEQ BAT_* MOST_* VIMINIT EXINIT GVIMINIT VIM VIMRUNTIME MYVIMRC NVIM_* EMACSLOADPATH NANORC',
    'makes the pager or editor run commands',
  ],
  [
    'TAR_OPTIONS TAPE RSH RSYNC_RSH RSYNC_* CVS_RSH CVS_* ZIPOPT ZIP UNZIP UNZIPOPT GZIP BZIP BZIP2 XZ_OPT XZ_DEFAULTS ZSTD_* GREP_OPTIONS GREP_COLORS_* RIPGREP_CONFIG_PATH FZF_* ACKRC ACK_* BAT_CONFIG_PATH WGETRC SYSTEM_WGETRC CURL_HOME CURL_SSL_BACKEND LS_OPTIONS DIFF_OPTIONS AWKPATH AWKLIBPATH MAGIC',
    'gives options or configuration to a tool',
  ],
  [
    'GREP EGREP FGREP ZGREP SED AWK GAWK MAWK DIFF DIFF3 SDIFF CMP PATCH SORT FIND XARGS TAR XZ ZSTD CURL WGET SSH SCP SFTP RSYNC GPG GPG2 OPENSSL RM CP MV LN MKDIR CHMOD CHOWN TOUCH TEE CAT HEAD TAIL CUT TR EXPR BASH KSH ZSH ENV GIT SVN HG CVS SUDO NODE DENO BUN NPM NPX GO JAVA JAVACMD MVN GRADLE DOCKER PODMAN KUBECTL HELM TERRAFORM',
    'names a program that scripts such as zgrep and zdiff run',
  ],
  [
    'PYTHON* PIP_* UV_* POETRY_* PIPENV_* PDM_* CONDA_* VIRTUAL_ENV PYENV_* PYTEST_* TOX_* MYPY* PYLINT* IPYTHONDIR JUPYTER_* DJANGO_SETTINGS_MODULE COVERAGE_* SETUPTOOLS_* DISTUTILS_* HATCH_*',
    'changes which Python code is loaded',
  ],
  [
    'FACTERLIB FACTER_* PUPPET_* PERL* PERL5* RUBY* RUBYOPT GEM_* BUNDLE_* BUNDLER_* RBENV_* RACK_CONFIG IRBRC LUA_* LUA_PATH* LUA_CPATH* LUA_INIT* TCLLIBPATH TCL_* PHPRC PHP_INI_* PHP_BINARY COMPOSER_* R_HOME R_PROFILE R_PROFILE_USER R_ENVIRON R_ENVIRON_USER R_LIBS R_LIBS_USER JULIA_* GUILE_* ERL_* ELIXIR_* OCAML* GHC_* PSModulePath CLASSPATH GROOVY_* SCALA_*',
    'changes which code an interpreter loads',
  ],
  [
    'NODE_OPTIONS NODE_PATH NODE_EXTRA_CA_CERTS NODE_REPL_* NODE_PENDING_* NODE_V8_COVERAGE NODE_REDIRECT_WARNINGS NODE_ICU_DATA NODE_TLS_REJECT_UNAUTHORIZED NODE_COMPILE_CACHE TS_NODE_* TSX_* BABEL_* DENO_* BUN_* VITE_NODE_* ESLINT_* PRETTIER_*',
    'changes which code Node loads or what it trusts',
  ],
  [
    'npm_* NPM_* YARN_* PNPM_* COREPACK_* NVM_* VOLTA_* FNM_*',
    'configures the package manager, which can run programs',
  ],
  [
    'CARGO CARGO_HOME CARGO_BUILD_* CARGO_TARGET_* CARGO_PROFILE_* CARGO_REGISTR* CARGO_NET_* CARGO_HTTP_* CARGO_SOURCE_* CARGO_ALIAS_* CARGO_UNSTABLE_* CARGO_ENCODED_* CARGO_INSTALL_* CARGO_HOST_* CARGO_MANIFEST_* CARGO_CREDENTIAL_* CARGO_PATCH_* RUSTC RUSTC_* RUSTDOC RUSTDOCFLAGS RUSTFLAGS RUSTUP_* RUSTFMT CLIPPY_* MIRIFLAGS',
    'makes cargo run another compiler, wrapper or linker',
  ],
  [
    'CC CXX CPP LD AR AS NM FC F77 RANLIB STRIP OBJC OBJCXX OBJCOPY OBJDUMP READELF LINKER CCACHE* CCLD SCCACHE* DISTCC* HOSTCC HOSTCXX *_CC *_CXX CC_* CXX_* YACC LEX BISON* M4 PKG_CONFIG* CMAKE_* CTEST_* MESON_* NINJA_* MAKE MAKEFLAGS MAKEFILES MAKESHELL GNUMAKEFLAGS MFLAGS MAKE_* COMPILER_PATH GCC_* CPATH C_INCLUDE_PATH CPLUS_INCLUDE_PATH LIBRARY_PATH ACLOCAL* AUTOM4TE* AUTOCONF AUTOMAKE LIBTOOL* INSTALL SHELLFLAGS BAZEL_* JUST_*',
    'changes which tools a build runs',
  ],
  [
    'CFLAGS CXXFLAGS CPPFLAGS LDFLAGS ASFLAGS ARFLAGS FFLAGS OBJCFLAGS LDLIBS YFLAGS LFLAGS *_CFLAGS *_CXXFLAGS *_LDFLAGS',
    'gives flags to the compiler, which can load plugins',
  ],
  [
    'GOFLAGS GOROOT GOPATH GOBIN GOENV GOPROXY GOPRIVATE GONOPROXY GONOSUMDB GONOSUMCHECK GOSUMDB GOINSECURE GOVCS GOTOOLCHAIN GOTOOLDIR GOWORK GOMODCACHE GOCACHE GOTMPDIR GOCACHEPROG GOAUTH CGO_CFLAGS* CGO_CPPFLAGS* CGO_CXXFLAGS* CGO_LDFLAGS* CGO_FFLAGS* GCCGO GODEBUG GOEXPERIMENT GO_TEST_* GO_EXTLINK_ENABLED',
    'makes go run or fetch something else',
  ],
  [
    'JAVA_TOOL_OPTIONS _JAVA_OPTIONS JDK_JAVA_OPTIONS JDK_* JAVA_OPTS JAVA_HOME JAVA_* JVM_* MAVEN_* MVN_* M2_HOME M2 GRADLE_* ANT_* SBT_* KOTLIN_* LEIN_* DOTNET_* COMPlus_* CORECLR_* COR_* MSBUILD* NUGET_* FLUTTER_* DART_* SWIFT_* XCODE_* DEVELOPER_DIR SDKROOT ANDROID_*',
    'changes which code the virtual machine or SDK loads',
  ],
  [
    'DOCKER_HOST DOCKER_CONFIG DOCKER_CONTEXT DOCKER_CERT_PATH DOCKER_TLS_VERIFY DOCKER_CLI_PLUGIN_* BUILDKIT_* COMPOSE_FILE COMPOSE_ENV_FILES COMPOSE_PATH_SEPARATOR CONTAINER_HOST CONTAINERS_CONF CONTAINERS_STORAGE_CONF CONTAINERS_REGISTRIES_CONF PODMAN_* KUBECONFIG KUBECTL_* KUBE_* HELM_* TF_CLI_ARGS* TF_CLI_CONFIG_FILE TF_DATA_DIR TF_PLUGIN_CACHE_DIR TF_REATTACH_PROVIDERS TF_WORKSPACE TF_LOG_PATH TF_TOKEN_* TERRAGRUNT_* PULUMI_* ANSIBLE_* VAGRANT_* PACKER_*',
    'makes the tool talk to another machine or run plugins',
  ],
  [
    'AWS_* AZURE_* ARM_* GOOGLE_APPLICATION_CREDENTIALS GOOGLE_CLOUD_* GOOGLE_IMPERSONATE_* GOOGLE_CREDENTIALS GOOGLE_OAUTH_ACCESS_TOKEN CLOUDSDK_* BOTO_* GCLOUD_PROJECT DIGITALOCEAN_* CLOUDFLARE_API_TOKEN CLOUDFLARE_API_KEY CLOUDFLARE_ACCOUNT_ID HEROKU_API_KEY HEROKU_HOST HEROKU_DEBUG_* FLY_API_TOKEN FLY_ACCESS_TOKEN VERCEL_TOKEN VERCEL_ORG_ID NETLIFY_AUTH_TOKEN FIREBASE_TOKEN SUPABASE_ACCESS_TOKEN VAULT_* CONSUL_* NOMAD_*',
    'uses other cloud credentials or servers',
  ],
  [
    'GH_TOKEN GH_HOST GH_CONFIG_DIR GH_ENTERPRISE_TOKEN GH_FORCE_TTY GITHUB_TOKEN GITLAB_TOKEN GITLAB_HOST GLAB_* GH_REPO GH_REPO_HOST',
    'uses other forge credentials or servers',
  ],
  [
    'SSH_ASKPASS* SSH_AUTH_SOCK SSH_AGENT_* SSH_SK_* SSH_CONFIG* SUDO_ASKPASS SUDO_* DISPLAY WAYLAND_DISPLAY DBUS_* XAUTHORITY GNUPGHOME GPG_* PINENTRY_* KRB5* KRB5CCNAME PASSWORD_STORE_*',
    'uses other keys or asks for passwords by another program',
  ],
  [
    'SVN_SSH HGRCPATH HGPLAIN* HGEDITOR HGMERGE GIT_ATTR_* FFREPORT MSBuild* BUILDX_* SASL_PATH LDAPCONF LDAPRC NIXPKGS_CONFIG LADSPA_PATH LV2_PATH OCL_ICD_* CUDA_INJECTION* LIBVA_* PULSE_* STARSHIP_CONFIG TZDIR READLINE_LINE',
    'makes a program read, write or run something from elsewhere',
  ],
  ['TERMINFO* TERMCAP TERMPATH TERMINFO_DIRS SCREENRC TMUX* STY', 'makes programs read terminal data from elsewhere'],
  [
    'OPENSSL_* SSL_CERT_* SSL_* REQUESTS_CA_BUNDLE CURL_CA_BUNDLE HTTPLIB2_CA_CERTS SSLKEYLOGFILE GIT_SSL_* PERL_LWP_SSL_*',
    'changes which certificates or engines are trusted',
  ],
  [
    'http_proxy https_proxy ftp_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY FTP_PROXY ALL_PROXY NO_PROXY RSYNC_PROXY CONNECT_PROXY',
    'sends traffic another way',
  ],
  [
    'PG* PGSERVICEFILE PGPASSFILE PGSYSCONFDIR PSQLRC PSQL_* MYSQL_HOST MYSQL_TCP_PORT MYSQL_UNIX_PORT MYSQL_PWD MYSQL_PS1 MYSQL_TEST_LOGIN_FILE MYSQL_HOME LIBMYSQL_* SQLITE_* SQLITE_HISTORY REDISCLI_* ORACLE_HOME TNS_ADMIN ODBC*',
    'makes the database client use another server or configuration',
  ],
  [
    'PANDOC_* TEXINPUTS* TEXMF* BIBINPUTS BSTINPUTS openout_any openin_any shell_escape MAGICK_* GS_LIB FFMPEG_* GST_* QT_* GTK_* GDK_* GIO_* KDE* VK_* LIBGL_* MESA_* EGL_*',
    'makes the tool load code or write elsewhere',
  ],
  [
    'STRACE_* VALGRIND_* ASAN_* LSAN_* UBSAN_* TSAN_* MSAN_* GDB* LLDB_* PERF_* HEAPPROFILE CPUPROFILE GMON_OUT_PREFIX LLVM_PROFILE_FILE GCOV_*',
    'makes the program write files or load a tool',
  ],
  [
    'NIX_* GUIX_* HOMEBREW_* ASDF_* MISE_* DIRENV_* DEBIAN_* DPKG_* APT_* RPM_* FLATPAK_*',
    'changes which tools are installed or run',
  ],
  [
    'CORDON_* CLAUDE_CONFIG_DIR CLAUDE_CODE_* CODEX_HOME GEMINI_CLI_* ANTHROPIC_BASE_URL OPENAI_BASE_URL OPENAI_API_BASE',
    'changes the settings of an agent or of Cordon',
  ],
  [
    'WATCHMAN_* TURBO_API TURBO_TOKEN TURBO_BINARY_PATH TURBO_TEAM NX_CLOUD_* NX_NATIVE_* LERNA_* ELECTRON_RUN_AS_NODE ELECTRON_OVERRIDE_DIST_PATH ELECTRON_MIRROR CHROME_BIN CHROME_PATH CHROME_EXECUTABLE CHROMIUM_FLAGS PUPPETEER_EXECUTABLE_PATH PUPPETEER_DOWNLOAD_HOST PUPPETEER_CACHE_DIR PLAYWRIGHT_BROWSERS_PATH PLAYWRIGHT_DOWNLOAD_HOST PLAYWRIGHT_NODEJS_PATH CYPRESS_RUN_BINARY CYPRESS_DOWNLOAD_MIRROR',
    'changes which program the tool runs or downloads',
  ],
]

/** Harmless names that a row above would match. */
const harmless: ReadonlySet<string> = new Set(
  (
    'GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL GIT_COMMITTER_DATE ' +
    'GIT_TERMINAL_PROMPT GIT_OPTIONAL_LOCKS GIT_MERGE_AUTOEDIT GIT_ADVICE GIT_PREFIX GIT_LITERAL_PATHSPECS GIT_FLUSH ' +
    'GIT_REFLOG_ACTION GIT_QUARANTINE_PATH GIT_NO_REPLACE_OBJECTS GIT_ICASE_PATHSPECS ' +
    'LESSCHARSET LESS_TERMCAP_md LESSANSIENDCHARS ' +
    'PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE PYTHONHASHSEED PYTHONUTF8 PYTHONIOENCODING PYTHONFAULTHANDLER PYTHONDEVMODE ' +
    'PYTHONASYNCIODEBUG PYTHONNOUSERSITE PYTHONTRACEMALLOC PYTHONOPTIMIZE PYTHONVERBOSE PYTEST_DISABLE_PLUGIN_AUTOLOAD ' +
    'PYTEST_XDIST_AUTO_NUM_WORKERS PYTEST_CURRENT_TEST PIP_DISABLE_PIP_VERSION_CHECK PIP_NO_INPUT PIP_NO_CACHE_DIR ' +
    'PIP_PROGRESS_BAR PIP_ROOT_USER_ACTION UV_NO_PROGRESS UV_OFFLINE UV_FROZEN UV_LOCKED UV_LINK_MODE POETRY_VIRTUALENVS_IN_PROJECT ' +
    'RAILS_ENV RAILS_LOG_TO_STDOUT RAILS_MAX_THREADS RAILS_LOG_LEVEL BUNDLE_WITHOUT BUNDLE_JOBS BUNDLE_FROZEN ' +
    'NODE_NO_WARNINGS NODE_ENV NODE_DEBUG NPM_CONFIG_LOGLEVEL npm_config_loglevel NPM_CONFIG_FUND npm_config_fund ' +
    'NPM_CONFIG_AUDIT npm_config_audit NPM_CONFIG_YES npm_config_yes NPM_CONFIG_PROGRESS npm_config_progress NPM_CONFIG_COLOR ' +
    'npm_config_update_notifier NPM_CONFIG_UPDATE_NOTIFIER TS_NODE_TRANSPILE_ONLY TS_NODE_LOG_ERROR JEST_WORKER_ID ESLINT_USE_FLAT_CONFIG ' +
    'BUN_DEBUG_QUIET_LOGS DENO_NO_UPDATE_CHECK DENO_NO_PROMPT BABEL_ENV DENO_FUTURE COREPACK_ENABLE_DOWNLOAD_PROMPT ' +
    'CARGO_INCREMENTAL CARGO_TERM_COLOR CARGO_TERM_PROGRESS_WHEN CARGO_TERM_VERBOSE CARGO_TERM_QUIET CARGO_NET_OFFLINE ' +
    'CARGO_BUILD_JOBS CARGO_BUILD_INCREMENTAL CARGO_TARGET_DIR CARGO_NET_RETRY RUSTC_BOOTSTRAP CARGO_PROFILE_DEV_DEBUG ' +
    'CARGO_PROFILE_TEST_DEBUG CARGO_PROFILE_RELEASE_LTO CARGO_PROFILE_RELEASE_DEBUG CARGO_PROFILE_DEV_OPT_LEVEL ' +
    'CARGO_HTTP_MULTIPLEXING CARGO_REGISTRIES_CRATES_IO_PROTOCOL RUSTUP_PERMIT_COPY_RENAME ' +
    'CMAKE_BUILD_TYPE CMAKE_BUILD_PARALLEL_LEVEL CMAKE_EXPORT_COMPILE_COMMANDS CTEST_OUTPUT_ON_FAILURE CTEST_PARALLEL_LEVEL ' +
    'NINJA_STATUS MAKE_TERMOUT MAKE_TERMERR ' +
    'DOCKER_BUILDKIT COMPOSE_DOCKER_CLI_BUILD BUILDKIT_PROGRESS COMPOSE_PROJECT_NAME DOCKER_CLI_HINTS DOCKER_SCAN_SUGGEST ' +
    'COMPOSE_PROFILES COMPOSE_PARALLEL_LIMIT ' +
    'TF_IN_AUTOMATION TF_INPUT TF_LOG AWS_DEFAULT_OUTPUT AWS_REGION AWS_DEFAULT_REGION AWS_MAX_ATTEMPTS ' +
    'DOTNET_CLI_TELEMETRY_OPTOUT DOTNET_NOLOGO DOTNET_SKIP_FIRST_TIME_EXPERIENCE DEBIAN_FRONTEND HOMEBREW_NO_AUTO_UPDATE ' +
    'HOMEBREW_NO_ANALYTICS HOMEBREW_NO_INSTALL_CLEANUP NIX_BUILD_CORES PGTZ PGCONNECT_TIMEOUT PGAPPNAME PGCLIENTENCODING ' +
    'PGDATABASE PGUSER PGPASSWORD PGPORT COVERAGE_CORE TURBO_TELEMETRY_DISABLED NX_DAEMON NX_SKIP_NX_CACHE NX_TUI NX_VERBOSE_LOGGING TURBO_UI TURBO_FORCE ' +
    'UV_SYSTEM_PYTHON DOTNET_ENVIRONMENT DENO_ENV BUN_ENV TOX_ENV MYSQL_PWD ' +
    'ASAN_SYMBOLIZE PLAYWRIGHT_HTML_OPEN PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD CYPRESS_INSTALL_BINARY PUPPETEER_SKIP_DOWNLOAD ' +
    'TMUX_PANE QT_QPA_PLATFORM QT_SCALE_FACTOR GDK_SCALE MALLOC_ARENA_MAX GODEBUG ANSIBLE_FORCE_COLOR ANSIBLE_NOCOLOR ' +
    'XDG_SESSION_TYPE SSL_VERSION_ XDG_CURRENT_DESKTOP GRADLE_CONSOLE KUBECTL_COLOR ' +
    'CLAUDE_CODE_DISABLE_TELEMETRY VIRTUAL_ENV_DISABLE_PROMPT GLOBIGNORE_ GREP_COLOR GREP_COLORS FZF_DEFAULT_HEIGHT'
  ).split(' '),
)

/** Shapes of names that programs use for commands, options and search paths. */
const riskyShape: readonly (readonly [pattern: RegExp, does: string])[] = [
  [
    /_(COMMAND|CMD|EXEC|EXECUTABLE|PROGRAM|RUNNER|WRAPPER|LAUNCHER|HOOK|HOOKS|SHELL|EDITOR|PAGER|BROWSER|ASKPASS|VIEWER|LINKER|INTERPRETER)$/,
    'names a program to run',
  ],
  [/_(BIN|BINARY|BIN_PATH|BINARY_PATH|EXE|EXEC_PATH|ENGINE_LIBRARY)$|^PROTOC$/, 'names a program to run'],
  [/_(OPTIONS|OPTS|FLAGS|ARGS|OPT)$|[A-Z]{3}(OPTS|FLAGS|OPTIONS)$/, 'gives options to a program'],
  [
    /_(PRELOAD|PLUGIN|PLUGINS|PLUGIN_DIR|MODULE_PATH|LIBRARY_PATH|INCLUDE_PATH|LIB_PATH|PLUGIN_PATH|LOAD_PATH|AGENT|INIT_SCRIPT)$/,
    'makes a program load code',
  ],
  [
    /_(PROXY|CA_BUNDLE|CERT_FILE|CA_FILE|CACERT|REGISTRY|INDEX_URL|MIRROR)$/,
    'changes which server or certificate is trusted',
  ],
  [
    /(^|_)(RC|RCFILE|CONFIG_FILE|CONFIG_PATH|CONFIG_DIR|CONFIG_HOME|STARTUP|INITFILE)$/,
    'gives configuration from elsewhere',
  ],
  [
    /(LIB|LIBRARY|MODULE|MODULES|PLUGIN|PLUGINS|INCLUDE|CLASS|LOAD|SEARCH|TOOL|EXTENSION)S?_?PATH$/,
    'changes where a program looks for code',
  ],
]

interface NameIndex {
  readonly exact: Map<string, string>
  readonly prefixes: (readonly [string, string])[]
  readonly suffixes: (readonly [string, string])[]
}

let index: NameIndex | null = null

/** The rows indexed by the form of their names; built when a command first sets a variable. */
function listedNames(): NameIndex {
  if (index !== null) return index
  const created: NameIndex = { exact: new Map(), prefixes: [], suffixes: [] }
  for (const [names, does] of rows)
    for (const name of names.split(' ')) {
      if (name.startsWith('*')) created.suffixes.push([name.slice(1), does])
      else if (name.endsWith('*')) created.prefixes.push([name.slice(0, -1), does])
      else created.exact.set(name, does)
    }
  index = created
  return created
}

/** True for a variable that names a program or its flags by the rows, or a program by its shape: make's overrides. */
export function namesProgram(name: string): boolean {
  return (!harmless.has(name) && listed(name) !== undefined) || (riskyShape[0]?.[0].test(name) ?? false)
}

function listed(name: string): string | undefined {
  const { exact, prefixes, suffixes } = listedNames()
  return (
    exact.get(name) ??
    prefixes.find(([prefix]) => name.startsWith(prefix))?.[1] ??
    suffixes.find(([suffix]) => name.endsWith(suffix))?.[1]
  )
}

/** A sentence when setting this variable changes what programs load or run; null when it is harmless. */
export function environmentHazard(name: string): string | null {
  if (harmless.has(name)) return null
  const does = listed(name) ?? riskyShape.find(([pattern]) => pattern.test(name))?.[1]
  return does === undefined ? null : `\`${name}\` ${does}`
}

/** Places that a program writes: harmless in the project and in /tmp. */
const writtenPlace = /^(TMPDIR|TEMP|TMP|CARGO_TARGET_DIR|.*_(OUTPUT|OUT|LOG|REPORT|CACHE)_(DIR|FILE|PATH))$/

function placeHazard(assignment: AssignmentFact): string | null {
  const outside = (value: string): boolean =>
    /^\/(?!tmp(\/|$)|var\/tmp(\/|$)|home\/|Users\/|private\/tmp|dev\/(null|shm))/.test(value)
  if (!writtenPlace.test(assignment.name) || !assignment.value?.values?.some(outside)) return null
  return `\`${assignment.name}\` makes programs write to a directory of the system`
}

/** Programs that run the project's own Python code anyway. */
const pythonRunners =
  /^(python[\d.]*|pytest|py\.test|mypy|coverage|tox|nox|uv|poetry|pipenv|pdm|hatch|uvicorn|gunicorn|flask|alembic)$/

/** True for `PYTHONPATH=src pytest`: directories of the project, for a program that loads its code already. */
export function loadsProjectCode(assignment: AssignmentFact, command: string): boolean {
  const values = assignment.value?.values
  if (assignment.name !== 'PYTHONPATH' || assignment.append || values == null || !pythonRunners.test(command))
    return false
  return values.every((value) =>
    value.split(':').every((part) => /^(?![/~])[\w./-]+$/.test(part) && !part.split('/').includes('..')),
  )
}

/** As `environmentHazard`, but knows values that are harmless, such as `PAGER=cat`. */
export function assignmentHazard(assignment: AssignmentFact): string | null {
  const hazard = environmentHazard(assignment.name)
  if (hazard === null) return placeHazard(assignment)
  // A shell variable reaches programs only if it was exported before; names of no known tool are
  // not.
  if (assignment.scope === 'shell' && listed(assignment.name) === undefined) return null
  const values = assignment.value?.values
  if (values === undefined || values === null || values.length === 0 || assignment.append) return hazard
  const rules = harmlessValues.filter(([names]) => names.test(assignment.name))
  const calm = values.every((value) => rules.some(([, harmlessValue]) => harmlessValue.test(value)))
  return calm ? null : hazard
}

/** Values that switch a program off instead of naming one. */
const harmlessValues: readonly (readonly [names: RegExp, values: RegExp])[] = [
  [/PAGER$/, /^(cat|less|more|)$/],
  [/^(LC_ALL|LC_CTYPE|LANG)$/, READABLE_LOCALE],
  [/^(GIT_)?(EDITOR|SEQUENCE_EDITOR)$|^VISUAL$|_EDITOR$/, /^(true|:|cat|\/bin\/true|\/usr\/bin\/true)$/],
  [/^(GIT_)?(SSH_)?ASKPASS$|^GIT_ASKPASS$|^SSH_ASKPASS$/, /^(true|echo|\/bin\/true|\/bin\/echo|)$/],
  [/BROWSER$/, /^(none|true|echo|)$/],
  [
    /^NODE_OPTIONS$/,
    /^(--max[-_]old[-_]space[-_]size=\d+|--no-warnings|--no-deprecation|--enable-source-maps|--trace-warnings|--experimental-vm-modules|--stack-trace-limit=\d+|\s)*$/,
  ],
  [
    /^RUSTFLAGS$|^RUSTDOCFLAGS$/,
    /^(-[ADW]\s*[a-z_:-]+|-C\s*(debuginfo|opt-level|target-cpu|debug-assertions|instrument-coverage|overflow-checks)(=[\w-]+)?|--cfg[= ]\w+|\s)*$/,
  ],
  [/^GOFLAGS$/, /^(-mod=(mod|vendor|readonly)|-count=\d+|-v|-race|-tags=[\w,]+|-buildvcs=(true|false|auto)|\s)*$/],
  [/^GOTOOLCHAIN$/, /^(local|auto)$/],
  [/^PYTHONWARNINGS$/, /^(ignore|default|error|always|once|module)$/],
  [/^TS_NODE_PROJECT$/, /^(?!.*\.\.)[\w-][\w./-]*\.json$/],
  [/^(CC|CXX|HOSTCC|HOSTCXX)$/, /^([\w-]+-)?(gcc|g\+\+|clang|clang\+\+|cc|c\+\+)(-\d+(\.\d+)*)?$/],
  [
    /^(C|CXX|CPP)FLAGS$/,
    /^(-O[0-3sgz]?|-g\d?|-W[\w=-]*|-std=[\w+]+|-D\w+(=\w*)?|-f(no-)?(omit-frame-pointer|sanitize=[\w,]+|PIC|stack-protector[\w-]*|exceptions|rtti)|-m(arch|tune)=[\w-]+|-pthread|\s)*$/,
  ],
  [/^UV_PYTHON$/, /^\d+(\.\d+)*$/],
  [/^PLAYWRIGHT_BROWSERS_PATH$/, /^0$/],
  [
    /^(JAVA|GRADLE|MAVEN|SBT|JVM)_OPTS$/,
    /^(-X(mx|ms|ss)\d+[kmg]?|-XX:Max(Metaspace|Perm)Size=\d+[kmg]?|-Dfile\.encoding=[\w-]+|-Djava\.awt\.headless=true|-Dorg\.gradle\.(daemon|parallel|caching)=(true|false)|\s)*$/i,
  ],
  [/^JAVA_HOME$/, /^\/(usr\/lib\/jvm|usr\/local|opt)\/(?!.*\.\.)[\w./+-]+$/],
  [/^LD_LIBRARY_PATH$/, /^(?!.*\.\.)(\/usr(\/local)?\/lib(32|64)?(\/[\w.+/-]*)?:?)+$/],
  [/^(PGHOST|MYSQL_HOST|REDISCLI_HOST)$/, /^(localhost|127\.0\.0\.1|::1)$/],
  [/^(GOCACHE|GOTMPDIR|XDG_CACHE_HOME)$/, /^\/tmp\/(?!.*\.\.)[\w./-]+$|^\/tmp$/],
  [/^PYTEST_ADDOPTS$/, /^(-[qvxsl]+|--tb=\w+|--maxfail=\d+|--color=\w+|--durations=\d+|\s)*$/],
  [
    /^(SSH_AUTH_SOCK|SSH_ASKPASS|DOCKER_HOST|RUSTC_WRAPPER|CARGO_BUILD_RUSTC_WRAPPER|PYTHONHOME)$|_(proxy|PROXY)$/,
    /^$/,
  ],
  [/^GOPROXY$/, /^(off|direct|https:\/\/proxy\.golang\.org(,direct)?)$/],
  [/^GO111MODULE$/, /^(on|off|auto)$/],
  [/^MAKEFLAGS$/, /^-?j?\d*$/],
  [/^LESS$/, /^-?[FRXSiIMKQeEgGJNnqrsuUwW]*$/],
  [/^GIT_TRACE\w*$|^GIT_CURL_VERBOSE$/, /^(0|1|2|true|false)$/],
  [/^GIT_CONFIG_(NOSYSTEM|COUNT)$/, /^(1|0|true)$/],
  [/^GIT_CONFIG_(GLOBAL|SYSTEM)$/, /^\/dev\/null$/],
  [/^PYTHONPATH$|^PYTHONSTARTUP$|^LD_PRELOAD$/, /^$/],
  [/^(no_proxy|NO_PROXY)$/, /^[\w.,:*-]*$/],
  [/^DJANGO_SETTINGS_MODULE$/, /^[\w.]+$/],
  [/^TF_(CLI_ARGS|VAR_\w+)$/, /^$/],
  [/^(HISTFILE|LESSHISTFILE)$/, /^(\/dev\/null|-|)$/],
  [/^(DISPLAY|WAYLAND_DISPLAY)$/, /^(:\d+(\.\d+)?|)$/],
  [
    /^ASAN_OPTIONS$|^UBSAN_OPTIONS$|^TSAN_OPTIONS$|^LSAN_OPTIONS$/,
    /^((detect_leaks|halt_on_error|abort_on_error|print_stacktrace|symbolize|detect_stack_use_after_return|allocator_may_return_null)=[01]:?)*$/,
  ],
]
