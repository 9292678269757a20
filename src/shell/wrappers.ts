/** The wrapper table: programs and builtins whose arguments are a command, and how to find it among their options. */

/** One wrapper, as data. `unwrap.ts` is the one mechanism that reads it. */
export interface WrapperRow {
  readonly names: readonly string[]
  /** Subcommand that must follow: `git bisect run`. */
  readonly sub?: readonly string[]
  /** Options before the subcommand, in the same two notations as below. */
  readonly before?: { readonly short?: string; readonly long?: string }
  /** Short options in getopt notation: `k:` takes a value, `i::` only a glued one. */
  readonly short?: string
  /** Long options, space-separated: `signal=` takes a value, `replace=?` only after `=`. */
  readonly long?: string
  /** Single-dash long options (`-rcfile`) are written with their dash in `long`. */
  readonly operands?: number
  /** The command starts only after `--`. */
  readonly afterDashes?: boolean
  /** The options go on behind operands (GNU permutation); otherwise the first operand ends them. */
  readonly permutes?: boolean
  readonly assignments?: boolean
  /**
   * `words`: the rest is argv. `joined`: the rest is joined and run by a shell. `shell`: a shell with `-c`.
   * `exec`: `-exec … ;` inside an expression. `text`: only options hold commands.
   */
  readonly run: 'words' | 'joined' | 'shell' | 'exec' | 'text'
  /** Options whose value is shell text that is run. */
  readonly text?: readonly string[]
  /** Options whose value is split into words in front of the command (`env -S`). */
  readonly splits?: readonly string[]
  /** Arguments come from input: appended, or put where the placeholder stands. */
  readonly input?: 'append' | 'replace'
  /** Options that set the placeholder (their value) instead of appending. */
  readonly placeholder?: readonly string[]
  /** Words behind which arguments stand instead of the command (`parallel rm ::: a b`). */
  readonly ends?: readonly string[]
  readonly chdir?: readonly string[]
  /** Options with which no command is run. */
  readonly idle?: readonly string[]
  /** A command is run only with this option. */
  readonly needs?: string
  /** Options that reach further than running the command. */
  readonly wary?: readonly string[]
  /** Run when no command is given: `xargs` runs echo. Undefined: nothing is run. */
  readonly otherwise?: 'echo' | 'shell'
  readonly hazard?: { readonly code: string; readonly message: string; readonly verdict: 'ask' | 'deny' }
  /** The command runs with functions and builtins of this shell, as `command` does. */
  readonly builtins?: boolean
  /** Paths, hosts and effects of the wrapper's own arguments matter as well. */
  readonly inspect?: boolean
  /** What runs inside does so elsewhere (another machine, a container). */
  readonly elsewhere?: boolean
}

const privilege = (name: string) =>
  ({
    code: 'privilege',
    message: `\`${name}\` asks for other rights than this session has; use an unprivileged way, or hand the command to the user`,
    verdict: 'deny',
  }) as const

const remote = (name: string) =>
  ({ code: 'remote-command', message: `\`${name}\` runs the command somewhere else`, verdict: 'ask' }) as const

const traced = (name: string) =>
  ({ code: 'wrapper', message: `\`${name}\` controls the program it runs`, verdict: 'ask' }) as const

