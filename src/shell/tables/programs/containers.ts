/** Containers and the engines that run them. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { privilege, remote, type Wrap } from '../wrap.ts'

/** Options of docker itself, before its subcommands. */
const before = `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`

const composeBefore = `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`

const inside = { operands: 1, stops: true, inspect: true, elsewhere: true, run: 'words' } as const

/** `compose exec` and `compose run`, after the words before them. */
function composeWraps(word: '' | 'compose ' | 'container '): readonly Wrap[] {
  return (['exec', 'run'] as const).map((verb) => ({
    ...inside,
    image: true,
    sub: `${word}${verb}`,
    before: word === 'container ' ? before : composeBefore,
    options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
    hazard: remote(`compose ${verb}`),
  }))
}

const engineWraps: readonly Wrap[] = [
  {
    ...inside,
    image: true,
    sub: 'run',
    before,
    options: `
  -d -t -i -P -q
  -a -c -e -h -l -m -p -u -v -w <text>
  --rm --tty --interactive --detach --init --privileged --read-only --no-healthcheck --oom-kill-disable --publish-all --quiet --sig-proxy --disable-content-trust --use-api-socket
  --help --env-host --http-proxy --no-hosts --no-hostname --passwd --replace --rmi --rootfs --tls-verify --unsetenv-all
  --name --env --volume --workdir --user --network --entrypoint --publish --platform --env-file --mount --hostname --label --memory <text>
  --cpus --pull --cap-add --cap-drop --security-opt --device --gpus --shm-size --ulimit --tmpfs --add-host --dns --ipc --pid <text>
  --restart --annotation --attach --blkio-weight --cgroup-parent --cgroupns --cidfile --cpu-period --cpu-quota --cpu-shares --cpuset-cpus --cpuset-mems --detach-keys --device-cgroup-rule <text>
  --dns-option --dns-search --domainname --expose --group-add --health-cmd --health-interval --health-retries --health-timeout --ip --ip6 --label-file --link --log-driver <text>
  --log-opt --mac-address --memory-reservation --memory-swap --net --network-alias --oom-score-adj --pids-limit --runtime --stop-signal --stop-timeout --storage-opt --sysctl --userns <text>
  --uts --volume-driver --volumes-from --blkio-weight-device --cpu-count --cpu-percent --cpu-rt-period --cpu-rt-runtime --device-read-bps --device-read-iops --device-write-bps --device-write-iops --dns-opt --health-start-interval <text>
  --health-start-period --io-maxbandwidth --io-maxiops --isolation --kernel-memory --link-local-ip --memory-swappiness --arch --os --variant --authfile --cgroups --cgroup-conf --env-merge <text>
  --uidmap --gidmap --health-on-failure --image-volume --pidfile --pod --preserve-fds --requires --retry --retry-delay --sdnotify --secret --systemd --timeout <text>
  --tz --umask --unsetenv <text>`,
    hazard: remote('docker run'),
  },
  {
    ...inside,
    sub: 'exec',
    before,
    options: `
  -d -t -i
  -e -u -w <text>
  --detach --interactive --privileged --tty --latest --help
  --detach-keys --env --env-file --user --workdir --cidfile --preserve-fds --wait <text>`,
    hazard: remote('docker exec'),
  },
  ...composeWraps('compose '),
  ...composeWraps('container '),
]

