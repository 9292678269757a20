/** Containers, clusters, infrastructure and cloud command lines. */

import type { ProgramTable, Spec } from '../spec.ts'

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

  return {
    'docker podman nerdctl': {
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
    },
    'docker-compose podman-compose': compose,
    'buildah skopeo crictl ctr runc crun nsenter lxc incus': {
      always: ['widen', 'works on containers with the rights of the machine'],
      operands: 'text*',
    },
    'kubectl oc k9s kubectx kubens': {
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
    },
    helm: {
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
    'terraform tofu terragrunt': {
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
    },
    'ansible ansible-playbook ansible-pull ansible-galaxy ansible-console': {
      always: ['run', 'runs commands on machines'],
      operands: 'auto*',
      options:
        '\n  -i --inventory -e --extra-vars --vault-password-file -M --module-path <auto>\n  -m -a -u -l -t <text>',
    },
    'vagrant packer salt puppet chef-client multipass': {
      always: ['run', 'runs commands on machines'],
      operands: 'text*',
    },
    pulumi: {
      abbreviates: false,
      options: '\n  -C --cwd <tree>\n  --config-file <config>\n  -s --stack -c --config -t --target <text>',
      operands: 'text*',
    },
    aws: {
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
    'gcloud gsutil bq az doctl flyctl fly vercel netlify heroku wrangler firebase supabase railway render sst serverless sls cdk sam amplify eb ibmcloud linode-cli hcloud scw vultr-cli oci eksctl argocd flux istioctl vault consul nomad op doppler':
      {
        abbreviates: false,
        everywhere: true,
        options:
          '\n  --config -c --configuration <read>\n  --project --account --region --zone --format --filter -a --app --org -t --token --site --scope --env -e --stage --name -o --output <text>\n  --flags-file <config>',
        operands: 'auto*',
      },
    'gh glab hub': {
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
          options:
            '\n  -F --body-file <read>\n  -w --web !run # starts a browser\n  -e --editor !run # opens an editor',
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
    },
  }
}
