/**
 * What kind of change elsewhere a command is, as words that a grant can hold (`git push origin:kind`): the same change with other texts,
 * numbers and branches is of the same kind; one that forces, deletes, publishes or goes elsewhere is of none.
 */

import { posix } from 'node:path'
import type { Arg } from './options.ts'
import { onlyLooks } from './remote-reads.ts'
import { has, type Rule, type Use, usesOf } from './use.ts'

/** A branch, a tag or HEAD; `+x` forces and `:x` deletes. `$(git branch --show-current)` prints one. */
function isPlainRef(arg: Arg): boolean {
  if (arg.text === null)
    return /^"?\$\(git (?:branch --show-current|rev-parse --abbrev-ref HEAD)\)"?$/.test(arg.word.text)
  return /^[\w][\w./@{}~^-]*(?::[\w][\w./-]*)?$/.test(arg.text)
}

const push: Rule = (use) => {
  const [remote, ...refs] = use.operands
  if (
    use.options.some(({ name }) =>
      /^(-f|-d|--(force|delete|mirror|prune|exec|receive-pack|repo|push-option))/.test(name),
    )
  )
    return
  const name = remote === undefined ? 'origin' : remote.text
  if (name === null || !/^[\w][\w.-]*$/.test(name) || !refs.every(isPlainRef)) return
  use.setKind(['git', 'push', name])
}

/** Verbs of a forge that add to a conversation or start a check, and can be taken back there. */
const talking = /^(create|comment|note|edit|update|reopen|close|ready|review|rerun|develop|status)$/
const groups = /^(pr|mr|issue|run|discussion|label)$/

const forge: Rule = (use) => {
  const [group, verb] = [...use.words.slice(1), ...use.operands.map((arg) => arg.text)]
  if (group == null || verb == null || !groups.test(group) || !talking.test(verb)) return
  if (has(use, '--delete-last', '--delete-branch', '-d', '--web', '-w', '--editor', '-e')) return
  const repository = usesOf(use, '-R', '--repo').at(-1)?.value
  if (repository === undefined) use.setKind([use.program, group, verb])
  else if (repository?.text != null && /^[\w./-]+$/.test(repository.text))
    use.setKind([use.program, group, verb, '--repo', repository.text])
}

/** `gh api repos/o/r/pulls/1/comments`: what is posted where, whatever its number is. */
const api: Rule = (use) => {
  const path = use.operands.find((arg) => arg.text !== 'api')?.text
  if (path == null || has(use, '--input', '--hostname')) return
  const fields = usesOf(use, '-f', '-F', '--raw-field', '--field')
  if (fields.some(({ value }) => /^[^=]*=@/.test(value?.text ?? value?.prefix ?? '='))) return
  if (path === 'graphql') {
    const names = mutations(fields.map(({ value }) => value?.text ?? null))
    if (names !== null) use.setKind([use.program, 'api', 'graphql', ...names])
    return
  }
  const method = usesOf(use, '-X', '--method').at(-1)?.value?.text ?? 'POST'
  if (!/^POST$/i.test(method)) return
  const posts = /^\/?repos\/[\w.-]+\/[\w.-]+\/(?:pulls|issues)\/\d+\/(?:comments(?:\/\d+\/replies)?|reactions|labels)$/
  if (posts.test(path)) use.setKind([use.program, 'api', path.replace(/^\//, '').replace(/\/\d+(?=\/|$)/g, '/N')])
}

/** The mutations of a query, when they only work on threads of a review. */
function mutations(fields: readonly (string | null)[]): readonly string[] | null {
  const query = fields.find((field) => field === null || field.startsWith('query='))
  if (query == null || !/\bmutation\b/.test(query)) return null
  const names = [...query.matchAll(/(?:^|[\s{:])([a-z]\w*)\s*\(\s*input\s*:/g)].map((match) => match[1] ?? '')
  const known =
    /^(resolveReviewThread|unresolveReviewThread|addPullRequestReviewThreadReply|addComment|minimizeComment|addReaction)$/
  return names.length > 0 && names.every((name) => known.test(name)) ? [...new Set(names)].sort() : null
}

/** `ssh host 'ls; docker compose logs'`: looking around on that machine, whatever is looked at. */
const remoteLook: Rule = (use) => {
  const [host, ...words] = use.operands
  const calm = use.options.every(
    ({ name, value }) =>
      /^-[46CnqTtvpli]$/.test(name) ||
      (name === '-o' &&
        /^(?:(?:BatchMode|ConnectTimeout|LogLevel|ServerAlive\w+|IdentitiesOnly)=\w+|StrictHostKeyChecking=(?:yes|accept-new))$/.test(
          value?.text ?? '',
        )),
  )
  const keys = usesOf(use, '-i').map(({ value }) => value?.text ?? null)
  if (keys.length > 1 || keys.some((key) => key === null || posix.normalize(key) !== key || !key.startsWith('/')))
    return
  if (!calm || host?.text == null || !/^[\w][\w.@-]*$/.test(host.text) || words.some((word) => word.text === null))
    return
  const port = usesOf(use, '-p', '-l').map(({ name, value }) => `${name}${value?.text ?? '?'}`)
  if (onlyLooks(words.map((word) => word.text).join(' ')))
    use.setKind(['ssh', ...keys.flatMap((key) => ['-i', key!]), ...port, host.text, 'reads'])
}

/** Rules that name the kind of a change. */
export const kindRules: Readonly<Record<string, Rule>> = {
  'git push': push,
  ssh: remoteLook,
  'gh, glab': (use: Use) => {
    if (use.words[1] === 'api' || use.operands[0]?.text === 'api') api(use)
    else forge(use)
  },
}