export function containerPrograms(): ProgramTable {
  const runOptions = `
  --privileged --use-api-socket !widen # gives the container the machine's rights
  -v --volume --mount <mount>
  --device --cap-add --security-opt --volumes-from --device-cgroup-rule --runtime <widen>
  --pid --network --net --ipc --uts --userns --cgroupns <text>
  --env-file <read>
  --gpus <text>
  --cidfile <output>
  -e --env -w --workdir -u --user -p --publish --name --entrypoint -h --hostname -m --memory --cpus -l --label --link <text>
  --restart --platform --pull --log-driver --log-opt --tmpfs --ulimit --shm-size --group-add --add-host --dns --expose --ip <text>
  --stop-signal --stop-timeout --health-cmd --health-interval --memory-swap --cpu-shares --cpuset-cpus --network-alias <text>
  --label-file <read>
  --hooks-dir --init-path --conmon-pidfile --seccomp-policy <widen>
  --pids-limit --annotation --mac-address --oom-score-adj --sysctl --storage-opt --attach -a --detach-keys <text>
`
  const buildOptions = `
  -f --file <read>
  -o --output --iidfile --metadata-file <output>
  --secret --ssh <send>
  --allow --security-opt <widen>
  -t --tag --build-arg --target --platform --cache-from --cache-to --network --label --cgroup-parent --add-host --builder --progress <text>
  --build-context <auto>
  --pull --shm-size --ulimit --memory -m --cpu-shares --attest --sbom --provenance [text]
`
  const running: Spec = { stops: true, abbreviates: false, options: runOptions, operands: 'text*' }
  const inContainer: Spec = {
    stops: true,
    abbreviates: false,
    options:
      "\n  --privileged !widen # gives the command the machine's rights\n  -e --env -w --workdir -u --user --index --detach-keys -c --container -n --namespace <text>\n  --env-file <read>",
    operands: 'text*',
  }
  const building: Spec = { abbreviates: false, options: buildOptions, operands: 'tree' }
  const compose: Spec = {
    abbreviates: false,
    options:
      '\n  -f --file --env-file <read>\n  --project-directory <tree>\n  -p --project-name --profile --ansi --progress --parallel <text>',
    subcommands: {
      run: { ...running },
      exec: inContainer,
      build: { operands: 'text*', options: '\n  --build-arg --progress -m <text>\n  --ssh <send>' },
      cp: { operands: 'text*' },
    },
    operands: 'text*',
  }
  const names: Spec = {
    operands: 'text*',
    abbreviates: false,
    options: '\n  --filter --format --tail --since --until --time --signal <text>',
  }

  const dockerKind: Program = {
    abbreviates: false,
    options: `
  -H --host --url --connection <route>
  -c --context <way>
  --config --tlscacert --tlscert --tlskey --root --runroot <config>
  -l --log-level <text>`,
    subcommands: {
      run: running,
      create: running,
      exec: inContainer,
      container: { subcommands: { run: running, create: running, exec: inContainer }, operands: 'text*' },
      build: building,
      buildx: {
        subcommands: {
          build: building,
          bake: { operands: 'text*', options: '\n  -f --file <read>\n  --set <text>' },
        },
        operands: 'text*',
      },
      image: { subcommands: { build: building }, operands: 'text*' },
      compose,
      cp: { operands: 'text*' },
      save: { options: '\n  -o --output <output>', operands: 'text*' },
      export: { options: '\n  -o --output <output>', operands: 'text*' },
      load: { options: '\n  -i --input <read>' },
      import: { options: '\n  -c --change -m --message <text>', operands: 'auto text' },
      plugin: { always: ['widen', 'changes plugins, which run with the rights of the machine'], operands: 'text*' },
      login: {
        always: ['system', 'stores a credential'],
        operands: 'host',
        options: '\n  -u --username -p --password <text>',
      },
      logout: { always: ['system', 'changes a credential'], operands: 'text' },
      context: {
        subcommands: { ls: {}, list: {}, show: {}, inspect: { operands: 'text*' } },
        otherwise: { always: ['route', 'changes which machine docker talks to'], operands: 'text*' },
      },
      play: { operands: 'text read*' },
      kube: { operands: 'text read*' },
      ps: names,
      images: names,
      logs: names,
      inspect: names,
      stop: names,
      start: names,
      restart: names,
      rm: names,
      rmi: names,
      pull: names,
      push: names,
      tag: names,
      top: names,
      stats: names,
      version: names,
      info: names,
      network: names,
      volume: {
        ...names,
        subcommands: {
          create: {
            options: '\n  -o --opt <widen> # can show a place of the machine\n  -d --driver --label --name <text>',
            operands: 'text',
          },
        },
      },
      system: names,
    },
    otherwise: { operands: 'text*' },
  }
  const dockerComposeKind: Program = compose
  const buildahKind: Program = {
    always: ['widen', 'works on containers with the rights of the machine'],
    operands: 'text*',
  }

  return {
    docker: {
      ...dockerKind,
      wraps: engineWraps,
      effects: `
  remote-read  | pull, search, login, compose pull |  | talks to a container registry
  remote-write | push, compose push, manifest push, stack deploy, service create, service update, swarm, buildx bake |  | changes a container registry or a cluster
  destructive  | system prune, volume rm, volume prune, volume remove, image prune, container prune, builder prune, network prune, service rm, stack rm |  | deletes containers, images or volumes
  destructive  | rm, container rm, compose rm | -v --volumes | deletes the volumes of containers
  remote-write | build, buildx build | --push | pushes an image`,
      rules: [containerRules],
    },
    podman: {
      ...dockerKind,
      wraps: [
        ...engineWraps,
        { sub: 'unshare', options: '\n  --rootless-netns', hazard: privilege('podman unshare'), run: 'words' },
        { sub: 'machine ssh', operands: 1, elsewhere: true, hazard: remote('podman machine ssh'), run: 'joined' },
      ],
      effects: `
  remote-read  | pull, search |  | talks to a container registry
  remote-write | push |  | changes a container registry or a cluster
  destructive  | system prune, volume rm, volume prune |  | deletes containers, images or volumes
  destructive  | rm | -v --volumes | deletes the volumes of containers
  remote-write | build | --push | pushes an image`,
      rules: [containerRules],
    },
    nerdctl: {
      ...dockerKind,
      wraps: engineWraps,
      effects: `
  remote-read  | pull |  | talks to a container registry
  remote-write | push |  | changes a container registry or a cluster`,
      rules: [containerRules],
    },
    'docker-compose podman-compose': {
      ...dockerComposeKind,
      wraps: composeWraps(''),
      effects: `
  remote-read  | pull |  | talks to a container registry
  remote-write | push |  | changes a container registry or a cluster
  destructive  | rm | -v --volumes | deletes the volumes of containers`,
      rules: [containerRules],
    },
    buildah: {
      ...buildahKind,
      effects: `
  remote-write | push |  | publishes a package`,
    },
    skopeo: {
      ...buildahKind,
      effects: `
  remote-read  | inspect |  | talks to a container registry
  remote-write | copy |  | changes a container registry or a cluster
  destructive  | delete |  | deletes containers, images or volumes`,
    },
    'crictl ctr runc crun': buildahKind,
    'lxc incus': {
      ...buildahKind,
      effects: `
  destructive  | delete, rm, image delete, storage delete, network delete |  | deletes a machine`,
    },
    'crane regctl oras': {
      partial: true,
      verbs: {
        at: 'a container registry',
        local: 'version help completion',
        reads: 'manifest digest pull blob catalog',
      },
    },
    nsenter: {
      ...buildahKind,
      wraps: [
        {
          options: `
  -a -F -Z -e -h -V
  -t -S -G -W <text>
  -m -u -i -n -p -C -T -U -r -w [text]
  --all --preserve-credentials --env --no-fork --follow-context --help --version
  --target --setuid --setgid --wdns <text>
  --mount --uts --ipc --net --pid --cgroup --user --time --root --wd [text]`,
          hazard: privilege('nsenter'),
          run: 'words',
        },
      ],
    },
  }
}
