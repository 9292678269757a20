/** Texts for the shell of another machine that only look around there; what is not plainly one of these is none. */

import { secretShape } from '../../files/secret-shapes.ts'

/** What a part of the text may begin with, and what may not stand in it. */
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

/** The text with `_` for each quoted character that means nothing to a shell; undefined where quotes are open, or what is in them is not plain. */
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

/** A pattern for hidden files, or one that stands for several folders, may be a secret too. */
function mayBeSecret(word: string): boolean {
  return secretShape(word) !== null || /(?:^|\/)\.[^/]*[*?[]|[*?[][^/]*\//.test(word)
}
