/** Ways to start a program, as lines of a script: `mark` is what its only word is, a file that it makes. */

/** `line` starts /usr/bin/touch with one word; what it needs decides by itself whether the control works. */
export interface Way {
  readonly note: string
  readonly line: (mark: string) => string
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
  ['git pager', "git -c core.pager='LINE' -p --version"],
  ['git editor', "GIT_EDITOR='LINE;:' git var GIT_EDITOR | sh"],
  [
    'git hook',
    "mkdir -p h; printf '#!/bin/sh\\nLINE\\n' > h/pre-commit; chmod +x h/pre-commit; git init -q r; git -C r -c core.hooksPath=$PWD/h -c user.name=a -c user.email=b commit -q --allow-empty -m x",
  ],
  ['git ext', "git -c protocol.ext.allow=always ls-remote 'ext::LINE'"],
  ['git bisect-like', "git -c alias.y='!f() { LINE; }; f' y"],
  ['less', "LESSOPEN='|LINE' less /etc/passwd < /dev/null > /dev/null"],
  ['man pager', "PAGER='LINE' man ls"],
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
  ['rsync -e', "rsync -e 'sh -c LINE' x:y z"],
  ['ssh ProxyCommand', "ssh -o ProxyCommand='LINE' x"],
  ['gdb', "gdb -batch -ex 'shell LINE'"],
  ['strace', 'strace -o /dev/null LINE'],
  ['watch', 'timeout 1 watch -t -x LINE'],
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
  ['debugedit of a specs', "printf '%s\\n' '*cc1:' '%(x)' > /dev/null; sh -c 'LINE'"],
  ['openssl engine', "sh -c 'exec LINE'"],
]

/** The program in ways that need no shell of their own. */
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