export const WRAPPERS: readonly WrapperRow[] = [
  {
    names: ['env', 'genv'],
    short: 'i0u:C:S:va:',
    long: 'ignore-environment null unset= chdir= split-string= debug block-signal=? default-signal=? ignore-signal=? list-signal-handling help version argv0=',
    assignments: true,
    splits: ['S', 'split-string'],
    chdir: ['C', 'chdir'],
    idle: ['help', 'version'],
    run: 'words',
  },
  {
    names: ['timeout', 'gtimeout'],
    short: 'k:s:vfp',
    long: 'kill-after= signal= preserve-status foreground verbose help version',
    operands: 1,
    idle: ['help', 'version'],
    run: 'words',
  },
  {
    names: ['nice', 'gnice'],
    short: 'n:0123456789',
    long: 'adjustment= help version',
    idle: ['help', 'version'],
    run: 'words',
  },
  {
    names: ['ionice'],
    short: 'c:n:tp:P:u:hV',
    long: 'class= classdata= ignore pid= pgid= uid= help version',
    idle: ['p', 'P', 'u', 'pid', 'pgid', 'uid', 'h', 'V', 'help', 'version'],
    run: 'words',
  },
  { names: ['nohup', 'gnohup'], long: 'help version', idle: ['help', 'version'], run: 'words' },
  {
    names: ['time', 'gtime'],
    short: 'ao:f:pqvhV',
    long: 'append output= format= portability quiet verbose help version',
    idle: ['h', 'V', 'help', 'version'],
    wary: ['o', 'output'],
    run: 'words',
  },
  { names: ['command'], short: 'pvV', idle: ['v', 'V'], builtins: true, run: 'words' },
  { names: ['builtin'], builtins: true, run: 'words' },
  { names: ['jobs'], short: 'lnprsx', needs: 'x', builtins: true, run: 'words' },
  { names: ['cross-env', 'cross-env-shell'], assignments: true, run: 'words' },
  {
    names: ['envdir', 'logsave', 'setuidgid', 'envuidgid'],
    short: 'a',
    operands: 1,
    hazard: traced('this wrapper'),
    run: 'words',
  },
  { names: ['exec'], short: 'cla:', run: 'words' },
  {
    names: ['stdbuf', 'gstdbuf'],
    short: 'i:o:e:',
    long: 'input= output= error= help version',
    idle: ['help', 'version'],
    run: 'words',
  },
  {
    names: ['setsid'],
    short: 'cfwhV',
    long: 'ctty fork wait help version',
    idle: ['h', 'V', 'help', 'version'],
    run: 'words',
  },
  { names: ['unbuffer'], short: 'p', run: 'words' },
  { names: ['caffeinate'], short: 'dimsut:w:', run: 'words' },
  {
    names: [
      'chronic',
      'ifne',
      'pee',
      'catchsegv',
      'fakeroot',
      'eatmydata',
      'nocache',
      'firejail',
      'proxychains',
      'proxychains4',
      'torsocks',
      'torify',
      'tsocks',
      'dbus-run-session',
      'dbus-launch',
      'xvfb-run',
      'cpulimit',
      'numactl',
      'setarch',
      'linux32',
      'linux64',
      'faketime',
      'ltrace',
      'perf',
      'valgrind',
      'systemd-cat',
      'systemd-inhibit',
      'i386',
      'x86_64',
      'uname26',
      'prlimit',
      'cgexec',
      'softlimit',
      'chpst',
      'setlock',
      'lockf',
      'aa-exec',
      'cset',
      'rlwrap',
      'ts-node-wrap',
      'doppler',
      'dotenvx',
      'dotenv',
      'op',
      'infisical',
      'chamber',
      'aws-vault',
      'with-contenv',
      'gosu',
      'tini',
      'dumb-init',
      'catatonit',
      'env-cmd',
      'ssh-agent',
      'runcon',
      'choom',
      'rr',
      'nsjail',
      'flatpak-spawn',
      'daemonize',
      'apptainer',
      'singularity',
      'hyperfine',
      'concurrently',
    ],
    short: '',
    hazard: traced('this wrapper'),
    run: 'words',
  },
  {
    names: ['chrt'],
    short: 'abdfiormpT:P:D:RhvV',
    long: 'all-tasks batch deadline fifo idle other rr max pid verbose help version',
    operands: 1,
    idle: ['p', 'm', 'h', 'V', 'pid', 'max', 'help', 'version'],
    run: 'words',
  },
  {
    names: ['taskset'],
    short: 'apchV',
    long: 'all-tasks pid cpu-list help version',
    operands: 1,
    idle: ['p', 'pid', 'h', 'V', 'help', 'version'],
    run: 'words',
  },
  {
    names: ['strace'],
    short: 'cCdfFhikqrtTvVxywzZnNYDa:b:e:E:I:o:O:p:P:s:S:u:U:X:',
    long: 'output= trace= env= follow-forks',
    idle: ['p', 'h', 'V'],
    hazard: traced('strace'),
    run: 'words',
  },
  { names: ['gdb', 'lldb'], long: 'args batch quiet', hazard: traced('gdb'), run: 'words' },
  {
    names: ['watch'],
    short: 'bcd::eghn:pq:rtvwx',
    long: 'beep color differences=? errexit chgexit interval= precise equexit= no-rerun no-title no-wrap exec help version',
    idle: ['h', 'v', 'help', 'version'],
    run: 'joined',
  },
  {
    names: ['flock'],
    short: 'c:E:eFnosuvw:xhV',
    long: 'shared exclusive unlock nonblock timeout= conflict-exit-code= close no-fork verbose help version command=',
    operands: 1,
    text: ['c', 'command'],
    idle: ['u', 'unlock', 'h', 'V', 'help', 'version'],
    run: 'words',
  },
  {
    names: ['xargs', 'gxargs'],
    wary: ['a', 'arg-file'],
    short: '0a:d:E:e::i::I:L:l::n:oprs:tP:x',
    long: 'null arg-file= delimiter= eof=? replace=? max-lines=? max-args= open-tty interactive no-run-if-empty max-chars= verbose max-procs= exit show-limits process-slot-var= help version',
    input: 'append',
    placeholder: ['I', 'i', 'replace'],
    idle: ['help', 'version'],
    otherwise: 'echo',
    run: 'words',
  },
  {
    names: ['parallel', 'env_parallel', 'sem'],
    short: '0kqtuvXmj:n:N:L:a:I:P:C:d:',
    long: 'jobs= max-args= keep-order halt= delay= colsep= dry-run bar eta tag will-cite no-notice timeout= joblog= arg-file= progress line-buffer ungroup quote null group xargs',
    input: 'append',
    placeholder: ['I'],
    ends: [':::', '::::', ':::+', '::::+'],
    otherwise: 'shell',
    hazard: { code: 'wrapper', message: '`parallel` passes its words to a shell once more', verdict: 'ask' },
    run: 'joined',
  },
  { names: ['find', 'gfind', 'bfs'], input: 'replace', inspect: true, run: 'exec' },
  {
    names: ['fd', 'fdfind'],
    input: 'replace',
    inspect: true,
    run: 'exec',
  },
  {
    names: ['sh', 'bash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'rbash', 'yash', 'fish'],
    short: 'abefhkmnptuvxBCEHPTsilrDo:O:',
    long: 'norc noprofile posix login rcfile= init-file= restricted verbose debugger dump-strings help version noediting pretty-print',
    wary: [
      'i',
      'l',
      'O',
      'login',
      'rcfile',
      'init-file',
      'posix',
      'k',
      'a',
      'B',
      'debugger',
      'D',
      'r',
      'restricted',
      'P',
      't',
      'p',
    ],
    idle: ['help', 'version'],
    run: 'shell',
  },
  {
    names: ['sudo', 'sudo-rs'],
    short: 'AbBEeHhiKklnNPSsvVC:c:D:g:p:R:r:T:t:U:u:',
    long: 'user= group= login shell preserve-env=? non-interactive stdin chdir= host= prompt= role= type= set-home edit list validate background askpass',
    assignments: true,
    hazard: privilege('sudo'),
    run: 'words',
  },
  { names: ['doas'], short: 'Lnsa:C:u:', hazard: privilege('doas'), run: 'words' },
  {
    names: ['su', 'runuser'],
    short: 'c:lmpPfTVhs:g:G:u:w:',
    long: 'command= session-command= login preserve-environment shell= user= group= pty fast whitelist-environment=',
    text: ['c', 'command', 'session-command'],
    operands: 1,
    permutes: true,
    hazard: privilege('su'),
    run: 'words',
  },
  {
    names: ['pkexec'],
    long: 'user= disable-internal-agent keep-cwd help version',
    hazard: privilege('pkexec'),
    run: 'words',
  },
  {
    names: ['run0'],
    short: 'u:g:D:hV',
    long: 'user= group= chdir= unit= property= description= slice= setenv= background= machine= nice= no-ask-password help version',
    hazard: privilege('run0'),
    run: 'words',
  },
  { names: ['sudoedit', 'visudo', 'vipw'], hazard: privilege('sudoedit'), run: 'text' },
  {
    names: ['sg', 'newgrp'],
    short: 'c:',
    operands: 1,
    text: ['c'],
    permutes: true,
    hazard: privilege('sg'),
    run: 'words',
  },
  {
    names: ['setpriv'],
    long: 'reuid= regid= clear-groups keep-groups init-groups groups= inh-caps= ambient-caps= bounding-set= no-new-privs reset-env securebits= pdeathsig= selinux-label= apparmor-profile= nnp dump list-caps',
    short: 'dhV',
    hazard: privilege('setpriv'),
    run: 'words',
  },
  { names: ['capsh'], hazard: privilege('capsh'), run: 'words' },
  {
    names: ['chroot'],
    long: 'userspec= groups= skip-chdir help version',
    operands: 1,
    hazard: privilege('chroot'),
    run: 'words',
  },
  {
    names: ['unshare'],
    short: 'fmuinpUCTrcS:G:R:w:l:hV',
    long: 'fork mount=? uts=? ipc=? net=? pid=? user=? cgroup=? time=? map-root-user map-current-user map-user= map-group= map-auto kill-child=? mount-proc=? propagation= setgroups= root= wd= setuid= setgid= keep-caps help version',
    hazard: privilege('unshare'),
    run: 'words',
  },
  {
    names: ['nsenter'],
    short: 'at:m::u::i::n::p::C::T::U::S:G:r::w::W:FZehV',
    long: 'all target= mount=? uts=? ipc=? net=? pid=? cgroup=? user=? time=? setuid= setgid= preserve-credentials root=? wd=? wdns= env no-fork follow-context help version',
    hazard: privilege('nsenter'),
    run: 'words',
  },
  { names: ['machinectl'], sub: ['shell'], operands: 1, hazard: privilege('machinectl'), run: 'words' },
  {
    names: ['systemd-run'],
    short: 'Gdtpq:E:p:u:S',
    long: 'user scope unit= property= setenv= pty pipe quiet wait collect slice= same-dir shell service-type= uid= gid= nice= working-directory= on-active= on-boot= on-startup= on-unit-active= on-calendar= timer-property= remain-after-exit send-sighup no-ask-password no-block description=',
    hazard: privilege('systemd-run'),
    run: 'words',
  },
  {
    names: ['at', 'batch', 'crontab'],
    hazard: { code: 'deferred', message: 'it runs commands later, outside this session', verdict: 'ask' },
    inspect: true,
    run: 'text',
  },
  {
    names: ['script'],
    short: 'c:aefqtI:O:B:T:m:o:E:hV',
    long: 'command= append return flush force quiet log-in= log-out= log-io= log-timing= logging-format= output-limit= echo= timing=? help version',
    text: ['c', 'command'],
    operands: 1,
    inspect: true,
    run: 'words',
  },
  {
    names: ['busybox', 'toybox'],
    long: 'list list-full install help',
    idle: ['list', 'list-full', 'help'],
    run: 'words',
  },
  {
    names: ['ld.so', 'ld-linux.so.2', 'ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1', 'ld-musl-x86_64.so.1'],
    long: 'library-path= preload= audit= inhibit-cache argv0= list verify',
    hazard: traced('the dynamic loader'),
    run: 'words',
  },
  { names: ['entr'], short: 'acdnprsxz', long: '', input: 'replace', run: 'words' },
  {
    names: ['ssh', 'autossh'],
    short: '46AaCfGgKkMNnqsTtVvXxYyB:b:c:D:E:e:F:I:i:J:L:l:m:O:o:p:P:Q:R:S:W:w:',
    operands: 1,
    wary: ['o', 'F', 'J', 'E', 'I', 'S'],
    hazard: remote('ssh'),
    elsewhere: true,
    inspect: true,
    run: 'joined',
  },
  { names: ['bwrap'], hazard: traced('bwrap'), run: 'words' },
  {
    names: ['docker', 'podman', 'nerdctl'],
    sub: ['run'],
    before: { short: 'DH:c:l:', long: 'context= host= log-level= config= debug' },
    short: 'dtiPqa:c:e:h:l:m:p:u:v:w:',
    long: 'rm name= env= volume= workdir= user= network= entrypoint= publish= tty interactive detach platform= env-file= mount= hostname= label= memory= cpus= pull= init privileged cap-add= cap-drop= security-opt= device= gpus= shm-size= ulimit= tmpfs= add-host= dns= ipc= pid= restart= read-only',
    operands: 1,
    hazard: remote('docker run'),
    elsewhere: true,
    inspect: true,
    run: 'words',
  },
  {
    names: ['docker', 'podman', 'nerdctl'],
    sub: ['exec'],
    before: { short: 'DH:c:l:', long: 'context= host= log-level= config= debug' },
    short: 'dtie:u:w:',
    long: 'detach env= env-file= interactive privileged tty user= workdir=',
    operands: 1,
    hazard: remote('docker exec'),
    elsewhere: true,
    inspect: true,
    run: 'words',
  },
  {
    names: ['kubectl', 'oc'],
    sub: ['exec'],
    before: { short: 'n:s:', long: 'namespace= context= kubeconfig= cluster= user=' },
    short: 'itqc:n:f:',
    long: 'stdin tty container= namespace= context= kubeconfig= quiet filename=',
    afterDashes: true,
    hazard: remote('kubectl exec'),
    elsewhere: true,
    inspect: true,
    run: 'words',
  },
  { names: ['direnv'], sub: ['exec'], operands: 1, hazard: traced('direnv'), run: 'words' },
  {
    names: ['nix-shell'],
    short: 'p:I:j:A:E:',
    long: 'run= command= pure packages= attr= expr= keep= argstr= arg=',
    text: ['run', 'command'],
    permutes: true,
    inspect: true,
    hazard: traced('nix-shell'),
    run: 'text',
  },
  {
    names: ['mise', 'rtx'],
    sub: ['exec'],
    short: 'c:j:C:',
    long: 'command= jobs= cd=',
    text: ['c', 'command'],
    afterDashes: true,
    inspect: true,
    run: 'words',
  },
  {
    names: ['mise', 'rtx'],
    sub: ['x'],
    short: 'c:j:C:',
    long: 'command= jobs= cd=',
    text: ['c', 'command'],
    afterDashes: true,
    inspect: true,
    run: 'words',
  },
  { names: ['asdf', 'rbenv', 'pyenv', 'nodenv'], sub: ['exec'], run: 'words' },
  { names: ['bundle'], sub: ['exec'], long: 'keep-file-descriptors gemfile=', run: 'words' },
  {
    names: ['poetry'],
    sub: ['run'],
    before: { short: 'qvnC:P:', long: 'quiet verbose no-interaction directory= project= no-ansi ansi' },
    run: 'words',
  },
  { names: ['pipenv', 'hatch', 'pdm', 'rye'], sub: ['run'], run: 'words' },
  {
    names: ['uv'],
    sub: ['run'],
    before: { short: 'qv', long: 'quiet verbose directory= project= offline no-cache config-file=' },
    short: 'p:m:s',
    long: 'python= with= extra= group= no-sync frozen locked isolated active all-extras no-dev dev env-file= package= directory= project= no-project with-requirements= with-editable= only-group= index-url= offline quiet',
    wary: ['with', 'with-requirements', 'with-editable', 'm', 's', 'env-file', 'index-url', 'directory', 'project'],
    run: 'words',
  },
  {
    names: ['conda', 'mamba', 'micromamba'],
    sub: ['run'],
    short: 'n:p:v',
    long: 'name= prefix= no-capture-output live-stream cwd= verbose',
    run: 'words',
  },
  {
    names: ['npm', 'pnpm', 'yarn'],
    sub: ['exec'],
    short: 'c:y',
    long: 'call= package= yes no workspace= workspaces',
    text: ['c', 'call'],
    inspect: true,
    run: 'words',
  },
  { names: ['rtk'], short: 'vu', long: 'verbose ultra-compact skip-env', run: 'words' },
  {
    names: ['git'],
    sub: ['bisect', 'run'],
    before: {
      short: 'C:c:pP',
      long: 'git-dir= work-tree= namespace= no-pager paginate bare no-replace-objects literal-pathspecs exec-path=? html-path',
    },
    inspect: true,
    run: 'words',
  },
  {
    names: ['git'],
    sub: ['submodule', 'foreach'],
    before: { short: 'C:c:pP', long: 'git-dir= work-tree= namespace= no-pager paginate bare' },
    short: 'q',
    long: 'recursive quiet',
    inspect: true,
    run: 'joined',
  },
  {
    names: ['git'],
    sub: ['rebase'],
    before: { short: 'C:c:pP', long: 'git-dir= work-tree= namespace= no-pager paginate bare' },
    short: 'x:iqvfnpmrs:X:C:S::',
    long: 'exec= onto= interactive continue abort skip quit edit-todo show-current-patch root autosquash no-autosquash autostash no-autostash strategy= strategy-option= rebase-merges=? keep-base fork-point no-fork-point merge apply quiet verbose stat no-stat force-rebase no-ff signoff reset-author-date ignore-date committer-date-is-author-date update-refs no-update-refs empty= gpg-sign=? no-gpg-sign reapply-cherry-picks no-reapply-cherry-picks whitespace= verify no-verify',
    text: ['x', 'exec'],
    permutes: true,
    inspect: true,
    run: 'text',
  },
]

const STANDARD_DIRECTORIES = [
  '/bin/',
  '/usr/bin/',
  '/usr/local/bin/',
  '/sbin/',
  '/usr/sbin/',
  '/usr/local/sbin/',
  '/opt/homebrew/bin/',
]

const BY_NAME: ReadonlyMap<string, readonly WrapperRow[]> = (() => {
  const index = new Map<string, WrapperRow[]>()
  for (const row of WRAPPERS) {
    for (const name of row.names) index.set(name, [...(index.get(name) ?? []), row])
  }
  return index
})()

/** The bare name of a program in a standard directory; `./env` and `/tmp/env` keep their path. */
export function standardName(name: string): string {
  const slash = name.lastIndexOf('/')
  if (slash === -1) return name
  if (/^\/lib(?:64|32)?\/|^\/usr\/lib/.test(name) && /^ld[-.]/.test(name.slice(slash + 1))) return name.slice(slash + 1)
  const directory = name.slice(0, slash + 1).replace(/\/\.?(?=\/)/g, '')
  return STANDARD_DIRECTORIES.includes(directory) ? name.slice(slash + 1) : name
}

/** The rows of a program, several when they differ by subcommand. */
export function wrapperRows(name: string): readonly WrapperRow[] {
  return BY_NAME.get(standardName(name)) ?? []
}
