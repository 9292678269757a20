/** Containers: namespaces of the machine, copies, and forge requests. */

import { has, type Rule, usesOf } from '../use.ts'
import { statementsOf } from './databases.ts'

const namespaces: Rule = (use) => {
  for (const option of usesOf(use, '--pid', '--network', '--net', '--ipc', '--uts', '--userns', '--cgroupns')) {
    const text = option.value?.text
    const networkOnly = /^--net/.test(option.name)
    if (text == null || (/^(host|container:.*)$/.test(text) && !(networkOnly && text.startsWith('container:'))))
      use.found.hazard(
        'widens-container',
        `\`${use.program} ${option.name} ${text ?? '…'}\` shares a namespace of the machine`,
        option.span,
      )
  }
}

/** `docker cp a c:/b`: the side without a container is a file of the machine. */
const copy: Rule = (use) => {
  const last = use.operands.length - 1
  use.operands.forEach((arg, index) => {
    if (!/^[A-Za-z0-9][\w.-]*:/.test(arg.text ?? arg.prefix))
      use.found.path(arg, index === last ? 'write' : 'read', true)
  })
}

const composeDown: Rule = (use) => {
  if (use.operands[0]?.text === 'down' && has(use, '-v', '--volumes'))
    use.setEffect('destructive', 'deletes the volumes of containers')
  const verb = use.operands[0]?.text
  if (verb === 'rm' && has(use, '-v')) use.setEffect('destructive', 'deletes the volumes of containers')
}

/** `gh api`: the method decides; a GraphQL query without a mutation only reads. */
const forgeApi: Rule = (use) => {
  const method = usesOf(use, '--method', '-X').at(-1)?.value?.text
  const fields = usesOf(use, '-f', '-F', '--raw-field', '--field')
  if (use.operands[0]?.text === 'graphql') {
    const query = fields.map((option) => option.value?.text).find((text) => text == null || text.startsWith('query='))
    if (query != null && !/\bmutation\b/.test(query)) use.setEffect('remote-read', 'reads from the forge')
    else {
      use.setEffect('remote-write', 'changes something at the forge')
      use.found.hazard('changes-remote', 'the query changes something at the forge', use.span)
    }
    return
  }
  const implied = fields.length > 0 || has(use, '--input') ? 'POST' : 'GET'
  const effective = has(use, '--method', '-X') ? (method ?? 'POST') : implied
  if (/^(GET|HEAD)$/i.test(effective)) use.setEffect('remote-read', 'reads from the forge')
  else use.setEffect('remote-write', 'changes something at the forge')
  if (!/^(GET|HEAD)$/i.test(effective))
    use.found.hazard(
      'changes-remote',
      `\`${use.words.join(' ')}\` with ${effective} changes something at the forge`,
      use.span,
    )
}

/** `gh repo clone x -- …` hands the rest to git. */
const forgeClone: Rule = (use) => {
  const rest = use.operands.slice(use.beforeDashes)
  const name = use.argv[0]
  if (rest.length === 0 || name === undefined) return
  const word = (text: string) => ({ ...name, text, values: [text] })
  use.delegate([word('git'), word('clone'), ...rest.map((arg) => arg.word), word('origin')])
}

/** `kubectl get -o jsonpath-file=x`: a file defines the output. */
const outputFile: Rule = (use) => {
  for (const option of usesOf(use, '-o')) {
    const file = /^(?:go-template-file|jsonpath-file|custom-columns-file|templatefile)=(.+)$/.exec(
      option.value?.text ?? '',
    )?.[1]
    if (file !== undefined) use.found.file(file, 'read', option.span)
  }
}

/** Secrets of a cluster in clear text. */
const clusterSecrets: Rule = (use) => {
  const named = use.operands.some((arg) => /^secrets?(\/|$|,)|,secrets?(,|$)/.test(arg.text ?? ''))
  const shows = usesOf(use, '-o').some((option) =>
    /^(yaml|json|go-template|jsonpath|custom-columns)/.test(option.value?.text ?? ''),
  )
  if (use.words.includes('get') ? named && shows : use.words.includes('config') && has(use, '--raw'))
    use.found.hazard('prints-credential', `\`${use.words.join(' ')}\` prints credentials`, use.span)
}

/** Cloud command lines: credentials that are printed, and sessions on machines. */
const cloudSession: Rule = (use) => {
  const text = use.operands.map((arg) => arg.text ?? '…').join(' ')
  if (/^auth (print-|login|activate|revoke|application-default)|^login\b|^account get-access-token/.test(text))
    use.found.hazard('changes-system', `\`${use.program} ${text}\` prints or changes credentials`, use.span)
  if (/^(compute|alpha cloud-shell|cloud-shell) (ssh|scp|start-iap-tunnel)\b|^vm run-command|^ssh\b/.test(text))
    use.found.hazard('remote-command', `\`${use.program} ${text}\` runs commands on another machine`, use.span)
}

/** `aws s3 cp s3://a b` only reads; `aws s3 sync . s3://a` writes. */
const transfer: Rule = (use) => {
  const words = [...use.words.slice(1), ...use.operands.map((arg) => arg.text)]
  if (words[0] !== 's3' || !/^(cp|sync|mv)$/.test(words[1] ?? '') || has(use, '--dryrun')) return
  const toBucket = /^s3:/.test(words.at(-1) ?? 's3:')
  if (has(use, '--delete') || (words[1] === 'mv' && /^s3:/.test(words[2] ?? 's3:')))
    use.setEffect('destructive', 'deletes from a cloud service what it copied or does not find')
  else if (toBucket) use.setEffect('remote-write', 'uploads to a cloud service')
  else use.setEffect('remote-read', 'downloads from a cloud service')
}

/** A query that only reads changes nothing, however it is started. */
const athena: Rule = (use) => {
  const queries = usesOf(use, '--query-string', '--statement', '--sql').map((option) => option.value?.text ?? 'DROP')
  if (queries.length > 0 && queries.every((query) => statementsOf(query) === 'reads'))
    use.setEffect('remote-read', 'reads from a cloud service')
}

/** `aws s3 cp a s3://b`: the side without a bucket is a file of the machine. */
const bucketCopy: Rule = (use) => {
  transfer(use)
  athena(use)
  const at = use.operands.findIndex((arg) => /^(cp|mv|sync)$/.test(arg.text ?? ''))
  if (use.words[1] !== 's3' || at < 0) return
  const last = use.operands.length - 1
  use.operands.forEach((arg, index) => {
    if (index > at && !/^s3:/.test(arg.text ?? arg.prefix)) use.found.path(arg, index === last ? 'write' : 'read', true)
  })
}

export const containerRules: Readonly<Record<string, Rule>> = {
  'docker run, docker create, docker container run, podman run, podman create, nerdctl run, docker compose run':
    namespaces,
  'docker cp, podman cp, docker compose cp, docker-compose cp, kubectl cp, oc cp': copy,
  'docker build, docker buildx build, docker image build, podman build': namespaces,
  'docker compose, docker-compose, podman-compose': composeDown,
  'gh api, glab api': forgeApi,
  'gh repo clone, glab repo clone': forgeClone,
  'kubectl, oc': (use) => {
    outputFile(use)
    clusterSecrets(use)
  },
  'gcloud, az, flyctl, fly, heroku': cloudSession,
  aws: bucketCopy,
}
