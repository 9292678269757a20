/**
 * Names the kind of a remote change as words that a grant can contain (`git push origin:kind`).
 * Other texts, numbers and branches are the same kind. A change that forces, deletes or publishes
 * has no kind.
 */

import { posix } from 'node:path'
import { secretShape } from '../../files/secret-shapes.ts'
import type { Arg } from './options.ts'
import { has, type Rule, type Use, usesOf } from './use.ts'

/** Prefixes of a part of the text, and what the part must not contain. */
const looks: readonly (readonly [begins: RegExp, never?: RegExp])[] = [
  [
    /^(?:ls|cat|head|tail|grep|egrep|zgrep|wc|df|du|stat|file|ps|pgrep|readlink|realpath|which|sha256sum|md5sum)(?: |$)/,
  ],
  [
    /^(?:pwd|whoami|uptime|true|free(?: -\w+)*|uname(?: -\w+)*|id(?: -\w+)*|nproc|hostname(?: -[fI])?|date(?: \+\S+)?)$/,
  ],
  [/^(?:cd|echo|test|\[)(?: |$)/],
  [/^find /, /-(?:exec|ok|delete|fprint|fls)/],
  [/^docker(?: compose)?(?: -[fp] \S+)* (?:ps|logs|images|top|stats|port|version)(?: |$)/],
  [/^systemctl (?:status|is-active|is-enabled|list-units|list-timers|show|cat)(?: |$)/],
  [/^journalctl(?: |$)/, /--(?:vac|rot|fl|sy|rel|smart|set|upd|cursor-f)/],
]

/** True when every part of the text only reads. Substitutions, variables, escapes and redirects to files make it something else, and so does a file that looks like a secret. */
export function onlyLooks(text: string): boolean {
  const bare = withoutQuotes(text)?.replace(/ ?2>(?:&1|\/dev\/null)(?=[\s;|]|$)/g, '')
  if (bare === undefined || bare.trim() === '' || /[$`\\<>(){}\r\0!]/.test(bare)) return false
  const parts = bare.split(/&&|\|\||[;|\n]/).map((part) => part.trim())
  return parts.every(
    (part) =>
      part !== '' && !part.includes('&') && looks.some(([begins, never]) => begins.test(part) && !never?.test(part)),
  )
}

/** The text with `_` for each harmless quoted character; undefined if anything else is quoted. */
function withoutQuotes(text: string): string | undefined {
  let bare = ''
  for (let at = 0; at < text.length; at++) {
    const quote = text[at]
    if (quote !== "'" && quote !== '"') {
      bare += quote
      continue
    }
    const end = text.indexOf(quote, at + 1)
    const inside = end < 0 ? null : text.slice(at + 1, end)
    if (inside === null || inside.includes('\n') || (quote === '"' && /[$`\\!]/.test(inside))) return
    bare += inside.replace(/[^\w./=:,-]/g, '_')
    at = end
  }
  return bare.split(/[\s;|&=]+/).some(mayBeSecret) ? undefined : bare
}

/** A pattern for hidden files, or for several folders, may match a secret. */
function mayBeSecret(word: string): boolean {
  return secretShape(word) !== null || /(?:^|\/)\.[^/]*[*?[]|[*?[][^/]*\//.test(word)
}

/** A branch, a tag or HEAD; `+x` forces and `:x` deletes. `$(git branch --show-current)` prints one. */
function isPlainRef(arg: Arg): boolean {
  if (arg.text === null)
    return /^"?\$\(git (?:branch --show-current|rev-parse --abbrev-ref HEAD)\)"?$/.test(arg.word.text)
  return /^[\w][\w./@{}~^-]*(?::[\w][\w./-]*)?$/.test(arg.text)
}

/** Settings and variables that do not change where git and a forge's tool send. */
const CALM_SETTING = /^(?:user|author|committer|color|advice|commit)\./i
const CALM_VARIABLE =
  /^(?:GIT_(?:AUTHOR|COMMITTER)_\w+|GIT_(?:TERMINAL_PROMPT|PAGER|EDITOR)|(?:GH|GLAB)_(?:PAGER|EDITOR))$/

/** Where it looks for the repository; undefined if its words may name another address. */
function repositoryOf(use: Use): string | null | undefined {
  const { assignments, cwd } = use.place
  if (assignments.some(({ name }) => /^(?:GIT|GH|GITHUB|GLAB|GITLAB)_/.test(name) && !CALM_VARIABLE.test(name))) return
  if (use.program !== 'git') return cwd
  if (has(use, '--git-dir', '--work-tree', '--config-env', '--namespace', '--super-prefix', '--exec-path')) return
  if (!usesOf(use, '-c').every(({ value }) => CALM_SETTING.test(value?.text ?? ''))) return
  return usesOf(use, '-C').reduce<string | null>(
    (at, { value }) => (at === null || value?.text == null ? null : posix.resolve(at, value.text)),
    cwd,
  )
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
  const directory = repositoryOf(use)
  if (directory !== undefined)
    use.setKind(['git', 'push', name], { directory, remote: remote === undefined ? '' : name })
}

/** Verbs of a forge that add to a conversation or start a check, and can be undone there. */
const talking = /^(create|comment|note|edit|update|reopen|close|ready|review|rerun|develop|status)$/
const groups = /^(pr|mr|issue|run|discussion|label)$/

const forge: Rule = (use) => {
  const [group, verb] = [...use.words.slice(1), ...use.operands.map((arg) => arg.text)]
  if (group == null || verb == null || !groups.test(group) || !talking.test(verb)) return
  if (has(use, '--delete-last', '--delete-branch', '-d', '--web', '-w', '--editor', '-e')) return
  const repository = usesOf(use, '-R', '--repo').at(-1)?.value
  const directory = repositoryOf(use)
  if (directory === undefined) return
  if (repository === undefined) use.setKind([use.program, group, verb], { directory, remote: '*' })
  else if (repository?.text != null && /^[\w./-]+$/.test(repository.text))
    use.setKind([use.program, group, verb, '--repo', repository.text])
}

/** `gh api repos/o/r/pulls/1/comments`: the kind of post, without its number. */
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

/** `ssh host 'ls; docker compose logs'`: looking around on that machine. */
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
