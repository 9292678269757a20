/** Programs that few projects use and that run others, read anything or write anywhere: servers, monitors, readers. */

import type { Program, ProgramTable } from '../spec.ts'

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
    'taskwarrior timew': { ...runs, always: ['run', 'runs hooks and commands of its own'] },
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
