/** Programs that read, search and reshape text. */

import { fileRules } from '../rules/files.ts'
import { systemRules } from '../rules/system.ts'
import { textRules } from '../rules/text.ts'
import type { Program, ProgramTable } from '../spec.ts'

export function textPrograms(): ProgramTable {
  const yqOptions = `
  -i --inplace -I --in-place [text]
  --from-file <read>
  -s --split-exp <output>
  -o --output-format -p --input-format <text>
  --arg --argjson (text)`
  const compressed = { operands: 'read*' }

  const echoKind: Program = {
    operands: 'text*',
    calm: true,
  }
  const printenvKind: Program = { operands: 'text*' }
  const grepKind: Program = {
    options: `
  -e --regexp -A --after-context -B --before-context -C --context -m --max-count -d --directories -D --devices <text>
  --include --exclude --exclude-dir --label --binary-files --group-separator <text>
  --color --colour [text]
  -f --file --exclude-from <read>`,
    operands: 'text read*',
    operandsWith: { '-e -f': 'read*' },
  }
  const moreKind: Program = {
    options: '\n  + <text>\n  -n --lines <text>',
    operands: 'read*',
    wary: true,
  }

  return {
    'echo seq sleep expr true false : yes basename dirname tr nproc uname whoami id groups pwd exit return': echoKind,
    printf: { ...echoKind, rules: [textRules] },
    'test [ [[ which whereis type getconf locale tput clear reset tty factor numfmt cal uptime users who w': {
      operands: 'text*',
    },
    'printenv export set unset shift break continue wait fg bg cd pushd popd dirs umask ulimit alias unalias declare local readonly typeset read mapfile readarray let getopts trap times shopt enable':
      printenvKind,
    jobs: {
      ...printenvKind,
      wraps: [
        {
          options: `
  -l -n -p -r -s -x`,
          needs: '-x',
          builtins: true,
          run: 'words',
        },
      ],
    },
    kill: { ...printenvKind, rules: [systemRules] },
    'rev md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum sum md5 tsort': { operands: 'read*', calm: true },
    'shasum cksum': { options: '\n  -a --algorithm <text>', operands: 'read*', calm: true },
    nl: {
      options: '\n  -b -d -f -h -i -l -n -s -v -w --body-numbering --number-format <text>',
      operands: 'read*',
      calm: true,
    },
    strings: { options: '\n  -n --bytes -t --radix -e --encoding <text>', operands: 'read*', calm: true },
    'cat tac': { operands: 'read*', calm: true },
    head: { options: '\n  -n --lines -c --bytes <text>', operands: 'read*', calm: true },
    tail: { options: '\n  -n --lines -c --bytes -s --sleep-interval --pid <text>', operands: 'read*', calm: true },
    wc: { options: '\n  --files0-from <list>\n  --total <text>', operands: 'meta*', calm: true },
    cut: {
      options: '\n  -d --delimiter -f --fields -c --characters -b --bytes --output-delimiter <text>',
      operands: 'read*',
      calm: true,
    },
    'paste comm': { options: '\n  -d --delimiters --output-delimiter <text>', operands: 'read*', calm: true },
    'fold fmt': { options: '\n  -w --width -g --goal -p --prefix <text>', operands: 'read*', calm: true },
    'expand unexpand': { options: '\n  -t --tabs <text>', operands: 'read*', calm: true },
    join: { options: '\n  -1 -2 -j -o -t -e -a -v <text>', operands: 'read*', calm: true },
    pr: { options: '\n  -h --header -l --length -w --width -o --indent -D <text>', operands: 'read*', calm: true },
    look: { operands: 'text read' },
    column: {
      options: '\n  -s -o -c -N -R -H -O -T -E --table-columns --separator --output-separator <text>',
      operands: 'read*',
    },
    'od hexdump hd': {
      options: '\n  -A -j -N -t -S -s -n -e <text>\n  -w [text]\n  -f <read>',
      operands: 'read*',
      calm: true,
    },
    xxd: { options: '\n  -c -g -l -s -o -n <text>', operands: 'read output' },
    iconv: { options: '\n  -f -t --from-code --to-code <text>\n  -o --output <output>', operands: 'read*' },
    'base64 base32 basenc': {
      options: '\n  -w --wrap -b <text>\n  -o --output <output>',
      operands: 'read*',
      calm: true,
    },
    'diff colordiff cmp diff3': {
      options: `
  -U -C -x --exclude -I --ignore-matching-lines -F --show-function-line --label -L -W --width --tabsize <text>
  --horizon-lines -D --ifdef --line-format --old-line-format --new-line-format --old-group-format <text>
  --diff-program --difftool <run>
  --to-file --from-file -X --exclude-from -S --starting-file <read>
  --color --palette --unified --context [text]`,
      operands: 'tree*',
      calm: true,
    },
    sdiff: { options: '\n  -o --output <output>\n  --diff-program <run>\n  -w -I <text>', operands: 'read*' },
    'delta difft diff-so-fancy': {
      options: '\n  --pager <run>\n  --config <config>\n  --features --syntax-theme --width --paging <text>',
      operands: 'read*',
    },
    sort: {
      options: `
  -o --output <output>
  --compress-program <run>
  -T --temporary-directory <write>
  --files0-from <list>
  --random-source <read>
  -k --key -t --field-separator -S --buffer-size --parallel --batch-size --sort <text>
  --check [text]`,
      operands: 'read*',
    },
    'last lastb lastlog utmpdump': { options: '\n  -f --file <read>\n  -n -t -s -p <text>', operands: 'text*' },
    hash: {
      effects: `
  destructive  | * | -p | gives another program this name`,
      operands: 'text*',
    },
    uniq: {
      rules: [textRules],
      options: '\n  -f --skip-fields -s --skip-chars -w --check-chars <text>\n  --group -D --all-repeated [text]',
      operands: 'read output',
    },
    shuf: {
      options: '\n  -o --output <output>\n  --random-source <read>\n  -n --head-count -i --input-range <text>',
      operands: 'auto*',
    },
    split: {
      options: `
  --filter <run> # gives every piece to a command
  -b --bytes -l --lines -n --number -a --suffix-length -C --line-bytes -t --separator --additional-suffix <text>
  -d -x --numeric-suffixes --hex-suffixes [text]`,
      operands: 'read write',
    },
    csplit: { options: '\n  -f --prefix <write>\n  -b --suffix-format -n --digits <text>', operands: 'read text*' },
    tee: { options: '\n  -p --output-error [text]', operands: 'write*' },
    'grep egrep fgrep zgrep': { ...grepKind, rules: [textRules] },
    'zegrep zfgrep bzgrep xzgrep pcregrep pcre2grep': grepKind,
    'ugrep ug ugrep+ ug+': {
      abbreviates: false,
      options: `
  --filter <run> # runs programs on the files
  --pager --view [run]
  --config [config]
  --save-config [output]
  -f --file --include-from --exclude-from --from <read>
  -e --regexp -g --glob --iglob -t --file-type -O --file-extension -A --after-context -B --before-context -C --context <text>
  -m --max-count -K --range --include --exclude --include-dir --exclude-dir --format --replace --sort --encoding --colors <text>
  -z --decompress`,
      operands: 'text tree*',
      operandsWith: { '-e -f': 'tree*' },
    },
    mlr: {
      rules: [textRules],
      abbreviates: false,
      options: `
  --prepipe --prepipex <run>
  --load --mload <load>
  --from --mfrom -n --nr-progress-mod --ifs --ofs --fs --ips --ops --ps --irs --ors --rs --c2p --ofmt <auto>
  -s <config>
  -I`,
      operands: 'auto*',
      calm: true,
    },
    dasel: {
      options:
        '\n  -f --file <auto>\n  -o --out --output <write>\n  -r --read -w --write -t --type -v --value -s --selector <text>',
      everywhere: true,
      subcommands: {
        put: { options: '\n  -f --file <change>', operands: 'text*' },
        delete: { options: '\n  -f --file <change>', operands: 'text*' },
      },
      operands: 'text*',
    },
    rg: {
      rules: [textRules],
      abbreviates: false,
      options: `
  --pre <run> # runs a program on every file
  -z --search-zip !run # runs decompression programs
  --hostname-bin <run>
  -f --file --ignore-file <read>
  -e --regexp -g --glob --iglob -t --type -T --type-not --type-add --type-clear -A --after-context -B --before-context <text>
  -C --context -m --max-count -M --max-columns -j --threads -r --replace -d --max-depth --maxdepth --sort --sortr <text>
  --color --colors --context-separator -E --encoding --engine --max-filesize --path-separator --regex-size-limit <text>
  --dfa-size-limit --pre-glob --field-context-separator --field-match-separator --hyperlink-format --generate <text>`,
      operands: 'text tree*',
      operandsWith: { '-e -f --files --type-list': 'tree*' },
    },
    ag: {
      rules: [textRules],
      abbreviates: false,
      options: `
  --pager <run>
  -p --path-to-ignore <read>
  -A --after -B --before -C --context -G --file-search-regex -m --max-count --ignore --ignore-dir --depth --workers <text>
  --color-match --color-path --color-line-number -W --width <text>`,
      operands: 'text tree*',
    },
    'ack ack-grep': {
      options: `
  --pager <run>
  --ackrc <config>
  --output <code>
  --files-from <list>
  -A -B -C -m -g --ignore-dir --ignore-directory --ignore-file --type --type-set --type-add --match <text>`,
      operands: 'text tree*',
    },
    'fd fdfind': {
      rules: [fileRules],
      wraps: [{ input: 'replace', inspect: true, run: 'exec' }],
      abbreviates: false,
      options: `
  -x --exec -X --exec-batch {text}
  --ignore-file <read>
  -e --extension -E --exclude -t --type -d --max-depth --min-depth --exact-depth -j --threads -c --color -S --size <text>
  --changed-within --changed-before -o --owner --format --max-results --path-separator --strip-cwd-prefix --batch-size <text>
  --base-directory -C --search-path <tree>`,
      operands: 'text tree*',
    },
    find: {
      wraps: [{ input: 'replace', inspect: true, run: 'exec' }],
      rules: [fileRules],
      style: 'word',
      options: `
  -exec -execdir -ok -okdir {text}
  -delete !output # deletes every file it finds
  -fprint -fprint0 -fls <output>
  -fprintf <output>
  -files0-from <list>
  -name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -printf <text>
  -mtime -atime -ctime -mmin -amin -cmin -perm -user -group -uid -gid -maxdepth -mindepth -regextype -links -inum <text>
  -fstype -used -context -newermt -newerat -newerct -D <text>
  -Bmin -Btime -flags -xattrname -asince -csince -msince -newerBt <text>
  -newer -anewer -cnewer -samefile -Bnewer -mnewer -newerBB -newerBm -newermB -newermm <meta>
  -f <tree> # a path of BSD's find`,
      operands: 'tree*',
    },
    'locate mlocate plocate': { options: '\n  -d --database <config>\n  -l --limit <text>', operands: 'text*' },
    sed: {
      rules: [textRules],
      abbreviates: true,
      options: `
  -e --expression <text>
  -f --file <load> # runs a script from a file
  -i --in-place [text]
  -l --line-length <text>
  -n --quiet --silent
  -s --separate
  -E -r --regexp-extended`,
      operands: 'text read*',
      operandsWith: { '-e -f': 'read*' },
      wary: true,
    },
    'awk gawk mawk nawk original-awk': {
      rules: [textRules],
      options: `
  -f --file <load> # runs a program from a file
  -l --load <load>
  -i --include <load>
  -E --exec <load>
  -e --source <text>
  -o --pretty-print -p --profile -d --dump-variables [output]
  -D --debug [run]
  -W <run> # passes its own options, which can load a program
  -F --field-separator -v --assign <text>`,
      operands: 'text auto*',
      operandsWith: { '-f -e -E': 'auto*' },
      wary: true,
    },
    jq: {
      abbreviates: false,
      options: `
  -f --from-file <read>
  -L --library-path <read>
  --slurpfile --rawfile --argfile (read)
  --arg --argjson (text)
  --indent <text>`,
      operands: 'text read*',
      operandsWith: { '-f': 'read*' },
    },
    'gojq jaq fx': {
      options: '\n  -f --from-file --file <read>\n  --arg --argjson (text)',
      operands: 'text read*',
    },
    yq: {
      rules: [textRules],
      abbreviates: false,
      options: yqOptions,
      operands: 'text read*',
      operandsWith: { '-i': 'text write*' },
      // `yq eval '.key' a.yml`, with the options of every yq.
      subcommands: Object.fromEntries(
        ['e', 'eval', 'ea', 'eval-all'].map((name) => [
          name,
          { options: yqOptions, operands: 'text read*', operandsWith: { '-i': 'text write*' } },
        ]),
      ),
    },
    'xmllint xmlstarlet': {
      options:
        '\n  -o --output <output>\n  --xpath --encode --pattern <text>\n  --shell !run\n  --schema --relaxng --dtdvalid <read>',
      operands: 'auto*',
    },
    xsltproc: {
      options: '\n  -o --output <output>\n  --writesubtree <output>\n  --param --stringparam (text)',
      operands: 'read*',
    },
    less: {
      rules: [textRules],
      options: `
  -k --lesskey-file --lesskey-src <config>
  --lesskey-content <code>
  -o -O --log-file --LOG-FILE <output>
  -T --tag-file <read>
  -p --pattern -P --prompt -t --tag -b --buffers -h -j -x -y -z -D --color <text>
  + <text>`,
      operands: 'read*',
      wary: true,
    },
    'more most pg zless zmore': { ...moreKind, rules: [textRules] },
    'bzless xzless': moreKind,
    'bat batcat': {
      abbreviates: false,
      options: `
  --pager <run>
  --config-file <config>
  -l --language -r --line-range -H --highlight-line --theme --style --color --tabs --wrap -m --map-syntax --paging <text>
  --terminal-width --decorations --italic-text --file-name <text>
  --diagnostic`,
      operands: 'read*',
    },
    man: {
      options: `
  -P --pager <run>
  -H --html -X --gxditview -Z [run]
  -C --config-file <config>
  -M --manpath <load>
  -p --preprocessor <run>
  -E --encoding -L --locale -m --systems -S -s --sections -e --extension -R --recode -r --prompt <text>
  -T --troff-device --warnings [text]
  -l --local-file`,
      operands: 'auto*',
      operandsWith: { '-l': 'read*' },
    },
    'info apropos whatis tldr': {
      options: '\n  -o --output <output>\n  -C --config-file --init-file <config>',
      operands: 'text*',
    },
    file: {
      options: `
  -f --files-from <list>
  -m --magic-file <config>
  -C --compile !output # writes a compiled magic file
  -z --uncompress !run # runs decompression programs
  -Z --uncompress-noreport !run # runs decompression programs
  -S --no-sandbox !skip
  -F --separator -e --exclude -P --parameter <text>`,
      operands: 'read*',
    },
    date: {
      rules: [textRules],
      options: `
  -f --file <list>
  -s --set <system> # sets the clock
  -r --reference <meta>
  -d --date -v <text>
  -I --iso-8601 --rfc-3339 [text]
  + <text>`,
      operands: 'text*',
    },
    hostname: {
      rules: [textRules],
      options: '\n  -F --file <system> # sets the name of the machine\n  -b !system',
      operands: 'text*',
    },
    'ls dir vdir': {
      options: `
  -I --ignore --hide -w --width -T --tabsize --block-size --time-style <text>
  --color --format --time --sort --indicator-style --hyperlink [text]`,
      operands: 'meta*',
    },
    'exa eza lsd': {
      options:
        '\n  -I --ignore-glob -L --level -s --sort -t --time --time-style --depth <text>\n  --color --icons [text]',
      operands: 'meta*',
    },
    tree: {
      options:
        '\n  -o <output>\n  -L -P -I -H -T --filelimit --charset --timefmt --sort <text>\n  --fromfile --fromtabfile !list\n  --gitfile --infofile <read>',
      operands: 'meta*',
    },
    'stat readlink realpath namei lsattr getfacl': {
      options: '\n  -c --format --printf --relative-to --relative-base <text>',
      operands: 'meta*',
    },
    df: { options: '\n  -t --type -x --exclude-type -B --block-size <text>\n  --output [text]', operands: 'text*' },
    'du ncdu': {
      calm: true,
      options:
        '\n  --files0-from <list>\n  -X --exclude-from <read>\n  -d --max-depth -B --block-size -t --threshold --exclude --type --time-style <text>\n  --time --output [text]',
      operands: 'meta*',
    },
    'zcat bzcat xzcat zstdcat lzcat gzcat zdiff zcmp': compressed,
    dmesg: {
      operands: 'text*',
      options: '\n  -C --clear -c --read-clear -D --console-off !system\n  -F --file <read>',
    },
    'top htop nvidia-smi': { operands: 'text*' },
    'ps pgrep pidof pstree free lscpu lsblk lsof netstat vmstat iostat': { operands: 'text*' },
    ss: {
      options: '\n  -F --filter <read>\n  -D --diag <output>\n  -K --kill !system\n  -f -A -N <text>',
      operands: 'text*',
    },
    'ctags etags universal-ctags': {
      options:
        '\n  --_xtool --_interactive <run>\n  --options --options-maybe <config>\n  -L <list>\n  -o -f <write>\n  --exclude --languages --fields --extras --kinds <text>',
      operands: 'read*',
    },
    cscope: { options: '\n  -i <list>\n  -f -P <write>\n  -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 <text>' },
    'tokei cloc scc loc': {
      options:
        '\n  --list-file <list>\n  --config <config>\n  --extract-with <run>\n  --diff-alignment --out --report-file --sql <output>\n  --exclude-dir --include-lang --exclude-ext -e -t --output -s --sort -f --format <text>',
      operands: 'tree*',
    },
  }
}
