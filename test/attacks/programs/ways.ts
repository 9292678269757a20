/** Ways to start a program, as lines of a script: `mark` is what its only word is, a file that it makes. */

/** `line` starts /usr/bin/touch with one word; what it needs decides by itself whether the control works. */
export interface Way {
  readonly note: string
  readonly line: (mark: string) => string
}

/** The program that a way needs, beside those that every machine has. */
export function neededBy({ note }: Way): string {
  return note.includes('busybox') ? 'busybox' : note.split(' ')[0]!
}

const way = (note: string, line: (mark: string) => string): Way => ({ note, line })

/** Ways of the helper, which has those that no shell has. */
const HELPER =
  'execve fexecve proc-fd dev-fd folder-fd memfd other-name thread shared-words vfork spawn clone-vm stopped'
const RACES = 'race-path race-words race-link'

const SHELLS = 'sh bash dash zsh ksh mksh busybox\\ sh fish tcsh'
  .split(/(?<!\\) /)
  .map((name) => name.replace('\\', ''))

/** Programs that are given a line of shell. */
const GIVEN: readonly (readonly [string, string])[] = [
  ['env', 'env LINE'],
  ['env -S', "env -S 'LINE'"],
  ['nice', 'nice LINE'],
  ['nohup', 'nohup LINE'],
  ['timeout', 'timeout 9 LINE'],
  ['setsid', 'setsid -w LINE'],
  ['stdbuf', 'stdbuf -oL LINE'],
  ['time', '/usr/bin/time LINE'],
  ['xargs', "echo 'LINE' | xargs env"],
  ['xargs -I', "echo MARK | xargs -I{} t''ouch {}"],
  ['find -exec', "find . -maxdepth 0 -exec t''ouch MARK ';'"],
  ['find -execdir', "find . -maxdepth 0 -execdir t''ouch MARK ';'"],
  ['flock', 'flock lock LINE'],
  ['script', "script -qec 'LINE' /dev/null"],
  ['sed e', "echo 'LINE' | sed e"],
  ['sed s///e', "echo 'LINE' | sed 's/^//e'"],
  ['sed 1e', "echo x | sed '1e LINE'"],
  ['awk system', 'awk \'BEGIN{system("LINE")}\''],
  ['awk pipe to', 'awk \'BEGIN{print "" | "LINE"}\''],
  ['awk pipe from', 'awk \'BEGIN{"LINE" | getline}\''],
  ['mawk', 'mawk \'BEGIN{system("LINE")}\''],
  ['gawk', 'gawk \'BEGIN{system("LINE")}\''],
  ['make', "printf 'a:\\n\\tLINE\\n' | make -sf -"],
  ['make --eval', "make -s --eval='$(shell LINE)' --eval='a:;' a"],
  ['tar', "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec='LINE' starts"],
  ['tar -I', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; tar cf x.tar -I ./z starts"],
  ['sort', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; seq 200000 | sort -S 100k --compress-program=./z >/dev/null"],
  ['split', "echo x | split --filter='LINE'"],
  ['dd of a pipe', "echo 'LINE' | dd 2>/dev/null | sh"],
  ['base64', "echo 'LINE' | base64 | base64 -d | sh"],
  ['git alias', "git -c alias.x='!LINE' x"],
  ['git editor', "GIT_EDITOR='LINE;:' git var GIT_EDITOR | sh"],
  [
    'git hook',
    "mkdir -p h; printf '#!/bin/sh\\ncd ..; LINE\\n' > h/pre-commit; chmod +x h/pre-commit; git init -q r; git -C r -c core.hooksPath=$PWD/h -c user.name=a -c user.email=b commit -q --allow-empty -m x",
  ],
  ['git ext', "git -c protocol.ext.allow=always ls-remote 'ext::LINE'"],
  ['git bisect-like', "git -c alias.y='!f() { LINE; }; f' y"],
  ['vim', "vim -es -c '!LINE' -c q"],
  ['ed', "echo '!LINE' | ed"],
  ['python -c', 'python3 -c "import os; os.system(\'LINE\')"'],
  ['python subprocess', 'python3 -c "import subprocess; subprocess.run(\'LINE\', shell=True)"'],
  ['python pty', "python3 -c \"import pty; pty.spawn(['/bin/sh','-c','LINE'])\""],
  ['perl -e', 'perl -e \'system("LINE")\''],
  ['perl backtick', "perl -e '`LINE`'"],
  ['perl open', 'perl -e \'open(F, "LINE |"); <F>\''],
  ['perl exec', 'perl -e \'exec("LINE")\''],
  ['node', 'node -e \'require("child_process").execSync("LINE")\''],
  ['ruby', 'ruby -e \'system("LINE")\''],
  ['ruby backtick', "ruby -e '`LINE`'"],
  ['lua', 'lua -e \'os.execute("LINE")\''],
  ['php', 'php -r \'system("LINE");\''],
  ['tclsh', "echo 'exec LINE' | tclsh"],
  ['expect', "expect -c 'spawn LINE; expect eof'"],
  ['bc of a pipe', "echo 'LINE' > l.sh; sh l.sh"],
  ['dash trap', 'dash -c \'trap "LINE" EXIT\''],
  ['bash trap', 'bash -c \'trap "LINE" EXIT\''],
  ['bash DEBUG', 'bash -c \'trap "LINE" DEBUG; :\''],
  ['BASH_ENV', "echo 'LINE' > e.sh; BASH_ENV=e.sh bash -c :"],
  ['ENV', "echo 'LINE' > e.sh; ENV=./e.sh sh -i -c : 2>/dev/null"],
  ['bash arithmetic', "v='a[$(LINE)]'; bash -c '[[ $0 -eq 1 ]]' \"$v\""],
  ['bash ${!v}', "v='a[$(LINE)]'; bash -c 'echo ${!0}' \"$v\""],
  ['bash @P', "v='$(LINE)'; bash -c 'echo ${0@P}' \"$v\""],
  ['bash mapfile', 'echo x | bash -c \'mapfile -C "LINE;:" -c 1\''],
  ['bash coproc', "bash -c 'coproc LINE; wait'"],
  ['bash exported function', 'f() { LINE; }; export -f f; bash -c f'],
  ['zgrep', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; : > l.gz; GREP=./z zgrep x l.gz"],
  ['rsync -e', 'rsync -e \'sh -c "LINE"\' x:y z'],
  ['ssh ProxyCommand', "ssh -o ProxyCommand='LINE' x"],
  ['gdb', "gdb -batch -ex 'shell LINE'"],
  ['parallel', "parallel ::: 'LINE'"],
  ['run-parts', "mkdir -p rp; printf '#!/bin/sh\\nLINE\\n' > rp/x; chmod +x rp/x; run-parts rp"],
  [
    'npm script',
    'mkdir -p np; echo \'{"name":"x","scripts":{"x":"cd ..; LINE"}}\' > np/package.json; (cd np && npm run -s x)',
  ],
  ['m4', "echo 'syscmd(LINE)' | m4"],
  ['dc', "echo '!LINE' | dc"],
  ['cmake', 'echo \'execute_process(COMMAND sh -c "LINE")\' > c.cmake; cmake -P c.cmake'],
  ['gcc wrapper', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; echo 'int main;' > c.c; gcc -wrapper ./z -c c.c"],
  ['env -i', 'env -i PATH=$PATH LINE'],
  ['env of a folder', 'env -C . LINE'],
  ['setarch', 'setarch -v LINE || setarch "$(uname -m)" LINE'],
  ['ionice', 'ionice -c 3 LINE'],
  ['chrt', 'chrt -o 0 LINE'],
  ['taskset', 'taskset -c 0 LINE'],
  ['prlimit', 'prlimit LINE'],
  ['capsh', "capsh -- -c 'LINE'"],
  ['dbus-run-session', 'dbus-run-session -- LINE'],
  ['fakeroot', 'fakeroot LINE'],
  ['flock -c', "flock lock -c 'LINE'"],
  ['timeout of a shell', "timeout 9 sh -c 'LINE'"],
  ['xargs of a shell', "echo 'LINE' | xargs -I{} sh -c '{}'"],
  ['xargs -P', 'echo MARK | xargs -P 2 -n 1 touch'],
  ['find -exec of a shell', "find . -maxdepth 0 -exec sh -c 'LINE' ';'"],
  ['find -ok', "echo y | find . -maxdepth 0 -ok LINE ';'"],
  ['tar --to-command', "tar cf x.tar starts; tar xf x.tar --to-command='LINE'"],
  ['zip -TT', "zip -q x.zip starts -T -TT 'sh -c LINE #'; zip -q y.zip starts -T -TT 'LINE #'"],
  [
    'git external diff',
    "git diff --no-index --ext-diff /etc/passwd /etc/group; GIT_EXTERNAL_DIFF='LINE #' git diff --ext-diff --no-index /etc/passwd /etc/group",
  ],
  ['git difftool', "git difftool --no-index -y -x 'LINE #' /etc/passwd /etc/group"],
  [
    'git submodule foreach',
    "git init -q s; git -C s -c user.name=a -c user.email=b commit -q --allow-empty -m x; git init -q t; (cd t; git -c protocol.file.allow=always submodule add -q ../s u; git submodule foreach -q 'cd ../..; LINE')",
  ],
  [
    'git rebase --exec',
    "git init -q e; (cd e; for i in 1 2; do git -c user.name=a -c user.email=b commit -q --allow-empty -m $i; done; git -c user.name=a -c user.email=b rebase -q --exec 'cd ..; LINE' HEAD~1)",
  ],
  [
    'git filter-branch',
    "git init -q f; (cd f; git -c user.name=a -c user.email=b commit -q --allow-empty -m 1; FILTER_BRANCH_SQUELCH_WARNING=1 git filter-branch -f --msg-filter 'cd ../../..; LINE; cat' HEAD)",
  ],
  [
    'git textconv',
    "git init -q c; (cd c; echo '* diff=x' > .gitattributes; echo a > a; git add .; git -c diff.x.textconv='cd ..; LINE; cat #' diff --cached)",
  ],
  [
    'git clean filter',
    "git init -q d; (cd d; echo '* filter=x' > .gitattributes; echo a > a; git -c filter.x.clean='(cd ..; LINE); cat' add a)",
  ],
  ['git fsmonitor', "git init -q m; git -C m -c core.fsmonitor='cd ..; LINE #' status"],
  ['git credential helper', "echo url=https://x.invalid | git -c credential.helper='!LINE;:' credential fill"],
  ['git ssh command', "GIT_SSH_COMMAND='LINE #' git ls-remote ssh://x.invalid/y"],
  [
    'git proxy command',
    "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; git -c core.gitproxy=$PWD/z ls-remote git://x.invalid/y",
  ],
  ['git grep -O', "git init -q o; (cd o; echo x > x; git add x; git grep -O'cd ..; LINE #' x)"],
  [
    'git sequence editor',
    "git init -q q; (cd q; for i in 1 2; do git -c user.name=a -c user.email=b commit -q --allow-empty -m $i; done; GIT_SEQUENCE_EDITOR='cd ..; LINE #' git rebase -i HEAD~1)",
  ],
  [
    'git commit editor',
    "git init -q j; (cd j; GIT_EDITOR='cd ..; LINE #' git -c user.name=a -c user.email=b commit --allow-empty)",
  ],
  [
    'git of another folder',
    "mkdir gx; printf '#!/bin/sh\\nLINE\\n' > gx/git-zz; chmod +x gx/git-zz; PATH=$PWD/gx:$PATH git zz",
  ],
  [
    'git exec path',
    "mkdir gy; printf '#!/bin/sh\\nLINE\\n' > gy/git-zz; chmod +x gy/git-zz; git --exec-path=$PWD/gy zz",
  ],
  [
    'ssh LocalCommand of a match',
    'ssh -F /dev/null -o \'Match exec "LINE"\' x; printf \'Match exec "LINE"\\n\' > sc; ssh -F sc -G x',
  ],
  ['wget askpass', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; wget -q --use-askpass=$PWD/z http://127.0.0.1:9/"],
  ['sqlite3', "sqlite3 :memory: '.shell LINE'"],
  ['sqlite3 system', "sqlite3 :memory: '.system LINE'"],
  ['gdb python', 'gdb -batch -ex \'python import os; os.system("LINE")\''],
  ['gdb make', "gdb -batch -ex '!LINE'"],
  ['vi', "vi -es -c '!LINE' -c q"],
  ['ex of input', "printf '!LINE\\nq\\n' | ex -s"],
  ['vim system', 'vim -es -c \'call system("LINE")\' -c q'],
  ['vim modeline-like script', "echo 'silent !LINE' > s.vim; vim -es -S s.vim -c q"],
  ['ed r', "printf 'r !LINE\\nq\\n' | ed -s"],
  ['pydoc', "python3 -c \"import pydoc; pydoc.pipepager('x', 'LINE')\""],
  ['troff .sy', "echo '.sy LINE' | groff -U -Tascii"],
  ['groff pre', "echo x | groff -P x -Tascii; echo '.pso LINE' | groff -U -Tascii"],
  ['tclsh open', 'echo \'close [open "|LINE"]\' | tclsh'],
  [
    'java',
    'printf \'class A{public static void main(String[] a)throws Exception{new ProcessBuilder("sh","-c","LINE").start().waitFor();}}\' > A.java; java A.java',
  ],
  ['gcc', 'printf \'#include <stdlib.h>\\nint main(){return system("LINE");}\' > p.c; gcc -o pc p.c && ./pc'],
  ['g++', 'printf \'#include <cstdlib>\\nint main(){return system("LINE");}\' > p.cc; g++ -o pcc p.cc && ./pcc'],
  [
    'gcc -B',
    "mkdir gb; printf '#!/bin/sh\\nLINE\\n' > gb/as; chmod +x gb/as; echo 'int x;' > c.c; gcc -B$PWD/gb -c c.c",
  ],
  ['ninja', "printf 'rule r\\n command = LINE\\nbuild x: r\\ndefault x\\n' > build.ninja; ninja"],
  [
    'cmake custom command',
    'printf \'cmake_minimum_required(VERSION 3.5)\\nproject(x NONE)\\nexecute_process(COMMAND sh -c "cd $PWD; LINE")\\n\' > CMakeLists.txt; cmake -S . -B cm',
  ],
  ['make SHELL', "printf '#!/bin/sh\\nLINE\\n' > z; chmod +x z; printf 'a:\\n\\tx\\n' | make -sf - SHELL=$PWD/z"],
  ['make $(shell)', "printf 'x := $(shell LINE)\\na:;\\n' | make -sf -"],
  ['make include', "printf 'include y\\na:;\\ny:;LINE\\n' | make -sf -"],
  ['perl execvp', 'perl -MPOSIX -e \'exec {"touch"} "ls", "MARK"\''],
  ['perl s///ee', 'echo x | perl -pe \'s/x/system("LINE")/ee\''],
  ['perl of a file', 'echo \'system("LINE")\' > x.pl; perl x.pl'],
  ['python exec', "python3 -c \"import os; os.execvp('touch', ['ls', 'MARK'])\""],
  [
    'python posix_spawn',
    "python3 -c \"import os; os.waitpid(os.posix_spawnp('touch', ['touch', 'MARK'], os.environ), 0)\"",
  ],
  ['python popen', 'python3 -c "import os; os.popen(\'LINE\').read()"'],
  ['python ctypes', 'python3 -c "import ctypes; ctypes.CDLL(None).system(b\'LINE\')"'],
  ['python asyncio', 'python3 -c "import asyncio; asyncio.run((lambda: asyncio.create_subprocess_shell(\'LINE\'))())"'],
  ['python of a file', 'echo \'import os; os.system("LINE")\' > x.py; python3 x.py'],
  ['python -m timeit', 'python3 -m timeit -n 1 -r 1 \'import os; os.system("LINE")\''],
  ['python setup.py', 'echo \'import os; os.system("LINE")\' > setup.py; python3 setup.py --version'],
  ['sitecustomize', 'echo \'import os; os.system("LINE")\' > sitecustomize.py; PYTHONPATH=. python3 -c 1'],
  ['PERL5OPT', "printf 'package X; system(\"LINE\"); 1' > X.pm; PERL5OPT='-I. -MX' perl -e 1"],
  ['NODE_OPTIONS', 'echo \'require("child_process").execSync("LINE")\' > x.js; NODE_OPTIONS="-r ./x.js" node -e 0'],
  ['node spawn', 'node -e \'require("child_process").spawnSync("touch", ["MARK"])\''],
  ['node execFile', 'node -e \'require("child_process").execFileSync("sh", ["-c", "LINE"])\''],
  [
    'node worker',
    'node -e \'new (require("worker_threads").Worker)("require(\\"child_process\\").execSync(\\"LINE\\")", {eval: true})\'',
  ],
  [
    'dpkg hook',
    "dpkg --root=$PWD --force-not-root --status-logger='LINE #' --version; dpkg --admindir=$PWD --status-logger='LINE' --configure -a",
  ],
]

/** The program in ways that need no shell. */
const FILES: readonly (readonly [string, string])[] = [
  ['a copy', 'cp /usr/bin/touch c1; ./c1 MARK'],
  ['a copy by cat', 'cat /usr/bin/touch > c2; chmod +x c2; ./c2 MARK'],
  ['a copy with more behind it', 'cp /usr/bin/touch c3; echo more >> c3; ./c3 MARK'],
  ['a copy called as another program', 'cp /usr/bin/touch ls; ./ls MARK'],
  ['a copy in /tmp', 'cp /usr/bin/touch /tmp/c4; /tmp/c4 MARK'],
  ['a copy with mode 111', 'cp /usr/bin/touch c5; chmod 111 c5; ./c5 MARK'],
  ['a link', 'ln -s /usr/bin/touch l1; ./l1 MARK'],
  ['a link to a link', 'ln -s l1 l2; ln -s /usr/bin/touch l1 2>/dev/null; ./l2 MARK'],
  ['a hard link to a copy', 'cp /usr/bin/touch c6; ln c6 l3; ./l3 MARK'],
  ['another name', 'bash -c \'exec -a ls /usr/bin/t""ouch MARK\''],
  ['an empty name', 'bash -c \'exec -a "" /usr/bin/t""ouch MARK\''],
  ['a login name', 'bash -c \'exec -l /usr/bin/t""ouch MARK\''],
  ['the loader', '/lib64/ld-linux-x86-64.so.2 /usr/bin/touch MARK || /lib/ld-linux-aarch64.so.1 /usr/bin/touch MARK'],
  ['the loader with options', '/lib64/ld-linux-x86-64.so.2 --library-path /x /usr/bin/touch MARK'],
  ['a copy of the loader', 'cp /lib64/ld-linux-x86-64.so.2 ld1; ./ld1 /usr/bin/touch MARK'],
  ['a copy of both', 'cp /lib64/ld-linux-x86-64.so.2 ld2; cp /usr/bin/touch c7; ./ld2 ./c7 MARK'],
  ['an interpreter line', "printf '#!/usr/bin/touch\\n' > MARK-s; chmod +x MARK-s; ./MARK-s MARK"],
  ['an interpreter line with env', "printf '#!/usr/bin/env touch\\n' > s2; chmod +x s2; ./s2 MARK"],
  ['an interpreter line with env -S', "printf '#!/usr/bin/env -S touch --\\n' > s3; chmod +x s3; ./s3 MARK"],
  [
    'a chain of interpreter lines',
    "printf '#!/usr/bin/touch\\n' > s4; printf '#!%s/s4\\n' $PWD > s5; chmod +x s4 s5; ./s5 MARK",
  ],
  ['a relative interpreter', "ln -s /usr/bin/touch t2; printf '#!t2\\n' > s6; chmod +x s6; ./s6 MARK"],
  ['busybox', 'busybox touch MARK'],
  ['a copy of busybox', 'cp "$(command -v busybox)" b1 && ./b1 touch MARK'],
  ['a link of busybox', 'ln -s "$(command -v busybox)" touch2; bash -c "exec -a touch ./touch2 MARK"'],
  ['a folder before PATH', 'mkdir -p bin; cp /usr/bin/touch bin/x1; PATH=$PWD/bin:$PATH x1 MARK'],
  ['by a path with dots', '/usr/../usr/./bin/touch MARK'],
  ['by a path of the root', '/proc/self/root/usr/bin/touch MARK'],
  ['by a path of the working directory', 'cd /usr/bin && ./touch "$OLDPWD/MARK"'],
]

const named = (words: string, text: (name: string) => string): Way[] =>
  words.split(' ').map((name) => way(`starts ${name}`, (mark) => text(name).replaceAll('MARK', mark)))

/** Every way, each once. The names are split so that no rule about the text finds them. */
export const WAYS: readonly Way[] = [
  ...named(HELPER, (name) => `./starts ${name} 1 /usr/bin/touch MARK`),
  ...named(RACES, (name) => `./starts ${name} 40 /usr/bin/touch MARK`),
  ...SHELLS.map((shell) => way(`${shell} -c`, (mark) => `${shell} -c 'touch ${mark}'`)),
  ...SHELLS.map((shell) => way(`${shell} of input`, (mark) => `echo 'touch ${mark}' | ${shell}`)),
  ...SHELLS.map((shell) => way(`${shell} of a file`, (mark) => `echo 'touch ${mark}' > f.sh; ${shell} f.sh`)),
  ...GIVEN.map(([note, text]) =>
    way(note, (mark) => text.replaceAll('LINE', `touch ${mark}`).replaceAll('MARK', mark)),
  ),
  ...GIVEN.slice(0, 9).map(([note, text]) =>
    way(`${note}, twice`, (mark) => text.replaceAll('LINE', `env nice touch ${mark}`).replaceAll('MARK', mark)),
  ),
  ...FILES.map(([note, text]) => way(note, (mark) => text.replaceAll('MARK', mark))),
]
