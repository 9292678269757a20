/** Programs that change the machine or the account, editors, document tools, and wrappers. */

import type { Role } from '../roles.ts'
import type { ProgramTable, Spec } from '../spec.ts'

export function systemPrograms(): ProgramTable {
  const changes = (note: string, role: Role = 'system'): Spec => ({ always: [role, note], operands: 'auto*' })
  /** The command inside is judged on its own; here only the wrapper's own options matter. */
  const wrapper = (options = ''): Spec => ({ stops: true, options, operands: 'text*' })

  return {
    'service initctl rc-service openrc launchctl loginctl hostnamectl timedatectl localectl machinectl': changes(
      'changes services of the machine',
    ),
    systemctl: {
      operands: 'text*',
      wary: true,
      options:
        '\n  -n --lines -o --output -t --type -p --property -s --signal <text>\n  --root --image <config>\n  -H --host -M --machine <route>',
    },
    crontab: { operands: 'auto', options: '\n  -u <text>\n  -e -r !system # changes scheduled jobs\n  -l', wary: true },
    'at batch atrm anacron': changes('schedules commands for later'),
    journalctl: {
      operands: 'text*',
      options:
        '\n  --vacuum-size --vacuum-time --vacuum-files <system>\n  --rotate --flush --sync !system\n  -D --directory --root --file <read>\n  -u --unit -n --lines -S --since -U --until -o --output -p --priority -t -g --grep <text>\n  -b --boot [text]',
    },
    'umount swapon swapoff losetup cryptsetup fusermount fusermount3 pivot_root': changes('changes what is mounted'),
    mount: {
      options: '\n  -t --types -o --options -L -U --source --target <text>\n  -T --fstab <config>',
      operands: 'auto*',
      wary: true,
    },
    sysctl: {
      operands: 'text*',
      options:
        '\n  -w --write !system # changes kernel settings\n  -p --load --system [system] # changes kernel settings',
      wary: true,
    },
    'modprobe insmod rmmod depmod kexec': changes('changes the kernel'),
    'iptables ip6tables nft ufw firewall-cmd ebtables tc ifconfig route brctl iw iwconfig':
      changes('changes the network'),
    ip: { options: '\n  -b -batch <list>\n  -n -netns <text>', operands: 'text*', wary: true },
    'shutdown reboot halt poweroff init telinit': changes('stops the machine'),
    'mkfs mkfs.ext4 mkfs.ext3 mkfs.xfs mkfs.btrfs mkfs.vfat mke2fs mkswap fdisk sfdisk cfdisk gdisk sgdisk parted wipefs resize2fs tune2fs fsck e2fsck lvm pvcreate vgcreate lvcreate mdadm zpool zfs diskutil':
      changes('changes disks'),
    'useradd adduser usermod userdel deluser groupadd groupmod groupdel gpasswd passwd chpasswd chsh chfn chage visudo vipw vigr newusers':
      changes('changes accounts'),
    'apt apt-get aptitude': {
      options: '\n  -o --option -c --config-file <config>\n  -t --target-release -a <text>',
      subcommands: {
        list: { operands: 'text*' },
        show: { operands: 'text*' },
        search: { operands: 'text*' },
        policy: { operands: 'text*' },
        cache: { operands: 'text*' },
      },
      otherwise: changes('changes installed packages'),
    },
    'apt-cache dpkg-query dpkg-deb': {
      options: '\n  -o -c <config>\n  --admindir <config>\n  -f --showformat <text>',
      operands: 'text*',
    },
    dpkg: {
      options:
        '\n  -i --install -r --remove -P --purge --unpack --configure !system # changes installed packages\n  --admindir --root --instdir <config>\n  --pre-invoke --post-invoke <run>',
      operands: 'auto*',
    },
    'yum dnf zypper pacman apk snap flatpak rpm port emerge xbps-install pkg pkgin opkg winget choco scoop softwareupdate':
      changes('changes installed packages'),
    brew: {
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
    },
    'gpg2 gpg-agent gpgconf gpg-connect-agent age-keygen pass secret-tool keyring security keyctl kinit': changes(
      'works with keys and passwords',
    ),
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
    'screen zellij byobu abduco dtach': changes('runs commands in a session of its own', 'run'),
    tmux: {
      stops: true,
      options: '\n  -c <run>\n  -f <config>\n  -L -S -T <text>',
      subcommands: Object.fromEntries(
        'ls list-sessions list-windows lsw list-panes lsp has-session has kill-session kill-window kill-pane capture-pane capturep show-options info'
          .split(' ')
          .map((name) => [name, { options: '\n  -t -F -f -S -E -b <text>', operands: 'text*' } satisfies Spec]),
      ),
      otherwise: changes('runs commands in a session of its own', 'run'),
      always: ['run', 'runs commands in a session of its own'],
    },
    'expect autoexpect': changes('runs a script that drives other programs', 'code'),
    'dbus-send busctl gdbus qdbus dbus-monitor notify-send zenity kdialog xdotool ydotool wmctrl': changes(
      'talks to other programs of the session',
    ),
    'wall write mesg logger': changes('writes to other terminals or the system log'),
    'xclip xsel pbpaste wl-paste pbcopy wl-copy clip.exe': changes('reads or changes the clipboard'),
    'vim vi nvim view vimdiff ex rvim gvim neovim ed red emacs emacsclient nano pico joe jed micro hx helix kak mcedit mg ne acme kate gedit mousepad subl atom code code-insiders cursor idea pycharm':
      changes('is an editor that can run any command', 'code'),
    'mc ranger nnn vifm lf broot fzf sk peco percol dialog whiptail': {
      options: '\n  --preview --bind --become --command -c <run>\n  -e -f -q -m <text>',
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
    'convert magick identify mogrify composite montage': { style: 'word', operands: 'text*', wary: true },
    'gs ghostscript ps2pdf': { always: ['code', 'runs PostScript, which reads and writes files'], operands: 'auto*' },
    'dot neato fdp sfdp twopi circo': {
      options: '\n  -l <load>\n  -o <write>\n  -T -K -G -N -E <text>',
      operands: 'read*',
    },
    exiftool: {
      style: 'word',
      options:
        '\n  -config -if -if2 -p -printFormat -userParam <load>\n  -@ -argfile <list>\n  -o -out -w <output>\n  -execute !run',
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
    'fswatch inotifywait entr': {
      options: '\n  -o --outfile <output>\n  --fromfile <list>\n  -e -m -t --event --format --exclude <text>',
      operands: 'auto*',
    },
    'busybox toybox': { stops: true, operands: 'text*', always: ['run', 'is many programs in one'] },
    'env printenv_': wrapper('\n  -u --unset -S --split-string -C --chdir <text>\n  --block-signal [text]'),
    'timeout gtimeout': wrapper('\n  -k --kill-after -s --signal <text>'),
    'nice ionice chrt taskset renice': wrapper('\n  -n --adjustment -c --class -p --pid <text>'),
    'nohup command builtin exec setsid stdbuf unbuffer caffeinate time chronic ts setarch linux32 linux64 dbus-run-session xvfb-run catchsegv ltrace cross-env dotenv shx rtk':
      wrapper('\n  -o -e -i -a <text>'),
    strace: wrapper('\n  -o <output>\n  -e -p -s -u -E -a -I -O -S -P -b <text>'),
    valgrind: wrapper('\n  --log-file --xml-file --xtree-memory-file [output]\n  --suppressions [read]'),
    'xargs gxargs': wrapper(
      '\n  -a --arg-file <list>\n  -I -n -P -L -d -E -s --max-args --max-procs --max-lines --delimiter --max-chars --replace <text>\n  -i -e -l [text]',
    ),
    parallel: wrapper(
      '\n  -a --arg-file <list>\n  --joblog --results <output>\n  -S --sshlogin --sshloginfile <route>\n  -j -I -n -N --jobs --colsep -d <text>',
    ),
    'watch flock': wrapper('\n  -n --interval -w --timeout -E -c <text>'),
    'sudo doas su pkexec run0 runuser sudoedit': wrapper('\n  -u -g -h -p -C -D -c <text>'),
    eval: { operands: 'text*' },
    'source .': { operands: 'read auto*' },
  }
}
