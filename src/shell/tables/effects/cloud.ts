/** Effects of cloud and deployment command lines, by the verb among their words. */

import type { Effect, Use } from '../use.ts'

const clouds: ReadonlySet<string> = new Set(
  (
    'aws gcloud gsutil bq az doctl flyctl fly vercel netlify heroku wrangler firebase supabase railway render sst serverless sls cdk ' +
    'sam amplify eb ibmcloud linode-cli hcloud scw vultr-cli oci eksctl argocd flux istioctl vault consul nomad doppler'
  ).split(' '),
)

const local =
  /^(help|version|--version|--help|configure|config|completion|init|local|dev|serve|build|start|stop|emulators.*|login|logout|auth|whoami|synth|synthesize|ls-local|types|generate|gen|link|unlink|test|lint|validate|fmt|doctor|new|create-app|plugins|telemetry|info|open)$/
const reads =
  /^(ls|list|list-.*|describe|describe-.*|get|get-.*|head-.*|show|view|status|logs|log|tail|inspect|search|search-.*|lookup-.*|scan|query|read|cat|du|stat|presign|wait|diff|plan|whoami|info|batch-get-.*|filter-log-events|export|env:list|ps|releases|check|check-.*|simulate-.*|estimate-.*|preview|history|events|top|health|apps:info|config:get|logs:tail|domains|regions|pull)$/
const deletes =
  /^(rm|rb|delete|delete-.*|destroy|remove|remove-.*|terminate|terminate-.*|purge|purge-.*|drop|reset|undeploy|deregister-.*|cancel-.*|.*:destroy|.*:delete|.*:remove|batch-delete-.*|prune|wipe)$/

/** The effect of a cloud command line; null for other programs. */
export function cloudEffect(use: Use): readonly [Effect, string] | null {
  if (!clouds.has(use.program)) return null
  const words = [...use.words.slice(1), ...use.operands.map((arg) => arg.text ?? '')].filter((word) =>
    /^[a-z][\w:-]*$/.test(word),
  )
  if (use.options.some((option) => /^--(version|help|dry-run|dryrun)$/.test(option.name)))
    return ['remote-read', 'reads from a cloud service']
  // Groups come before the verb (`gcloud compute instances list`), names after it: the first verb that is known decides.
  for (const word of words) {
    if (deletes.test(word)) return ['destructive', 'deletes something at a cloud service']
    if (use.program === 'aws' && /^(cp|sync|mv)$/.test(word)) return transfer(use)
    if (reads.test(word)) return ['remote-read', 'reads from a cloud service']
  }
  if (words.length > 0 && local.test(words[0] ?? '') && use.program !== 'aws') return ['local', '']
  if (words[0] === 'configure') return ['local', '']
  if (words.length === 0 && !['vercel', 'netlify'].includes(use.program)) return ['local', '']
  return ['remote-write', 'changes something at a cloud service']
}

/** `aws s3 cp s3://a b` only reads; `aws s3 sync . s3://a` writes. */
function transfer(use: Use): readonly [Effect, string] {
  const last = use.operands.at(-1)?.text ?? 's3://'
  if (!last.startsWith('s3://')) return ['remote-read', 'downloads from a cloud service']
  const deletesToo = use.options.some((option) => option.name === '--delete')
  return [deletesToo ? 'destructive' : 'remote-write', 'uploads to a cloud service']
}
