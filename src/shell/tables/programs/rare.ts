/** Less common programs that are known ways to run commands, read or write files. */

import type { Program, ProgramTable, Spec } from '../spec.ts'
import { controls, traced } from '../wrap.ts'

export function rarePrograms(): ProgramTable {
  const runs: Spec = { always: ['run', 'can run other programs'], operands: 'auto*' }
  const code: Spec = { always: ['code', 'runs code'], operands: 'auto*' }
  const reads: Spec = { operands: 'read*' }

  const wslKind: Program = runs

  return {
    'bpftrace byebug gimp ginsh slsh sqlmap msfconsole crash scanmem debugfs dosbox cpan perlbug easy_install tasksh volatility jtag octave-cli-run gtester':
      code,
    'wsl genie openvt pexec run-parts run-mailcap start-stop-daemon tmate multitime grc distcc knife cdist redcarpet varnishncsa minicom rtorrent ksshell runscript w3m lynx links elinks mutt-run neofetch fastfetch screenfetch bconsole posh sash virsh':
      wslKind,
    logsave: {
      ...wslKind,
      wraps: [
        {
          options: `
  -a`,
          operands: 1,
          hazard: traced('this wrapper'),
          run: 'words',
        },
      ],
    },
    choom: { ...wslKind, wraps: controls },
    'smbclient psftp hping3 finger socket mosquitto_pub mosquitto_sub snmpwalk lwp-request lwp-download': {
      always: ['route', 'opens a connection of its own'],
      operands: 'host auto*',
    },
    'dmsetup openvpn wg wg-quick ntpdate kpartx dmidecode fwupdmgr grub-install efibootmgr': {
      always: ['system', 'changes the machine'],
      operands: 'auto*',
    },
    'lp lpr': {
      always: ['send', 'sends files to a printer'],
      options: '\n  -d -P -h -o -n -t <text>',
      operands: 'read*',
    },
    'c89 c99 cobc': {
      operands: 'auto*',
      options: '\n  -o <write>\n  -x -j !run\n  -wrapper <run>\n  -specs -B <load>',
    },
    'cowsay cowthink': { options: '\n  -f <module>\n  -e -T -W <text>', operands: 'text*' },
    facter: { always: ['load', 'runs facts that it finds in many places'], operands: 'text*' },
    certbot: { always: ['system', 'changes certificates and runs hooks'], operands: 'text*' },
    'msgfilter msgexec': runs,
    'msgattrib msgcat msgconv msgmerge msguniq xgettext msgfmt': {
      options:
        '\n  -o --output-file --output <write>\n  -D --directory -f --files-from <read>\n  -P --properties-input',
      operands: 'read*',
    },
    'nroff troff groff eqn tbl pic soelim zsoelim grn refer': {
      options:
        '\n  -U --unsafe !run # lets the document run commands\n  -M -I -F <load>\n  -m -T -r -d -o -P -L <text>',
      operands: 'read*',
      wary: true,
    },
    'arj lha zoo unsquashfs mksquashfs genisoimage mkisofs xorriso': {
      always: ['output', 'packs or unpacks files wherever the archive says'],
      operands: 'auto*',
      wary: true,
      options: '\n  -d -dest -o -output <write>',
    },
    pax: {
      always: ['output', 'packs or unpacks files'],
      options: '\n  -f <auto>\n  -s -x -o -b -B -T <text>\n  -w -r',
      operands: 'auto*',
      wary: true,
    },
    'aspell ispell hunspell': {
      options: '\n  -c -a <auto>\n  --conf --personal -p -d <auto>\n  --filter <run>',
      operands: 'auto*',
    },
    'uuencode uudecode': { options: '\n  -o --output-file <output>', operands: 'read text' },
    'ul ptx tic infocmp': { options: '\n  -o <output>', operands: 'read*' },
    'enscript a2ps highlight pygmentize source-highlight': {
      options:
        '\n  -p -o --output <output>\n  -x -I --filter <run>\n  -c --config-file --data-dir <config>\n  -S -l -f -O --syntax <text>',
      operands: 'read*',
    },
    dvips: { options: '\n  -o <output>\n  -R0 !run\n  -P -p -l -t <text>', operands: 'read*', wary: true },
    'pidstat scrot': { options: '\n  -e --exec <run>\n  -d -p -t <text>', operands: 'auto*' },
    'iftop dstat': { options: '\n  -c <config>\n  --plugin <load>\n  -i -F -f <text>', operands: 'text*' },
    clamscan: {
      options: '\n  -f --file-list <list>\n  -l --log <output>\n  -d --database <config>\n  --copy --move <output>',
      operands: 'tree*',
    },
    'xdg-user-dir zathura yelp evince okular': {
      always: ['run', 'starts a program on the desktop'],
      operands: 'auto*',
    },
    csvtool: { operands: 'auto*', wary: true, always: ['run', 'can run a command for every row'] },
    'csvkit csvcut csvgrep csvsort csvsql xsv qsv': {
      options:
        '\n  -o --output <output>\n  --prepipe --prepipex <run>\n  -I !output # rewrites its operands\n  -d --delimiter -c -s -n -m -r <text>',
      operands: 'auto*',
    },
    'ab wrk hey siege vegeta k6': {
      options:
        '\n  -p -T -u --body --post-file -D <send>\n  -s --script --config <load>\n  -e -g -o --output <output>\n  -n -c -t -d -H -m -z -q <text>',
      operands: 'auto*',
    },
    hyperfine: {
      wraps: controls,
      always: ['run', 'runs the commands that it measures'],
      options:
        '\n  -p --prepare -s --setup -c --cleanup --conclude -S --shell <run>\n  --export-json --export-csv --export-markdown <write>\n  -w --warmup -r --runs -m -M -n -L --style <text>',
      operands: 'text*',
    },
    'sqldiff sqlite3_analyzer dbf2csv': reads,
  }
}
