/** Which variables change what programs do, and which values are harmless all the same. */

import { describe, expect, test } from 'vitest'
import { assignmentOf } from '../../../test/command-line.ts'
import { assignmentHazard, environmentHazard } from './environment.ts'

const risky =
  'LANG LC_ALL LC_CTYPE TEXTDOMAIN TEXTDOMAINDIR PATH LD_PRELOAD LD_LIBRARY_PATH LD_AUDIT DYLD_INSERT_LIBRARIES IFS BASH_ENV ENV PS4 PROMPT_COMMAND SHELLOPTS BASHOPTS BASH_FUNC_git%% ' +
  'HOME XDG_CONFIG_HOME XDG_DATA_HOME GIT_SSH GIT_SSH_COMMAND GIT_EXTERNAL_DIFF GIT_ASKPASS GIT_PAGER GIT_EDITOR GIT_SEQUENCE_EDITOR ' +
  'GIT_CONFIG_COUNT GIT_CONFIG_KEY_0 GIT_CONFIG_VALUE_0 GIT_CONFIG_GLOBAL GIT_CONFIG_PARAMETERS GIT_DIR GIT_WORK_TREE GIT_EXEC_PATH ' +
  'GIT_TEMPLATE_DIR GIT_PROXY_COMMAND GIT_TRACE PAGER MANPAGER EDITOR VISUAL BROWSER LESS LESSOPEN LESSCLOSE LESSKEYIN TAR_OPTIONS ' +
  'RIPGREP_CONFIG_PATH GREP_OPTIONS RSYNC_RSH PYTHONPATH PYTHONSTARTUP PYTHONHOME PYTHONINSPECT PYTHONWARNINGS PERL5LIB PERL5OPT PERL5DB ' +
  'RUBYOPT RUBYLIB NODE_OPTIONS NODE_PATH npm_config_script_shell NPM_CONFIG_PREFIX RUSTC_WRAPPER RUSTC CARGO_BUILD_RUSTC_WRAPPER ' +
  'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER CARGO_HOME RUSTFLAGS RUSTDOC CC CXX LD AR ' +
  'CFLAGS LDFLAGS MAKEFLAGS MAKEFILES GOFLAGS GOROOT GOTOOLCHAIN GOPROXY CGO_CFLAGS CGO_LDFLAGS JAVA_TOOL_OPTIONS _JAVA_OPTIONS ' +
  'MAVEN_OPTS GRADLE_OPTS CLASSPATH JAVA_HOME DOCKER_HOST KUBECONFIG AWS_PROFILE AWS_CONFIG_FILE AWS_ENDPOINT_URL SSH_ASKPASS SSH_AUTH_SOCK ' +
  'GCONV_PATH LOCPATH TERMINFO OPENSSL_CONF SSL_CERT_FILE http_proxy HTTPS_PROXY ALL_PROXY CURL_HOME WGETRC PSQLRC PGSERVICEFILE ' +
  'KUBECTL_EXTERNAL_DIFF TF_CLI_ARGS MY_COMMAND FOO_EDITOR FOO_PAGER BAR_OPTIONS BAZ_OPTS X_PRELOAD Y_WRAPPER Z_LIBRARY_PATH PHP_INI_SCAN_DIR'

const harmless =
  'CI NODE_ENV FORCE_COLOR NO_COLOR DEBUG RUST_LOG RUST_BACKTRACE LC_MESSAGES LC_COLLATE TZ TERM COLUMNS LINES GOOS GOARCH CGO_ENABLED PORT HOST ' +
  'GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL GIT_TERMINAL_PROMPT PYTHONUNBUFFERED PYTHONDONTWRITEBYTECODE DATABASE_URL API_KEY LOG_LEVEL ' +
  'VITE_API_URL NEXT_PUBLIC_X CARGO_TERM_COLOR CARGO_INCREMENTAL CARGO_TARGET_DIR DOCKER_BUILDKIT TF_IN_AUTOMATION AWS_REGION RAILS_ENV ' +
  'VERSION NAME x i file COUNT RESULT TEST_FILTER APP_ENV FLASK_APP CMD ARGS OPTS FILE_PATH OUT_PATH LOG_PATH BIN_DIR TMP TMPDIR PREFIX CONTAINER_NAME DOCKER_IMAGE SUPABASE_URL GOOGLE_CLIENT_ID TF_VAR_x MYSQL_ROOT_PASSWORD PLAYWRIGHT_BASE_URL FILE_NAME FEATURE_X DEBIAN_FRONTEND STRATEGY'

/** Values that switch a program off, or only tune it. */
const calm = [
  'PAGER=cat',
  'GIT_PAGER=cat',
  'GIT_PAGER=',
  'GH_PAGER=cat',
  'GIT_EDITOR=true',
  'EDITOR=true',
  'GIT_SEQUENCE_EDITOR=:',
  'GIT_TERMINAL_PROMPT=0',
  'NODE_OPTIONS=--max-old-space-size=4096',
  'GOFLAGS=-mod=mod',
  'RUSTFLAGS=-D warnings',
  'MAKEFLAGS=-j4',
  'GIT_CONFIG_GLOBAL=/dev/null',
  'LC_ALL=C',
  'LC_ALL=',
  'LANG=en_US.UTF-8',
  'LC_CTYPE=C.utf8',
  'LANG=ca_ES.UTF-8@valencia',
]

/** The same names with values that still do something. */
const alarming = [
  'PAGER=./e',
  'GIT_PAGER=cat;id',
  'GIT_EDITOR=true;id',
  'EDITOR=vim',
  'NODE_OPTIONS=--max-old-space-size=1 --require ./e',
  'GOFLAGS=-mod=mod -toolexec=./e',
  'RUSTFLAGS=-C linker=./e',
  'MAKEFLAGS=--eval=x',
  'GIT_CONFIG_GLOBAL=/tmp/e',
  'LESS=+!id',
  'LESS=-ofile',
  'LC_ALL=zh_CN.gbk',
  'LANG=de_DE',
  'LC_CTYPE=ja_JP.SJIS',
  'LC_ALL=x/../C.UTF-8',
]

describe('variables by name', () => {
  test.each(risky.split(' '))('%s asks', (name) => expect(environmentHazard(name)).toContain(`\`${name}\``))
  test.each(harmless.split(' '))('%s is harmless', (name) => expect(environmentHazard(name)).toBeNull())
})

describe('variables by value', () => {
  test.each(calm)('%s is harmless', (text) => expect(assignmentHazard(assignmentOf(text))).toBeNull())
  test.each(alarming)('%s asks', (text) => expect(assignmentHazard(assignmentOf(text))).not.toBeNull())
  test('a variable of the shell alone asks only when a known tool reads it', () => {
    expect(assignmentHazard({ ...assignmentOf('MY_COMMAND=x'), scope: 'shell' })).toBeNull()
    expect(assignmentHazard({ ...assignmentOf('MY_COMMAND=x'), scope: 'export' })).not.toBeNull()
    expect(assignmentHazard({ ...assignmentOf('PATH=x'), scope: 'shell' })).not.toBeNull()
  })
  test('a value that is not known asks', () => {
    expect(assignmentHazard({ ...assignmentOf('PAGER=cat'), value: null })).not.toBeNull()
  })
  test('an addition to a value asks: the rest of it is not known', () => {
    expect(assignmentHazard({ ...assignmentOf('PAGER=cat'), append: true })).not.toBeNull()
  })
})
