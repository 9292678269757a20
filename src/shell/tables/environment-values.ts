/** Values of risky variables that are harmless all the same: `PAGER=cat`, `CC=gcc`, `NODE_OPTIONS=--no-warnings`. */

import { READABLE_LOCALE } from '../charset.ts'

/** Values that switch a program off instead of naming one. */
export const harmlessValues: readonly (readonly [names: RegExp, values: RegExp])[] = [
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
