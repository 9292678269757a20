/** Texts for the shell of another machine that only look around there; what is not plainly one of these is none. */

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

/** True when every part of the text only reads. Substitutions, variables, escapes and redirects to files make it something else. */
export function onlyLooks(text: string): boolean {
  const bare = text.replace(/ ?2>(?:&1|\/dev\/null)(?=[\s;|]|$)/g, '')
  if (bare.trim() === '' || /[$`\\<>(){}\r\0!]/.test(bare)) return false
  const parts = bare.split(/&&|\|\||[;|\n]/).map((part) => part.trim())
  return parts.every(
    (part) =>
      part !== '' &&
      !part.includes('&') &&
      isClosed(part) &&
      looks.some(([begins, never]) => begins.test(part) && !never?.test(part)),
  )
}

/** A separator inside quotes would have cut them open. */
function isClosed(part: string): boolean {
  return part.replace(/'[^']*'|"[^"]*"/g, '').search(/['"]/) < 0
}
