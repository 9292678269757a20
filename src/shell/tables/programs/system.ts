/** Programs that change the machine or the account, editors, document tools, and wrappers. */

import { systemRules, texRules } from '../rules/system.ts'
import type { Program, ProgramTable, Role, Spec } from '../spec.ts'
import { controls, deferred, envRun, niceRun, privilege, stdbufRun, sudoRun, timeRun, traced } from '../wrap.ts'

export function systemPrograms(): ProgramTable {
  const changes = (note: string, role: Role = 'system'): Spec => ({ always: [role, note], operands: 'auto*' })
  /** The command inside is judged on its own; here only the wrapper's own options matter. */
  const wrapper = (options = ''): Spec => ({ stops: true, options, operands: 'text*' })

  const serviceKind: Program = changes('changes services of the machine')
  const atKind: Program = changes('schedules commands for later')
  const umountKind: Program = changes('changes what is mounted')
  const shutdownKind: Program = changes('stops the machine')
  const mkfsKind: Program = changes('changes disks')
  const useraddKind: Program = changes('changes accounts')
  const aptKind: Program = {
    options: '\n  -o --option -c --config-file <config>\n  -t --target-release -a <text>',
    subcommands: {
      list: { operands: 'text*' },
      show: { operands: 'text*' },
      search: { operands: 'text*' },
      policy: { operands: 'text*' },
      cache: { operands: 'text*' },
    },
    otherwise: changes('changes installed packages'),
  }
  const yumKind: Program = changes('changes installed packages')
  const fswatchKind: Program = {
    options: '\n  -o --outfile <output>\n  --fromfile <list>\n  -e -m -t --event --format --exclude <text>',
    operands: 'auto*',
  }
  const envKind: Program = wrapper('\n  -u --unset -S --split-string -C --chdir <text>\n  --block-signal [text]')
  const niceKind: Program = wrapper('\n  -n --adjustment -c --class -p --pid <text>')
  const nohupKind: Program = wrapper('\n  -o -e -i -a <text>')
  const watchKind: Program = wrapper('\n  -n --interval -w --timeout -E -c <text>')
  const sudoKind: Program = wrapper('\n  -u -g -h -p -C -D -c <text>')

  return {
    'service initctl rc-service openrc launchctl loginctl hostnamectl timedatectl localectl': serviceKind,
    machinectl: {
      ...serviceKind,
      wraps: [{ sub: 'shell', operands: 1, hazard: privilege('machinectl'), run: 'words' }],
    },
    systemctl: {
      rules: [systemRules],
      operands: 'text*',
      wary: true,
      options:
        '\n  -n --lines -o --output -t --type -p --property -s --signal <text>\n  --root --image <config>\n  -H --host -M --machine <route>',
    },
    crontab: {
      wraps: [
        {
          options: `
  -u -x <text>
  -l -r -e -V -c !idle
  -i -s
  -n -T <idle>`,
          permutes: true,
          script: 'crontab',
          inspect: true,
          hazard: deferred,
          run: 'text',
        },
      ],
      effects: `
  destructive  | * | -r | deletes scheduled jobs`,
      rules: [systemRules],
      operands: 'auto',
      options: '\n  -u <text>\n  -e -r !system # changes scheduled jobs\n  -l',
      wary: true,
    },
    'at batch': {
      ...atKind,
      wraps: [
        {
          options: `
  -q -t -u -o <text>
  -f <script>
  -M -m -v -b
  -l -d -r -V -c !idle`,
          permutes: true,
          script: 'shell',
          inspect: true,
          hazard: deferred,
          run: 'text',
        },
      ],
    },
    'atrm anacron': atKind,
    journalctl: {
      operands: 'text*',
      options:
        '\n  --vacuum-size --vacuum-time --vacuum-files <system>\n  --rotate --flush --sync !system\n  -D --directory --root --file <read>\n  -u --unit -n --lines -S --since -U --until -o --output -p --priority -t -g --grep <text>\n  -b --boot [text]',
    },
    'umount swapon swapoff losetup fusermount fusermount3 pivot_root': umountKind,
    cryptsetup: {
      ...umountKind,
      effects: `
  destructive  | luksFormat |  | destroys data on a disk`,
    },
    mount: {
      rules: [systemRules],
      options: '\n  -t --types -o --options -L -U --source --target <text>\n  -T --fstab <config>',
      operands: 'auto*',
      wary: true,
    },
    sysctl: {
      rules: [systemRules],
      operands: 'auto*',
      options:
        '\n  -w --write !system # changes kernel settings\n  -p --load --system [system] # changes kernel settings',
      wary: true,
    },
    'modprobe insmod rmmod depmod kexec': changes('changes the kernel'),
    'iptables ip6tables nft ufw firewall-cmd ebtables tc ifconfig route brctl iw iwconfig':
      changes('changes the network'),
    ip: { rules: [systemRules], options: '\n  -b -batch <list>\n  -n -netns <text>', operands: 'text*', wary: true },
    'shutdown reboot halt poweroff': {
      ...shutdownKind,
      effects: `
  destructive  | * |  | stops the machine`,
    },
    'init telinit': shutdownKind,
    'mkfs mkfs.ext4 mkfs.ext3 mkfs.ext2 mkfs.xfs mkfs.btrfs mkfs.vfat mkfs.fat mkfs.ntfs mkfs.f2fs mke2fs mkswap newfs':
      {
        ...mkfsKind,
        effects: `
  destructive  | * |  | destroys data on a disk`,
      },
    'fdisk sfdisk cfdisk gdisk sgdisk parted': {
      ...mkfsKind,
      effects: `
  destructive  | * |  | destroys data on a disk
  local        | * | -l --list |`,
    },
    wipefs: {
      ...mkfsKind,
      effects: `
  destructive  | * | -a --all -o --offset -f --force | destroys data on a disk`,
    },
    'resize2fs tune2fs fsck e2fsck lvm pvcreate vgcreate lvcreate mdadm': mkfsKind,
    'zpool zfs': {
      ...mkfsKind,
      verbs: { at: 'a disk', reads: 'iostat history holds userspace groupspace', local: 'list get status' },
    },
    diskutil: {
      ...mkfsKind,
      verbs: {
        at: 'a disk',
        local: 'list info activity listFilesystems verifyVolume verifyDisk mount unmount mountDisk unmountDisk eject',
        deletes: 'eraseDisk eraseVolume reformat partitionDisk secureErase zeroDisk randomDisk eraseCD',
      },
    },
    'useradd adduser usermod groupadd groupmod gpasswd passwd chpasswd chsh chfn chage vigr newusers': useraddKind,
    'userdel deluser groupdel': {
      ...useraddKind,
      effects: `
  destructive  | * |  | deletes an account`,
    },
    'visudo vipw': { ...useraddKind, wraps: [{ hazard: privilege('sudoedit'), run: 'text' }] },
    'apt apt-get': {
      ...aptKind,
      effects: `
  remote-read  | install, update, upgrade |  | installs software
  remote-write | bump, bump-formula-pr, bump-cask-pr, bump-revision, pr-publish, pr-pull, create-pr |  | proposes or publishes a package`,
    },
    aptitude: aptKind,
    'apt-cache dpkg-query dpkg-deb': {
      options: '\n  -o -c <config>\n  --admindir <config>\n  -f --showformat <text>',
      operands: 'text*',
    },
    dpkg: {
      options:
        '\n  -i --install -r --remove -P --purge --unpack --configure !system # changes installed packages\n  --admindir --root --instdir <config>\n  --pre-invoke --post-invoke <run>',
      operands: 'auto*',
    },
    'yum dnf snap flatpak': {
      ...yumKind,
      effects: `
  remote-read  | install |  | installs software`,
    },
    rpm: {
      ...yumKind,
      options: `
  -E --eval -D --define --pipe <run> # runs what a macro names`,
    },
    'rpmbuild rpmspec rpmdb logrotate ifup ifdown': {
      always: ['run', 'runs what its files and options name'],
      operands: 'auto*',
    },
    'zypper port emerge xbps-install pkg pkgin opkg winget choco scoop softwareupdate': yumKind,
    pacman: {
      ...yumKind,
      effects: `
  remote-read  | * |  | installs software`,
    },
    apk: {
      ...yumKind,
      effects: `
  remote-read  | add |  | installs software`,
    },
    brew: {
      effects: `
  remote-read  | install, update, upgrade |  | installs software
  remote-write | bump, bump-formula-pr, bump-cask-pr, bump-revision, pr-publish, pr-pull, create-pr |  | proposes or publishes a package`,
      subcommands: {
        list: { operands: 'text*' },
        info: { operands: 'text*' },
        search: { operands: 'text*' },
        '--prefix': { operands: 'text*' },
        config: {},
        doctor: {},
        outdated: {},
        deps: { operands: 'text*' },
        uses: { operands: 'text*' },
      },
      otherwise: changes('changes installed packages'),
    },
    'update-alternatives ldconfig alternatives locale-gen dpkg-reconfigure update-grub update-ca-certificates':
      changes('changes the machine'),
    gpg: {
      options: `
  --photo-viewer --agent-program --dirmngr-program --pinentry-program --exec-path --passwd-fd <run>
  --export-secret-keys --export-secret-subkeys !send # prints secret keys
  --options --homedir --keyring --secret-keyring --trustdb-name <config>
  --keyserver --keyserver-options <route>
  -o --output --log-file <output>
  --export --sign --list-keys --list-secret-keys --verify --decrypt --encrypt --fingerprint
  --passphrase-file <read>
  -u --local-user -r --recipient --passphrase --pinentry-mode --batch-size --digest-algo --cipher-algo <text>
  --gen-key --full-generate-key --quick-generate-key --delete-keys --delete-secret-keys --edit-key --import --sign-key !system # changes keys`,
      operands: 'read*',
      effects: `
  remote-write | * | --export-secret-keys --export-secret-subkeys | prints secret keys
  destructive  | * | --delete-secret-keys --delete-secret-and-public-key | deletes keys`,
    },
    age: {
      options: '\n  -o --output <output>\n  -i --identity -R --recipients-file <read>\n  -r --recipient <text>',
      operands: 'read',
    },
    'osascript automator shortcuts say': changes('scripts other programs', 'code'),
    'open xdg-open gio gnome-open kde-open start explorer.exe wslview x-www-browser sensible-browser firefox chromium google-chrome chrome safari':
      changes('starts another program on the desktop', 'run'),
    defaults: { subcommands: { read: { operands: 'text*' } }, otherwise: changes('changes settings of the account') },
    'dscl scutil spctl csrutil pmset nvram systemsetup networksetup tmutil profiles pluginkit':
      changes('changes the machine'),
    'screen zellij byobu abduco dtach': changes('runs commands in its own session', 'run'),
    tmux: {
      rules: [systemRules],
      stops: true,
      options: '\n  -c <run>\n  -f <config>\n  -L -S -T <text>',
      subcommands: Object.fromEntries(
        'ls list-sessions list-windows lsw list-panes lsp has-session has kill-session kill-window kill-pane capture-pane capturep show-options info'
          .split(' ')
          .map((name) => [name, { options: '\n  -t -F -f -S -E -b <text>', operands: 'text*' } satisfies Spec]),
      ),
      otherwise: changes('runs commands in its own session', 'run'),
      always: ['run', 'runs commands in its own session'],
    },
    'expect autoexpect': changes('runs a script that drives other programs', 'code'),
    'dbus-send busctl gdbus qdbus dbus-monitor notify-send zenity kdialog xdotool ydotool wmctrl': changes(
      'talks to other programs of the session',
    ),
    'wall write mesg logger': changes('writes to other terminals or the system log'),
    'xclip xsel pbpaste wl-paste pbcopy wl-copy clip.exe': changes('reads or changes the clipboard'),
    'vim vi nvim view vimdiff ex rvim gvim neovim ed red emacs emacsclient nano pico joe jed micro hx helix kak mcedit mg ne acme kate gedit mousepad subl atom code code-insiders cursor idea pycharm':
      changes('is an editor that can run any command', 'code'),
    mc: {
      options: '\n  -c <run>',
      operands: 'auto*',
      // Two programs have this name: a file manager, and the client of an object store.
      effects: `
  destructive  | rm, rb, mirror |  | deletes from an object store
  remote-write | cp, mv, mb, put, pipe, admin, anonymous, ilm, policy, tag |  | changes an object store`,
    },
    'ranger nnn vifm lf broot fzf sk peco percol dialog whiptail': {
      options:
        '\n  --preview --bind --become --command --cmd -c <run>\n  --listen --listen-unsafe [run] # lets others send actions, which run programs\n  -e -f -q -m <text>',
      operands: 'auto*',
    },
    pandoc: {
      options: `
  -L --lua-filter <load>
  -F --filter --pdf-engine --pdf-engine-opt <run>
  -d --defaults --data-dir --syntax-definition <config>
  -t -w --to --write -f -r --from --read <module>
  -o --output --extract-media <write>
  --log <output>
  --template -H --include-in-header -B --include-before-body -A --include-after-body --metadata-file --csl --bibliography --reference-doc <read>
  -M --metadata -V --variable --toc-depth --highlight-style --columns --wrap --shift-heading-level-by <text>`,
      operands: 'read*',
    },
    'latex pdflatex xelatex lualatex luatex tex pdftex xetex': {
      style: 'word',
      options:
        '\n  -shell-escape -enable-write18 !run # lets the document run commands\n  -shell-restricted\n  -lua <load>\n  -output-directory -aux-directory <write>\n  -interaction -jobname -fmt -progname -synctex <text>',
      operands: 'read*',
      wary: true,
      rules: [texRules],
    },
    latexmk: {
      style: 'word',
      options:
        '\n  -e <code>\n  -r <load>\n  -pdflatex -latex -xelatex -lualatex -bibtex -usepretex <run>\n  -shell-escape !run\n  -outdir -auxdir <write>\n  -jobname <text>',
      operands: 'read*',
    },
    'ffmpeg ffprobe ffplay': {
      style: 'word',
      options:
        '\n  -i <auto>\n  -filter_script -filter_complex_script <read>\n  -passlogfile <output>\n  -init_hw_device <load>\n  -report !output\n  -ss -t -to -f -c -codec -vcodec -acodec -vf -af -filter_complex -map -r -s -b -ar -ac -crf -preset -loglevel -v -show_entries -of -pix_fmt -vframes -frames <text>',
      operands: 'write*',
    },
    'convert magick identify mogrify composite montage': {
      rules: [systemRules],
      style: 'word',
      operands: 'text*',
      wary: true,
    },
    'gs ghostscript ps2pdf': { always: ['code', 'runs PostScript, which reads and writes files'], operands: 'auto*' },
    'dot neato fdp sfdp twopi circo': {
      options: '\n  -l <load>\n  -o <write>\n  -T -K -G -N -E <text>',
      operands: 'read*',
    },
    exiftool: {
      rules: [systemRules],
      style: 'word',
      options:
        '\n  -config -if -if2 -p -printFormat -userParam <load>\n  -filename -FileName -Directory -directory -TestName <output>\n  -@ -argfile <list>\n  -o -out -w <output>\n  -execute !run',
      operands: 'auto*',
      wary: true,
    },
    'gnuplot octave maxima gp sage bc dc m4': changes('runs a program that can run commands', 'code'),
    'plantuml mmdc wkhtmltopdf wkhtmltoimage puppeteer': {
      options:
        '\n  --run-script <code>\n  --enable-local-file-access !widen\n  -o --output <write>\n  -p --puppeteerConfigFile -c --configFile <config>',
      operands: 'auto*',
    },
    watchman: changes('can run commands when files change', 'run'),
    'fswatch inotifywait': fswatchKind,
    entr: {
      ...fswatchKind,
      wraps: [
        {
          options: `
  -a -c -d -n -p -r -s -x -z`,
          input: 'replace',
          run: 'words',
        },
      ],
    },
    'busybox toybox': {
      wraps: [
        {
          options: `
  --list --list-full --help !idle
  --install`,
          run: 'words',
        },
      ],
      stops: true,
      operands: 'text*',
      always: ['run', 'is many programs in one'],
    },
    env: {
      ...envKind,
      wraps: [envRun],
    },
    printenv_: envKind,
    'timeout gtimeout': {
      ...wrapper('\n  -k --kill-after -s --signal <text>'),
      wraps: [
        {
          options: `
  -k -s <text>
  -v -f -p
  --kill-after --signal <text>
  --preserve-status --foreground --verbose
  --help --version !idle`,
          operands: 1,
          run: 'words',
        },
      ],
    },
    nice: {
      ...niceKind,
      wraps: [niceRun],
    },
    ionice: {
      ...niceKind,
      wraps: [
        {
          options: `
  -c -n <text>
  -t
  -p -P -u <idle>
  -h -V !idle
  --class --classdata <text>
  --ignore
  --pid --pgid --uid <idle>
  --help --version !idle`,
          run: 'words',
        },
      ],
    },
    chrt: {
      ...niceKind,
      wraps: [
        {
          options: `
  -a -b -d -f -i -o -r -R -v
  -m -p -h -V !idle
  -T -P -D <text>
  --all-tasks --batch --deadline --fifo --idle --other --rr --verbose
  --max --pid --help --version !idle`,
          operands: 1,
          run: 'words',
        },
      ],
    },
    taskset: {
      ...niceKind,
      wraps: [
        {
          options: `
  -a -c
  -p -h -V !idle
  --all-tasks --cpu-list
  --pid --help --version !idle`,
          operands: 1,
          run: 'words',
        },
      ],
    },
    renice: niceKind,
    nohup: {
      ...nohupKind,
      wraps: [
        {
          options: `
  --help --version !idle`,
          run: 'words',
        },
      ],
    },
    command: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -p
  -v -V !idle`,
          builtins: true,
          run: 'words',
        },
      ],
    },
    builtin: { ...nohupKind, wraps: [{ builtins: true, run: 'words' }] },
    exec: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -c -l
  -a <text>`,
          run: 'words',
        },
      ],
    },
    setsid: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -c -f -w
  -h -V !idle
  --ctty --fork --wait
  --help --version !idle`,
          run: 'words',
        },
      ],
    },
    stdbuf: {
      ...nohupKind,
      wraps: [stdbufRun],
    },
    unbuffer: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -p`,
          run: 'words',
        },
      ],
    },
    caffeinate: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -d -i -m -s -u
  -t -w <text>`,
          run: 'words',
        },
      ],
    },
    // On macOS it runs a program for one of its processors; on Linux it prints a word, and takes no command.
    arch: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -arm64 -arm64e -x86_64 -x86_64h -i386 -32 -64
  -arch <text>
  -c !wary
  -d <text>
  -e <wary>
  -h --help --version !idle`,
          run: 'words',
        },
      ],
    },
    time: {
      ...nohupKind,
      wraps: [timeRun],
    },
    'chronic setarch linux32 linux64 dbus-run-session xvfb-run catchsegv ltrace dotenv': {
      ...nohupKind,
      wraps: controls,
    },
    ts: nohupKind,
    'cross-env': { ...nohupKind, wraps: [{ assignments: true, run: 'words' }] },
    shx: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -s
  --silent`,
          run: 'words',
        },
      ],
    },
    rtk: {
      ...nohupKind,
      wraps: [
        {
          options: `
  -v -u
  --verbose --ultra-compact --skip-env`,
          run: 'words',
        },
      ],
    },
    strace: {
      ...wrapper('\n  -o <output>\n  -e -p -s -u -E -a -I -O -S -P -b <text>'),
      wraps: [
        {
          options: `
  -c -C -d -f -F -i -k -q -r -t -T -v -x -y
  -w -z -Z -n -N -Y -D
  -h -V !idle
  -a -b -e -E -I -o -O -P -s -S -u -U -X <text>
  -p <idle>
  --output --trace --env <text>
  --follow-forks`,
          hazard: traced('strace'),
          run: 'words',
        },
      ],
    },
    valgrind: {
      ...wrapper('\n  --log-file --xml-file --xtree-memory-file [output]\n  --suppressions [read]'),
      wraps: controls,
    },
    'xargs gxargs': {
      ...wrapper(
        '\n  -a --arg-file <list>\n  -I -n -P -L -d -E -s --max-args --max-procs --max-lines --delimiter --max-chars --replace <text>\n  -i -e -l [text]',
      ),
      wraps: [
        {
          options: `
  -0 -o -p -r -t -x
  -a <wary>
  -d -E -L -n -s -P <text>
  -e -l [text]
  -i [mark]
  -I <mark>
  --null --open-tty --interactive --no-run-if-empty --verbose --exit --show-limits
  --arg-file <wary>
  --delimiter --max-args --max-chars --max-procs --process-slot-var <text>
  --eof --max-lines [text]
  --replace [mark]
  --help --version !idle`,
          input: 'append',
          otherwise: 'echo',
          inspect: true,
          run: 'words',
        },
      ],
    },
    watch: {
      ...watchKind,
      wraps: [
        {
          options: `
  -b -c -e -g -p -r -t -w -x
  -d [text]
  -h -v !idle
  -n -q <text>
  --beep --color --errexit --chgexit --precise --no-rerun --no-title --no-wrap --exec
  --differences [text]
  --interval --equexit <text>
  --help --version !idle`,
          run: 'joined',
        },
      ],
    },
    flock: {
      ...watchKind,
      wraps: [
        {
          options: `
  -c <shell>
  -E -w <text>
  -e -F -n -o -s -v -x
  -u
  -h -V !idle
  --shared --exclusive --nonblock --close --no-fork --verbose --unlock
  --help --version !idle
  --timeout --conflict-exit-code <text>
  --command <shell>`,
          operands: 1,
          run: 'words',
        },
      ],
    },
    sudo: {
      ...sudoKind,
      wraps: [sudoRun],
    },
    doas: {
      ...sudoKind,
      wraps: [
        {
          options: `
  -L -n -s
  -a -C -u <text>`,
          hazard: privilege('doas'),
          run: 'words',
        },
      ],
    },
    'su runuser': {
      ...sudoKind,
      wraps: [
        {
          options: `
  -c <shell>
  -l -m -p -P -f -T -V -h
  -s -g -G -u -w <text>
  --command --session-command <shell>
  --login --preserve-environment --pty --fast
  --shell --user --group --whitelist-environment <text>`,
          operands: 1,
          permutes: true,
          hazard: privilege('su'),
          run: 'words',
        },
      ],
    },
    pkexec: {
      ...sudoKind,
      wraps: [
        {
          options: `
  --user <text>
  --disable-internal-agent --keep-cwd --help --version`,
          hazard: privilege('pkexec'),
          run: 'words',
        },
      ],
    },
    run0: {
      ...sudoKind,
      wraps: [
        {
          options: `
  -u -g -D <text>
  -h -V
  --user --group --chdir --unit --property --description --slice --setenv --background --machine --nice <text>
  --no-ask-password --help --version`,
          hazard: privilege('run0'),
          run: 'words',
        },
      ],
    },
    sudoedit: { ...sudoKind, wraps: [{ hazard: privilege('sudoedit'), run: 'text' }] },
    eval: { operands: 'text*' },
    'source .': { operands: 'read auto*' },
  }
}
