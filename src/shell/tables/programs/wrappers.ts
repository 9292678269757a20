/** Programs that run another one: env-like wrappers, tracers, terminals, other rights. */

import type { ProgramTable } from '../spec.ts'
import {
  controls,
  envRun,
  niceRun,
  privilege,
  remote,
  shellRun,
  stdbufRun,
  sudoRun,
  timeRun,
  traced,
  type Wrap,
} from '../wrap.ts'

/** Runs words with secrets of a file's. */
const sopsRun: Wrap = {
  options: `
  -i
  --background --pristine --same-process --no-fifo
  --user --filename --input-type --output-type <text>`,
  operands: 1,
  input: 'replace',
  inspect: true,
  run: 'joined',
}

export function wrapperPrograms(): ProgramTable {
  return {
    aoss: {
      partial: true,
      wraps: [{ options: '', run: 'words' }],
    },
    genv: {
      partial: true,
      wraps: [envRun],
    },
    gnice: {
      partial: true,
      wraps: [niceRun],
    },
    gnohup: {
      partial: true,
      wraps: [
        {
          options: `
  --help --version !idle`,
          run: 'words',
        },
      ],
    },
    gtime: {
      partial: true,
      wraps: [timeRun],
    },
    'cross-env-shell': { partial: true, wraps: [{ assignments: true, run: 'words' }] },
    'envdir setuidgid envuidgid': {
      partial: true,
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
    gstdbuf: {
      partial: true,
      wraps: [stdbufRun],
    },
    tsp: {
      partial: true,
      wraps: [
        {
          options: `
  -n -B -f -m -d -E
  -L -D -N <text>`,
          run: 'words',
        },
      ],
    },
    'ifne pee fakeroot eatmydata nocache firejail proxychains proxychains4 torsocks torify tsocks dbus-launch cpulimit numactl faketime systemd-cat systemd-inhibit i386 x86_64 uname26 prlimit cgexec softlimit chpst setlock lockf aa-exec cset rlwrap ts-node-wrap dotenvx with-contenv gosu tini dumb-init catatonit env-cmd runcon nsjail flatpak-spawn daemonize apptainer singularity start-server-and-test watchexec reflex scan-build intercept-build compiledb kcov samply py-spy austin heaptrack nsys nvprof xterm uxterm urxvt gnome-terminal konsole alacritty kitty foot wezterm cage weston run-one retry su-exec s6-setuidgid s6-softlimit uclampset coresched daemon proot fakechroot with-env steam-run chruby-exec noglob nocorrect':
      { partial: true, wraps: controls },
    'ccache sccache icecc': {
      partial: true,
      wraps: [
        {
          options: `
  -s -z -C -c -p -V -h -v -k -x !idle
  -M -F -o -d <idle>
  --show-stats --zero-stats --clear --cleanup --show-config --version --help --print-stats !idle
  --verbose --start-server --stop-server --dist-status --show-adv-stats --show-compression
  --max-size --max-files --set-config --get-config --stats-format --evict-older-than <text>`,
          run: 'words',
        },
      ],
    },
    bear: {
      partial: true,
      wraps: [
        {
          options: `
  -o <text>
  -a -v
  -h !idle
  --output --enable --cdb <text>
  --append --force-preload --force-wrapper --verbose
  --config --libexec --wrapper --wrapper-dir <wary>
  --version --help !idle`,
          inspect: true,
          run: 'words',
        },
      ],
    },
    'parallel env_parallel sem': {
      stops: true,
      options: `
  -a --arg-file <list>
  --joblog --results <output>
  -S --sshlogin --sshloginfile <route>
  -j -I -n -N --jobs --colsep -d <text>`,
      operands: 'text*',
      wraps: [
        {
          options: `
  -0 -k -q -t -u -v -X -m
  -j -n -N -L -a -P -C -d -S <text>
  -I <mark>
  --jobs --max-args --halt --delay --colsep --timeout --joblog --arg-file --results --tmpdir --workdir --memfree --load --retries <text>
  --nice --sshlogin --tagstring --block --recstart --recend --env --trim --max-chars --max-lines --delimiter --shellquote <text>
  --keep-order --dry-run --bar --eta --tag --will-cite --no-notice --progress --line-buffer --ungroup --quote --null --group --xargs
  --shuf --linebuffer --pipe --resume --resume-failed --no-run-if-empty --verbose --silent --bg --fg --wait --citation`,
          input: 'append',
          ends: [':::', '::::', ':::+', '::::+'],
          otherwise: 'shell',
          hazard: { code: 'wrapper', message: '`parallel` passes its words to a shell once more', verdict: 'ask' },
          run: 'joined',
        },
      ],
    },
    'gfind bfs': { partial: true, wraps: [{ input: 'replace', inspect: true, run: 'exec' }] },
    'lksh oksh loksh pdksh hush': {
      partial: true,
      wraps: [shellRun],
    },
    script: {
      partial: true,
      wraps: [
        {
          options: `
  -c <shell>
  -a -e -f -q -t -h -V
  -I -O -B -T -m -o -E <text>
  --command <shell>
  --append --return --flush --force --quiet --help --version
  --log-in --log-out --log-io --log-timing --logging-format --output-limit --echo <text>
  --timing [text]`,
          operands: 1,
          otherwise: 'shell',
          inspect: true,
          run: 'words',
        },
      ],
    },
    'ld.so ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1 ld-musl-x86_64.so.1': {
      partial: true,
      wraps: [
        {
          options: `
  --library-path --preload --audit --argv0 <text>
  --inhibit-cache --list --verify`,
          hazard: traced('the dynamic loader'),
          run: 'words',
        },
      ],
    },
    'sudo-rs': {
      partial: true,
      wraps: [sudoRun],
    },
    'sg newgrp': {
      partial: true,
      wraps: [
        {
          options: `
  -c <shell>`,
          operands: 1,
          permutes: true,
          hazard: privilege('sg'),
          run: 'words',
        },
      ],
    },
    setpriv: {
      partial: true,
      wraps: [
        {
          options: `
  -d -h -V
  --reuid --regid --groups --inh-caps --ambient-caps --bounding-set --securebits --pdeathsig --selinux-label --apparmor-profile <text>
  --clear-groups --keep-groups --init-groups --no-new-privs --reset-env --nnp --dump --list-caps`,
          hazard: privilege('setpriv'),
          run: 'words',
        },
      ],
    },
    capsh: { partial: true, wraps: [{ hazard: privilege('capsh'), run: 'words' }] },
    chroot: {
      partial: true,
      wraps: [
        {
          options: `
  --userspec --groups <text>
  --skip-chdir --help --version`,
          operands: 1,
          hazard: privilege('chroot'),
          run: 'words',
        },
      ],
    },
    unshare: {
      partial: true,
      wraps: [
        {
          options: `
  -f -m -u -i -n -p -U -C -T -r -c -h -V
  -S -G -R -w -l <text>
  --fork --map-root-user --map-current-user --map-auto --keep-caps --help --version
  --mount --uts --ipc --net --pid --user --cgroup --time --kill-child --mount-proc [text]
  --map-user --map-group --propagation --setgroups --root --wd --setuid --setgid <text>`,
          hazard: privilege('unshare'),
          run: 'words',
        },
      ],
    },
    'systemd-run': {
      partial: true,
      wraps: [
        {
          options: `
  -G -d -t -p -S
  -q -E -p -u <text>
  --user --scope --pty --pipe --quiet --wait --collect --same-dir --shell --remain-after-exit --send-sighup --no-ask-password --no-block
  --unit --property --setenv --slice --service-type --uid --gid --nice --working-directory --on-active --on-boot --on-startup --on-unit-active --on-calendar <text>
  --timer-property --description <text>`,
          hazard: privilege('systemd-run'),
          run: 'words',
        },
      ],
    },
    bwrap: { partial: true, wraps: [{ hazard: traced('bwrap'), run: 'words' }] },
    'minikube colima': {
      partial: true,
      effects: `
  destructive  | delete |  | deletes a machine or a cluster`,
      wraps: [
        {
          sub: 'ssh',
          options: `
  -n -p <text>
  --node --profile <text>
  --native-ssh`,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('ssh'),
          run: 'words',
        },
      ],
    },
    limactl: {
      partial: true,
      effects: `
  destructive  | delete, rm, factory-reset |  | deletes a machine or a cluster`,
      wraps: [
        {
          sub: 'shell',
          options: `
  --shell --workdir <text>
  --tty [text]`,
          operands: 1,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('limactl shell'),
          run: 'words',
        },
      ],
    },
    distrobox: {
      partial: true,
      wraps: [
        {
          sub: 'enter',
          options: `
  -n <text>
  --name <text>
  --no-tty`,
          operands: 1,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('distrobox enter'),
          run: 'words',
        },
      ],
    },
    toolbox: {
      partial: true,
      wraps: [
        {
          sub: 'run',
          options: `
  -c -d -r <text>
  --container --distro --release <text>`,
          elsewhere: true,
          hazard: remote('toolbox run'),
          run: 'words',
        },
      ],
    },
    'rbenv pyenv nodenv': { partial: true, wraps: [{ sub: 'exec', run: 'words' }] },
    sops: {
      partial: true,
      effects: `
  remote-write | decrypt, exec-env, exec-file |  | prints a secret
  remote-write | * | -d --decrypt | prints a secret`,
      wraps: [
        { sub: 'exec-env', ...sopsRun },
        { sub: 'exec-file', ...sopsRun },
      ],
    },
    rvm: { partial: true, wraps: [{ sub: 'do', run: 'words' }] },
    devenv: {
      partial: true,
      wraps: [
        {
          sub: 'shell',
          options: `
  --clean [text]
  --impure --quiet --verbose`,
          otherwise: 'shell',
          hazard: traced('devenv'),
          run: 'words',
        },
      ],
    },
    volta: {
      partial: true,
      wraps: [
        {
          sub: 'run',
          options: `
  --node --npm --pnpm --yarn <text>
  --env <wary>
  --bundled-npm --no-pnpm --no-yarn --verbose --quiet`,
          run: 'words',
        },
      ],
    },
    fnm: {
      partial: true,
      wraps: [
        {
          sub: 'exec',
          options: `
  --using --arch --log-level --version-file-strategy <text>
  --corepack-enabled --resolve-engines
  --fnm-dir --node-dist-mirror <wary>`,
          run: 'words',
        },
      ],
    },
    nvm: {
      partial: true,
      wraps: [
        {
          sub: 'exec',
          options: `
  --silent --lts`,
          operands: 1,
          run: 'words',
        },
      ],
    },
    pixi: {
      partial: true,
      wraps: [
        {
          sub: 'run',
          options: `
  -e <text>
  -q -v -x
  --environment <text>
  --manifest-path <wary>
  --frozen --locked --no-install --as-is --quiet --verbose --clean-env --executable --skip-deps`,
          run: 'words',
        },
      ],
    },
    opam: {
      partial: true,
      wraps: [
        {
          sub: 'exec',
          options: `
  --switch <text>
  --set-root --set-switch --readonly`,
          run: 'words',
        },
      ],
      effects: `
  remote-write | publish |  | publishes a package`,
    },
    dune: {
      partial: true,
      wraps: [
        {
          sub: 'exec',
          options: `
  -j -p <text>
  -w
  --root --profile --display --context <text>
  --release --watch --no-build`,
          run: 'words',
        },
      ],
    },
    'c8 nyc': {
      partial: true,
      wraps: [
        {
          options: `
  -r -o -x -n <text>
  --reporter --reports-dir --report-dir --temp-directory --include --exclude --extension --lines --branches --functions --statements --src <text>
  --all --check-coverage --clean --skip-full
  --require --cwd <wary>`,
          run: 'words',
        },
      ],
    },
  }
}
