/** Cloud and deployment command lines. */

import { containerRules } from '../rules/containers.ts'
import type { Program, ProgramTable } from '../spec.ts'
import { controls, remote } from '../wrap.ts'

export function cloudPrograms(): ProgramTable {
  const gcloudKind: Program = {
    abbreviates: false,
    everywhere: true,
    options:
      '\n  --config -c --configuration <read>\n  --project --account --region --zone --format --filter -a --app --org -t --token --site --scope --env -e --stage --name -o --output <text>\n  --flags-file <config>',
    operands: 'auto*',
  }

  return {
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
  }
}
