/** Clusters and infrastructure: kubectl, helm, terraform, ansible and their kin. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { remote, type Wrap } from '../wrap.ts'

const clusterWraps: readonly Wrap[] = [
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
]

export function clusterPrograms(): ProgramTable {
  const inContainer: Spec = {
    stops: true,
    abbreviates: false,
    options:
      "\n  --privileged !widen # gives the command the machine's rights\n  -e --env -w --workdir -u --user --index --detach-keys -c --container -n --namespace <text>\n  --env-file <read>",
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

  return {
    kubectl: {
      ...kubectlKind,
      wraps: clusterWraps,
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
        ...clusterWraps,
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
  }
}
