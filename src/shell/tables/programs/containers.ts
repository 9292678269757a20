/** Containers, clusters, infrastructure and cloud command lines. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { controls, privilege, remote } from '../wrap.ts'

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

  const terraform: Spec = {
    style: 'word',
    options: `
  -chdir <tree>
  -plugin-dir -from-module <load>
  -var-file -state <read>
  -out -state-out -backup <write>
  -backend-config <auto>
  -var -target -replace -lock-timeout -parallelism <text>
  -input -lock -refresh -auto-approve -upgrade -reconfigure [text]
`,
    operands: 'auto*',
  }

  const dockerKind: Program = {
    abbreviates: false,
    options: `
  -H --host -c --context --url --connection <route>
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
  const kubectlKind: Program = {
    abbreviates: false,
    everywhere: true,
    options: `
  --kubeconfig <config>
  -s --server --proxy-url <route>
  --certificate-authority --client-certificate --client-key <read>
  --context --cluster -n --namespace --user --token --as --as-group -o --output -l --selector -c --container --field-selector <text>
  --tail --since --replicas --image --timeout --sort-by --type -p --patch --from-literal --port --overrides --for --limits <text>
  -f --filename -k --kustomize --patch-file --from-file --from-env-file <read>
  --cache-dir --profile-output <write>
  --request-timeout -v --template --max <text>
  --cascade --dry-run [text]`,
    subcommands: {
      exec: inContainer,
      edit: { always: ['run', 'opens an editor'], operands: 'text*' },
      config: { operands: 'text*', options: '\n  --exec-command --exec-arg --exec-env <run>' },
      plugin: { operands: 'text*' },
      krew: { always: ['load', 'installs plugins'], operands: 'text*' },
      cp: { operands: 'text*' },
      kustomize: {
        options: '\n  --enable-exec --enable-alpha-plugins --enable-star !run\n  -o --output <output>',
        operands: 'auto',
      },
    },
    otherwise: { operands: 'text*' },
  }
  const terraformKind: Program = {
    ...terraform,
    everywhere: true,
    subcommands: {
      console: { always: ['code', 'evaluates expressions against the state'], style: 'word' },
      login: { always: ['system', 'stores a credential'], style: 'word', operands: 'text*' },
      fmt: {
        style: 'word',
        options: '\n  -check\n  -diff\n  -recursive',
        operands: 'grow*',
        operandsWith: { '-check': 'tree*' },
      },
      providers: { style: 'word', subcommands: { mirror: { style: 'word', operands: 'grow' } }, operands: 'text*' },
    },
    otherwise: { style: 'word', operands: 'auto*' },
  }
  const ansibleKind: Program = {
    always: ['run', 'runs commands on machines'],
    operands: 'auto*',
    options:
      '\n  -i --inventory -e --extra-vars --vault-password-file -M --module-path <auto>\n  -m -a -u -l -t <text>',
  }
  const vagrantKind: Program = {
    always: ['run', 'runs commands on machines'],
    operands: 'text*',
  }
  const gcloudKind: Program = {
    abbreviates: false,
    everywhere: true,
    options:
      '\n  --config -c --configuration <read>\n  --project --account --region --zone --format --filter -a --app --org -t --token --site --scope --env -e --stage --name -o --output <text>\n  --flags-file <config>',
    operands: 'auto*',
  }
  const ghKind: Program = {
    abbreviates: false,
    everywhere: true,
    options: `
  -R --repo --json -q --jq --template -b --body -t --title -B --base -H --head --label -l --assignee -a --milestone <text>
  --reviewer --state -L --limit --author -A --search -S --sort --order --env --org --user --hostname --ref --comment <text>
  --message --description --notes --target --method --header --cache --preview --job --workflow --interval --subject <text>
  --match-head-commit --author-email --commit --branch --project <text>
  --color --log-failed [text]
  --input --body-file --notes-file --env-file <send>
  -D --dir --output <output>
  --clobber
  --web !run # starts a browser
  --editor !run # opens an editor`,
    subcommands: {
      alias: {
        subcommands: {
          list: {},
          set: { always: ['system', 'adds a command that can run a shell'], operands: 'text*' },
          import: { always: ['system', 'adds commands that can run a shell'], operands: 'read' },
        },
        operands: 'text*',
      },
      extension: {
        subcommands: { list: {}, search: { operands: 'text*' } },
        always: ['load', 'changes or runs extensions'],
        operands: 'text*',
      },
      config: {
        subcommands: {
          get: { operands: 'text*' },
          list: {},
          set: { always: ['system', 'changes configuration that can run programs'], operands: 'text*' },
        },
      },
      auth: {
        subcommands: {
          status: { options: '\n  -t --show-token !system # prints a credential' },
          token: { always: ['system', 'prints a credential'] },
        },
        always: ['system', 'changes or shows credentials'],
        operands: 'text*',
      },
      'ssh-key': { operands: 'text auto*' },
      gist: {
        subcommands: {
          create: { always: ['send', 'uploads files'], operands: 'read*' },
          edit: { operands: 'text*', options: '\n  --add -a <send>' },
        },
        operands: 'text*',
      },
      release: {
        subcommands: {
          upload: { operands: 'text read*' },
          create: {
            operands: 'text read*',
            options: '\n  -F --notes-file <send>\n  -n --notes -t --title --target <text>',
          },
          download: { operands: 'text*', options: '\n  -O --output <output>\n  -p --pattern -A <text>' },
        },
        operands: 'text*',
      },
      secret: { operands: 'text*', options: '\n  -f --env-file <send>\n  -b --body -a --app -e --env <text>' },
      attestation: { operands: 'text auto*' },
      browse: { always: ['run', 'starts a browser'], operands: 'text*' },
      codespace: { always: ['route', 'opens a session on another machine'], operands: 'text*' },
      cs: { always: ['route', 'opens a session on another machine'], operands: 'text*' },
      repo: { subcommands: { clone: { operands: 'text grow' } }, operands: 'text*' },
      pr: { operands: 'text*', options: '\n  -F --body-file <read>\n  -w --web !run # starts a browser' },
      mr: { operands: 'text*' },
      issue: {
        operands: 'text*',
        options: '\n  -F --body-file <read>\n  -w --web !run # starts a browser\n  -e --editor !run # opens an editor',
      },
      run: { operands: 'text*', options: '\n  -n --name <text>\n  -D --dir <write>' },
      api: {
        operands: 'text*',
        options:
          '\n  -F --field <form>\n  -f --raw-field <text>\n  -X --method -H --header -p --preview -q --jq -t --template <text>',
      },
      workflow: { operands: 'text*', options: '\n  -F --field <form>\n  -f --raw-field <text>' },
    },
    otherwise: { operands: 'text*' },
  }

  return {
    docker: {
      ...dockerKind,
      wraps: [
        {
          sub: 'run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
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
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('docker run'),
          run: 'words',
        },
        {
          sub: 'exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -t -i
  -e -u -w <text>
  --detach --interactive --privileged --tty --latest --help
  --detach-keys --env --env-file --user --workdir --cidfile --preserve-fds --wait <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          elsewhere: true,
          hazard: remote('docker exec'),
          run: 'words',
        },
        {
          sub: 'compose exec',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'container exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'compose run',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
        {
          sub: 'container run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
      ],
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
        {
          sub: 'run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
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
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('docker run'),
          run: 'words',
        },
        {
          sub: 'exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -t -i
  -e -u -w <text>
  --detach --interactive --privileged --tty --latest --help
  --detach-keys --env --env-file --user --workdir --cidfile --preserve-fds --wait <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          elsewhere: true,
          hazard: remote('docker exec'),
          run: 'words',
        },
        {
          sub: 'compose exec',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'container exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'compose run',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
        {
          sub: 'container run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
        {
          sub: 'unshare',
          options: `
  --rootless-netns`,
          hazard: privilege('podman unshare'),
          run: 'words',
        },
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
      wraps: [
        {
          sub: 'run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
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
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('docker run'),
          run: 'words',
        },
        {
          sub: 'exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -t -i
  -e -u -w <text>
  --detach --interactive --privileged --tty --latest --help
  --detach-keys --env --env-file --user --workdir --cidfile --preserve-fds --wait <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          elsewhere: true,
          hazard: remote('docker exec'),
          run: 'words',
        },
        {
          sub: 'compose exec',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'container exec',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'compose run',
          before: `
  -D
  -H -c -l -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
        {
          sub: 'container run',
          before: `
  -D
  -H -c -l <text>
  --context --host --log-level --config <text>
  --debug`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
      ],
      effects: `
  remote-read  | pull |  | talks to a container registry
  remote-write | push |  | changes a container registry or a cluster`,
      rules: [containerRules],
    },
    'docker-compose': {
      ...dockerComposeKind,
      wraps: [
        {
          sub: 'exec',
          before: `
  -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'run',
          before: `
  -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
      ],
      effects: `
  remote-read  | pull |  | talks to a container registry
  remote-write | push |  | changes a container registry or a cluster
  destructive  | rm | -v --volumes | deletes the volumes of containers`,
      rules: [containerRules],
    },
    'podman-compose': {
      ...dockerComposeKind,
      wraps: [
        {
          sub: 'exec',
          before: `
  -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose exec'),
          run: 'words',
        },
        {
          sub: 'run',
          before: `
  -f -p <text>
  --file --project-name --profile --env-file --project-directory --ansi --progress --parallel <text>
  --compatibility --dry-run`,
          options: `
  -d -T -i -t
  -e -u -w -p -v -l <text>
  --detach --interactive --no-tty --no-TTY --tty --privileged --rm --service-ports --no-deps --build --quiet --quiet-pull --quiet-build --remove-orphans
  --use-aliases
  --env --env-file --env-from-file --index --user --workdir --name --volume --publish --entrypoint --label --cap-add --cap-drop --pull <text>`,
          operands: 1,
          stops: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('compose run'),
          run: 'words',
        },
      ],
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
    'crictl ctr runc crun lxc incus': buildahKind,
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
    kubectl: {
      ...kubectlKind,
      wraps: [
        {
          sub: 'exec',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f <text>
  --stdin --tty --quiet
  --container --namespace --context --kubeconfig --filename --pod-running-timeout <text>`,
          afterDashes: true,
          inspect: true,
          elsewhere: true,
          hazard: remote('kubectl exec'),
          run: 'words',
        },
        {
          sub: 'run',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f -l -o -k <text>
  --image --namespace --context --kubeconfig --restart --env --labels --port --overrides --override-type --output --pod-running-timeout --image-pull-policy --target <text>
  --copy-to --profile --container --filename --custom --set-image <text>
  --rm --stdin --tty --expose --command --quiet --privileged --attach --same-node --replace --keep-labels --keep-annotations
  --dry-run --share-processes [text]`,
          afterDashes: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('kubectl run'),
          run: 'words',
        },
        {
          sub: 'debug',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f -l -o -k <text>
  --image --namespace --context --kubeconfig --restart --env --labels --port --overrides --override-type --output --pod-running-timeout --image-pull-policy --target <text>
  --copy-to --profile --container --filename --custom --set-image <text>
  --rm --stdin --tty --expose --command --quiet --privileged --attach --same-node --replace --keep-labels --keep-annotations
  --dry-run --share-processes [text]`,
          afterDashes: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('kubectl debug'),
          run: 'words',
        },
      ],
      effects: `
  remote-read  | get, describe, logs, top, explain, api-resources, api-versions, version, cluster-info, diff |  | reads a cluster
  remote-read  | auth, wait, events, rollout status, rollout history |  | reads a cluster
  remote-write | * |  | changes a cluster
  local        | config, completion, kustomize, help, plugin |  |
  destructive  | delete, drain |  | deletes from a cluster
  destructive  | replace | --force | deletes from a cluster`,
      rules: [containerRules],
    },
    oc: {
      ...kubectlKind,
      wraps: [
        {
          sub: 'exec',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f <text>
  --stdin --tty --quiet
  --container --namespace --context --kubeconfig --filename --pod-running-timeout <text>`,
          afterDashes: true,
          inspect: true,
          elsewhere: true,
          hazard: remote('kubectl exec'),
          run: 'words',
        },
        {
          sub: 'run',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f -l -o -k <text>
  --image --namespace --context --kubeconfig --restart --env --labels --port --overrides --override-type --output --pod-running-timeout --image-pull-policy --target <text>
  --copy-to --profile --container --filename --custom --set-image <text>
  --rm --stdin --tty --expose --command --quiet --privileged --attach --same-node --replace --keep-labels --keep-annotations
  --dry-run --share-processes [text]`,
          afterDashes: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('kubectl run'),
          run: 'words',
        },
        {
          sub: 'debug',
          before: `
  -n -s <text>
  --namespace --context --kubeconfig --cluster --user <text>`,
          options: `
  -i -t -q
  -c -n -f -l -o -k <text>
  --image --namespace --context --kubeconfig --restart --env --labels --port --overrides --override-type --output --pod-running-timeout --image-pull-policy --target <text>
  --copy-to --profile --container --filename --custom --set-image <text>
  --rm --stdin --tty --expose --command --quiet --privileged --attach --same-node --replace --keep-labels --keep-annotations
  --dry-run --share-processes [text]`,
          afterDashes: true,
          inspect: true,
          image: true,
          elsewhere: true,
          hazard: remote('kubectl debug'),
          run: 'words',
        },
        {
          sub: 'rsh',
          options: `
  -c -n <text>
  -T -t`,
          operands: 1,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('oc rsh'),
          run: 'words',
        },
      ],
      effects: `
  remote-read  | get, describe, logs, status |  | reads a cluster
  remote-write | * |  | changes a cluster
  destructive  | delete |  | deletes from a cluster`,
      rules: [containerRules],
    },
    'k9s kubectx kubens': kubectlKind,
    helm: {
      effects: `
  remote-read  | list, ls, status, get, history, search, show, pull, repo, dependency |  | reads a cluster or a chart repository
  remote-read  | verify |  | reads a cluster or a chart repository
  local        | template, lint, version, create, package, completion, env, help |  |
  remote-write | * |  | changes a cluster
  destructive  | uninstall, delete, un, del |  | deletes from a cluster`,
      abbreviates: false,
      everywhere: true,
      options: `
  --post-renderer --post-renderer-args <run>
  --kubeconfig --registry-config --repository-config <config>
  -f --values --set-file --ca-file --cert-file --key-file <read>
  -d --destination --output-dir <write>
  --repo <route>
  -n --namespace --set --set-string --version --timeout -o --output --kube-context --description <text>`,
      subcommands: { plugin: { always: ['load', 'changes plugins'], operands: 'text*' } },
      otherwise: { operands: 'text auto*' },
    },
    terraform: {
      ...terraformKind,
      effects: `
  remote-read  | plan, init, refresh, output, show, providers, get, state list, state show, state pull |  | reads infrastructure
  remote-read  | workspace list, workspace show |  | reads infrastructure
  local        | fmt, validate, version, graph, console, test |  |
  remote-write | * |  | changes infrastructure
  destructive  | destroy, state rm, workspace delete, force-unlock, state push |  | deletes infrastructure or its record
  destructive  | apply | -destroy | deletes infrastructure`,
    },
    tofu: {
      ...terraformKind,
      effects: `
  remote-read  | plan, init, output, show |  | reads infrastructure
  local        | fmt, validate, version |  |
  remote-write | * |  | changes infrastructure
  destructive  | destroy, state rm |  | deletes infrastructure or its record
  destructive  | apply | -destroy | deletes infrastructure`,
    },
    terragrunt: {
      ...terraformKind,
      effects: `
  remote-read  | plan, init, output |  | reads infrastructure
  remote-write | * |  | changes infrastructure
  destructive  | destroy |  | deletes infrastructure or its record
  destructive  | apply | -destroy | deletes infrastructure`,
    },
    'ansible ansible-playbook ansible-pull ansible-console': {
      ...ansibleKind,
      effects: `
  remote-write | * |  | runs commands on machines`,
    },
    'ansible-galaxy': ansibleKind,
    vagrant: {
      ...vagrantKind,
      effects: `
  remote-write | ssh |  | runs commands on machines`,
    },
    packer: {
      ...vagrantKind,
      effects: `
  remote-write | build |  | runs commands on machines`,
    },
    'salt puppet chef-client': {
      ...vagrantKind,
      effects: `
  remote-write | * |  | runs commands on machines`,
    },
    multipass: vagrantKind,
    pulumi: {
      effects: `
  remote-read  | preview, stack, config, about, whoami, logs |  | reads infrastructure
  remote-write | up, import, refresh, cancel |  | changes infrastructure
  destructive  | destroy, stack rm, state delete |  | deletes infrastructure`,
      abbreviates: false,
      options: '\n  -C --cwd <tree>\n  --config-file <config>\n  -s --stack -c --config -t --target <text>',
      operands: 'text*',
    },
    aws: {
      rules: [containerRules],
      abbreviates: false,
      everywhere: true,
      options: `
  --endpoint-url <route>
  --ca-bundle <read>
  --cli-input-json --cli-input-yaml <read>
  --profile --region --output --query --filters --bucket --key --function-name --cli-read-timeout --cli-connect-timeout <text>
  --payload --body --template-body --zip-file <auto>
  --exclude --include --acl --storage-class <text>`,
      subcommands: { configure: { operands: 'text*', always: ['system', 'changes credentials or configuration'] } },
      otherwise: { operands: 'text*' },
    },
    'gcloud az': { ...gcloudKind, rules: [containerRules] },
    'gsutil doctl vercel netlify wrangler firebase supabase render sst serverless sls cdk sam amplify eb ibmcloud linode-cli hcloud scw vultr-cli oci eksctl argocd flux istioctl vault':
      gcloudKind,
    bq: {
      ...gcloudKind,
      effects: `
  remote-write | * |  | changes a database`,
    },
    'flyctl fly': {
      ...gcloudKind,
      wraps: [
        {
          sub: 'ssh console',
          options: `
  -C <shell>
  -a -r -u -A -o <text>
  -s -q
  --command <shell>
  --app --region --user --address --machine --container --org --process-group <text>
  --select --quiet --pty`,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('fly ssh console'),
          run: 'text',
        },
      ],
      rules: [containerRules],
    },
    heroku: {
      ...gcloudKind,
      wraps: [
        {
          sub: 'run',
          options: `
  -a -r -s -e <text>
  -x
  --app --remote --size --env --type <text>
  --exit-code --no-tty --listen --no-notify --no-launcher`,
          otherwise: 'shell',
          elsewhere: true,
          hazard: remote('heroku run'),
          run: 'joined',
        },
      ],
      rules: [containerRules],
    },
    railway: {
      ...gcloudKind,
      wraps: [
        {
          sub: 'run',
          options: `
  -s -e -p <text>
  --service --environment --project <text>`,
          run: 'words',
        },
      ],
    },
    consul: { ...gcloudKind, wraps: [{ sub: 'exec', elsewhere: true, hazard: remote('consul exec'), run: 'joined' }] },
    nomad: {
      ...gcloudKind,
      wraps: [
        {
          sub: 'alloc exec',
          options: `
  -i -t`,
          operands: 1,
          elsewhere: true,
          hazard: remote('nomad alloc exec'),
          run: 'words',
        },
      ],
    },
    'op doppler': { ...gcloudKind, wraps: controls },
    gh: {
      ...ghKind,
      effects: `
  local        | auth, config, alias, completion, help, extension |  |
  remote-read  | pr view, pr list, pr diff, pr checks, pr status, pr checkout, issue view, issue list, issue status, repo view |  | reads from the forge
  remote-read  | repo list, repo clone, run view, run list, run watch, run download, release view, release list, release download, workflow view |  | reads from the forge
  remote-read  | workflow list, search, gist view, gist list, gist clone, label list, cache list, secret list, variable list, variable get |  | reads from the forge
  remote-read  | project view, project list, project item-list, project field-list, ruleset, org list, status, attestation, browse, ssh-key list |  | reads from the forge
  remote-read  | gpg-key list, licenses, repo autolink list |  | reads from the forge
  remote-write | pr, issue, repo, run, release, workflow, gist, label, cache, secret |  | changes something at the forge
  remote-write | variable, project, ssh-key, gpg-key, codespace, cs, api |  | changes something at the forge
  destructive  | ruleset delete, repo delete, release delete, issue delete, gist delete, run delete, cache delete, label delete, secret delete, variable delete |  | deletes something at the forge
  destructive  | project delete, codespace delete, release delete-asset |  | deletes something at the forge`,
      rules: [containerRules],
    },
    glab: {
      ...ghKind,
      effects: `
  local        | auth, config, alias, completion, help |  |
  remote-read  | mr view, mr list, mr diff, mr checkout, mr issues, mr approvers, issue view, issue list, repo view, repo clone |  | reads from the forge
  remote-read  | repo list, repo search, ci view, ci list, ci status, ci get, ci trace, ci lint, release view, release list |  | reads from the forge
  remote-read  | release download, label list, variable list, variable get, snippet view, pipeline list |  | reads from the forge
  remote-write | mr, issue, repo, ci, release, label, variable, snippet, pipeline, api |  | changes something at the forge
  remote-write | ssh-key, schedule |  | changes something at the forge
  destructive  | mr delete, issue delete, repo delete, release delete, label delete, variable delete, ci delete |  | deletes something at the forge`,
      rules: [containerRules],
    },
    hub: {
      ...ghKind,
      effects: `
  remote-write | pull-request, create, fork, release create, issue create, merge, push, sync, delete |  | changes something at the forge`,
    },
  }
}
