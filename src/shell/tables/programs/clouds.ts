/** Cloud and deployment command lines. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable, Verbs } from '../spec.ts'
import { remote } from '../wrap.ts'

export function cloudPrograms(): ProgramTable {
  const cloud: Verbs = {
    at: 'a cloud service',
    local:
      'help version completion local dev serve build emulators synth synthesize types generate gen lint fmt doctor telemetry',
  }
  const cloudKind: Program = {
    abbreviates: false,
    everywhere: true,
    options: `
  --config -c --configuration <read>
  --project --account --region --zone --format --filter -a --app --org -t --token --site --scope --env -e --stage --name -o --output <text>
  --subscription --query -g --resource-group -n --namespace --location -l --id --ids --cluster --profile --vault-name --namespaces <text>
  --verbosity --limit --sort-by --page-size --impersonate-service-account --billing-project --configuration --context --server <text>
  --flags-file <config>`,
    operands: 'auto*',
    verbs: cloud,
  }

  return {
    aws: {
      rules: [containerRules],
      everywhere: true,
      options: `
  --endpoint-url <route>
  --ca-bundle <read>
  --cli-input-json --cli-input-yaml <read>
  --profile --region --output --query --query-string --statement --sql --filters --bucket --key --function-name --cli-read-timeout --cli-connect-timeout <text>
  --payload --body --template-body --zip-file <auto>
  --exclude --include --acl --storage-class <text>`,
      subcommands: { configure: { operands: 'text*', always: ['system', 'changes credentials or configuration'] } },
      otherwise: { operands: 'text*' },
      effects: `
  local        | configure, help |  |
  remote-read  | s3 presign, sts get-caller-identity, sts decode-authorization-message |  | reads from a cloud service`,
      verbs: { ...cloud, local: 'configure help', depth: 2 },
    },
    gcloud: {
      ...cloudKind,
      effects: `
  local        | config list, config get, config get-value, config set, config configurations, info, version, help, components list, topic |  |
  local        | auth list, auth configure-docker |  |
  remote-write | auth print-access-token, auth print-identity-token |  | prints a token`,
      verbs: { ...cloud, local: 'help version info', groups: 'beta alpha auth config export import run' },
      rules: [containerRules],
    },
    az: {
      ...cloudKind,
      effects: `
  local        | config, configure, find, version, help, interactive |  |
  local        | devops configure | --list -l |
  remote-write | account get-access-token |  | prints a token`,
      verbs: { ...cloud, local: 'help version', groups: 'run share tag lock' },
      rules: [containerRules],
    },
    'doctl render sst serverless sls cdk sam amplify eb ibmcloud linode-cli hcloud scw vultr-cli oci eksctl flux istioctl openstack aliyun tccli civo exo upctl':
      {
        ...cloudKind,
        dryRuns: '',
        effects: `
  remote-write | watch |  | deploys what changes
  local        | synth, synthesize, init, build, package, validate, print, acknowledge, context, doctor, metadata, local, dev, bind |  |
  remote-read  | diff, logs, bootstrap-info, analyze, proxy-status, proxy-config |  | reads from a cloud service`,
      },
    argocd: {
      ...cloudKind,
      verbs: { ...cloud, local: 'version completion context', groups: 'app cluster repo proj cert' },
    },
    gsutil: {
      ...cloudKind,
      effects: `
  remote-read  | cat, du, hash, ls, stat, version, help, test |  | reads from a cloud service
  destructive  | rsync | -d | deletes what is not in the source`,
    },
    firebase: {
      ...cloudKind,
      effects: `
  local        | emulators:start, emulators:exec, serve, setup:emulators, use, init, help, login:list |  |`,
    },
    netlify: {
      ...cloudKind,
      effects: `
  local        | dev, build, serve, status:hooks, link, unlink, switch, init, help, completion |  |`,
      verbs: { ...cloud, bare: 'remote-write' },
    },
    vercel: {
      ...cloudKind,
      effects: `
  local        | dev, build, link, help, telemetry, switch, init |  |
  remote-read  | env pull, pull, whoami, inspect, list, ls, logs, bisect |  | reads from a cloud service`,
      verbs: { ...cloud, bare: 'remote-write' },
    },
    wrangler: {
      ...cloudKind,
      effects: `
  local        | dev, types, init, docs, build, telemetry, check |  |
  local        | pages dev, d1 migrations create |  |
  remote-write | d1 execute, d1 migrations apply |  | changes a database
  local        | d1 execute, d1 migrations apply, kv, r2 | --local |`,
    },
    supabase: {
      ...cloudKind,
      effects: `
  local        | init, start, stop, status, gen, completion, help, test, services, bootstrap |  |
  local        | migration new, migration list, db diff, db dump, db lint, functions new, functions serve, seed buckets |  |
  remote-read  | db pull, projects list, link, migration fetch |  | reads from a cloud service
  destructive  | db reset |  | deletes a database`,
    },
    vault: {
      ...cloudKind,
      style: 'word',
      options: '\n  -address -namespace -ca-cert -format -field -mount -header -policy -ttl -method -path <text>',
      effects: `
  local        | agent, proxy, server, version, version-history, print, path-help |  |
  remote-read  | status, list, kv list, kv metadata get, secrets list, auth list, policy list, policy read, operator members |  | reads a vault
  remote-write | read, kv get, token, unwrap, login |  | prints or makes a secret`,
      verbs: { at: 'a vault' },
    },
    bq: {
      ...cloudKind,
      effects: `
  remote-read  | ls, show, head, version, help |  | reads a database`,
      verbs: { at: 'a database', writes: 'query load extract mk cp insert', dry: '--dry_run' },
    },
    'flyctl fly': {
      ...cloudKind,
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
          inspect: true,
          elsewhere: true,
          hazard: remote('fly ssh console'),
          run: 'text',
        },
      ],
      rules: [containerRules],
    },
    heroku: {
      ...cloudKind,
      verbs: {
        at: 'a cloud service',
        local: 'local help version autocomplete plugins',
        groups: 'pg redis addons domains dyno ps buildpacks',
      },
      wraps: [
        {
          sub: 'run',
          options: `
  -a -r -s -e <text>
  -x
  --app --remote --size --env --type <text>
  --exit-code --no-tty --listen --no-notify --no-launcher`,
          otherwise: 'shell',
          inspect: true,
          elsewhere: true,
          hazard: remote('heroku run'),
          run: 'joined',
        },
      ],
      rules: [containerRules],
    },
    railway: {
      ...cloudKind,
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
    consul: {
      ...cloudKind,
      verbs: { at: 'a cluster', groups: 'kv acl catalog connect', local: 'agent version validate keygen' },
      wraps: [{ sub: 'exec', inspect: true, elsewhere: true, hazard: remote('consul exec'), run: 'joined' }],
      effects: `
  remote-read  | catalog, members, operator raft list-peers |  | reads a cluster`,
    },
    nomad: {
      ...cloudKind,
      verbs: { at: 'a cluster', groups: 'job node alloc deployment operator acl', local: 'agent version fmt' },
      wraps: [
        {
          sub: 'alloc exec',
          options: `
  -i -t`,
          operands: 1,
          inspect: true,
          elsewhere: true,
          hazard: remote('nomad alloc exec'),
          run: 'words',
        },
      ],
    },
  }
}
