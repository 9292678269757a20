/** Clusters and infrastructure: kubectl, helm, terraform, ansible and their kin. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable, Spec } from '../spec.ts'
import { remote, type Wrap } from '../wrap.ts'

const podOptions = `
  -i -t -q
  -c -n -f -l -o -k <text>
  --image --namespace --context --kubeconfig --restart --env --labels --port --overrides --override-type --output --pod-running-timeout --image-pull-policy --target <text>
  --copy-to --profile --container --filename --custom --set-image <text>
  --rm --stdin --tty --expose --command --quiet --privileged --attach --same-node --replace --keep-labels --keep-annotations
  --dry-run --share-processes [text]`

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
    options: podOptions,
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
    options: podOptions,
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
  local        | config view, config get-contexts, config current-context, config get-clusters, config get-users |  |
  local        | config use-context, config set-context, config use, completion, kustomize, help, plugin, options |  |
  remote-write | get secret, get secrets | -o --output --template | prints secrets
  destructive  | replace | --force | deletes from a cluster`,
      verbs: {
        at: 'a cluster',
        groups: 'rollout config auth',
        writes: 'exec rsh rsync cp port-forward proxy debug expose autoscale certificate',
      },
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
          inspect: true,
          elsewhere: true,
          hazard: remote('oc rsh'),
          run: 'words',
        },
      ],
      effects: `
  remote-read  | get, describe, logs, status, projects, whoami, version, explain |  | reads a cluster`,
      verbs: { at: 'a cluster', groups: 'adm rollout project', local: 'login' },
      rules: [containerRules],
    },
    'k9s kubectx kubens': kubectlKind,
    helm: {
      effects: `
  remote-read  | list, ls, status, get, history, hist, search, show, inspect |  | reads a cluster or a chart repository
  remote-read  | verify, repo list, repo ls, repo update, repo up, dependency list, dependency ls, dep list, dep ls |  | reads a cluster or a chart repository
  remote-write | test |  | runs the test pods of a release
  remote-write | pull, fetch, dependency build, dependency update, dep build, dep up, dep update, repo add |  | fetches charts from elsewhere
  local        | repo index |  |
  local        | template, lint, version, create, package, completion, env, help, plugin list |  |`,
      verbs: { at: 'a cluster' },
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
    'terraform tofu': {
      ...terraformKind,
      effects: `
  remote-write | login, import |  | changes your infrastructure
  remote-read  | plan, init, refresh, output, show, providers, get, state list, state show, state pull |  | reads infrastructure
  remote-read  | workspace list, workspace show, workspace select, modules, metadata |  | reads infrastructure
  local        | fmt, validate, version, graph, console, test |  |
  destructive  | destroy, state rm, state push, state replace-provider, workspace delete, force-unlock |  | deletes infrastructure or its record
  destructive  | apply | -destroy | deletes infrastructure`,
      verbs: { at: 'your infrastructure', groups: 'state workspace', writes: 'taint untaint' },
    },
    terragrunt: {
      ...terraformKind,
      effects: `
  remote-read  | plan, init, refresh, output, show, providers, get, state list, state show, state pull |  | reads infrastructure
  remote-read  | workspace list, workspace show, workspace select, modules, metadata |  | reads infrastructure
  local        | fmt, hclfmt, hcl, render-json, graph-dependencies, validate, version, graph, console, test |  |
  destructive  | destroy, state rm, state push, state replace-provider, workspace delete, force-unlock |  | deletes infrastructure or its record
  destructive  | apply | -destroy | deletes infrastructure`,
      verbs: { at: 'your infrastructure', groups: 'run-all run state workspace stack' },
    },
    'ansible ansible-playbook ansible-pull ansible-console': {
      ...ansibleKind,
      effects: `
  remote-write | * |  | runs commands on machines
  remote-read  | * | --check -C --list-hosts --list-tasks --list-tags --syntax-check | shows what would run on machines`,
    },
    'ansible-galaxy': ansibleKind,
    vagrant: {
      ...vagrantKind,
      effects: `
  destructive  | destroy, box remove |  | deletes a machine
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
    multipass: {
      ...vagrantKind,
      effects: `
  destructive  | delete, purge |  | deletes a machine`,
    },
    'kind k3d': {
      partial: true,
      effects: `
  destructive  | delete cluster, delete clusters, cluster delete, cluster rm, node delete |  | deletes a cluster`,
    },
    'helmfile talosctl': {
      partial: true,
      verbs: {
        at: 'a cluster',
        local: 'version help completion deps repos init cache write-values gen',
        reads: 'dashboard dmesg',
      },
    },
    pulumi: {
      effects: `
  remote-read  | preview, pre, stack ls, stack output, stack export, stack history, stack graph, stack select |  | reads infrastructure
  remote-read  | config get, about, whoami, logs, policy ls, plugin ls, org get-default |  | reads infrastructure
  local        | new, install, convert, gen-completion, version, help, schema, package, stack init |  |
  remote-write | config set, config rm, config set-all |  | changes infrastructure`,
      verbs: { at: 'your infrastructure', groups: 'stack state config policy plugin' },
      abbreviates: false,
      options:
        '\n  -C --cwd <tree>\n  --config-file <config>\n  -s --stack -c --config -t --target <text>\n  --yes -y --skip-preview',
      operands: 'text*',
    },
  }
}
