/** Programs that few projects use: servers, monitors, readers, services. */

import type { Program, ProgramTable, Spec } from '../spec.ts'
import { controls, traced } from '../wrap.ts'

export function uncommonPrograms(): ProgramTable {
  const runs: Program = { always: ['run', 'can run any command'], operands: 'auto*' }
  const serves: Program = {
    always: ['run', 'takes a configuration that can run programs and read files'],
    operands: 'auto*',
  }
  const reads: Program = { options: '\n  -f --file -F -i --input <read>\n  -o --output <output>', operands: 'read*' }

  return {
    'dnsmasq nginx httpd apache2 apache2ctl apachectl lighttpd caddy haproxy mosquitto xinetd inetd named unbound':
      serves,
    'exim exim4 postfix dovecot smbd proftpd vsftpd varnishd squid stunnel supervisord supervisorctl': serves,
    'agetty getty mingetty login ksu sulogin kakoune rview vimtutor zile': runs,
    'check_by_ssh check_ssl_cert check_raid check_statusfile check_log check_memory check_cups': {
      ...runs,
      always: ['run', 'runs what its options name'],
    },
    'lxd lxc-execute lxc-attach tdbtool gcore qemu qemu-system-x86_64 inkscape': runs,
    'ansible-test ansible-connection molecule kitchen terratest vagrant-ssh dvtm ttyd gotty': runs,
    'nethogs atop btop nmon glances powertop iotop bpftool systemtap stap dtrace sysdig': {
      ...runs,
      always: ['system', 'looks into the machine, and can run commands from its screen'],
    },
    'taskwarrior timew': { ...runs, always: ['run', 'runs its own hooks and commands'] },
    'lv vless ccze tailspin': { always: ['run', 'starts commands from its screen'], operands: 'read*' },
    'systemd-resolve resolvectl systemd-analyze networkctl bootctl homectl portablectl coredumpctl userdbctl': {
      always: ['run', 'shows its output in a pager that runs commands'],
      operands: 'text*',
    },
    'rwho rcp rexec telnet-ssl ncftpget ncftpput lftpget pscp plink': {
      always: ['route', 'talks to another machine'],
      operands: 'text*',
    },
    'antiword catdoc docx2txt odt2txt pdftotext ps2ascii basez ascii-xfr efax espeak eqn2graph': reads,
    'freshclam rkhunter chkrootkit lynis': {
      always: ['list', 'reads the files that its options and lists name'],
      operands: 'read*',
    },
    'xmodmap xrdb xmore xpad eog feh sxiv': { always: ['run', 'starts a program with windows'], operands: 'read*' },
    'cancel lpstat lpadmin cupsfilter cupsd': {
      always: ['send', 'sends files to a printer or a server'],
      operands: 'read*',
    },
    'perldoc pod2usage cpanm ppm': { always: ['load', 'runs code that it fetches or is given'], operands: 'auto*' },
    'gvfs-open exo-open': runs,
    dhclient: {
      always: ['system', 'changes the addresses of the machine'],
      options: '\n  -sf -cf -lf <run>',
      style: 'word',
    },
    zic: { options: '\n  -y <run>\n  -d <grow>\n  -L -l -p -t <text>', operands: 'read*' },
    procmail: { options: '\n  -m !run\n  -a -d -f <text>', operands: 'load*' },
    easyrsa: { options: '\n  --vars --ssl-conf <load>', operands: 'text*' },
    '': {
      options: '\n  -o <write>\n  -plugin --plugin -dynamic-linker <load>\n  -T --script <load>\n  -L -l -rpath <text>',
      operands: 'read*',
    },
  }
}

/** Programs that change databases and disks. */
export function servicePrograms(): ProgramTable {
  return {
    'createdb createuser mysqlimport mysqladmin': {
      partial: true,
      effects: `
  remote-write | * |  | changes a database`,
    },
    pg_isready: {
      partial: true,
      effects: `
  remote-read  | * |  | reads a database`,
    },
    'dropdb dropuser': {
      partial: true,
      effects: `
  destructive  | * |  | deletes a database`,
    },
    console: {
      partial: true,
      effects: `
  remote-write | doctrine:migrations:migrate |  | changes a database
  destructive  | doctrine:database:drop, doctrine:schema:drop |  | deletes data in a database`,
    },
    'cf pscale turso neonctl neon xata fauna nats etcdctl rabbitmqctl rabbitmqadmin s3cmd s5cmd temporal airflow dagster prefect':
      {
        partial: true,
        verbs: {
          at: 'a service',
          local: 'version help completion config context dev server',
          reads: 'sub health',
          groups: 'kv stream consumer db database branch app space dags tasks connections pools endpoint member',
        },
      },
    'kafka-topics kafka-topics.sh kafka-consumer-groups kafka-consumer-groups.sh kafka-configs kafka-configs.sh kafka-acls kafka-acls.sh':
      {
        partial: true,
        effects: `
  remote-read  | * |  | reads a broker
  remote-write | * | --create --alter --add | changes a broker
  destructive  | * | --delete --remove --reset-offsets | deletes from a broker`,
      },
    'kafka-delete-records kafka-delete-records.sh': {
      partial: true,
      effects: `
  destructive  | * |  | deletes from a broker`,
    },
    'wp drush': {
      partial: true,
      verbs: {
        at: 'a site',
        local: 'help version cli completion',
        groups: 'core plugin theme user post option db sql',
        writes: 'search-replace',
      },
    },
    'lvremove vgremove pvremove hdparm blkdiscard': {
      partial: true,
      effects: `
  destructive  | * |  | destroys data on a disk`,
    },
  }
}

/** Less common programs that are known ways to run commands, read or write files. */
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
      always: ['route', 'opens its own connection'],
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
