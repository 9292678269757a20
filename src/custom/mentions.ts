/** Files that a text names with `@`: hosts put their contents in its place, without a call of any tool. */

/** Every reading of every mention, since hosts end a name at different characters; names are as they were written. */
export function mentionedPaths(text: string): readonly string[] {
  const found = new Set<string>()
  for (const [, quoted, plain] of text.matchAll(/(?<!\w)@(?:"([^"\n]+)"|'?((?:\\ |[^\s])+))/g)) {
    for (const form of quoted === undefined ? readings(plain!) : [quoted]) found.add(form)
  }
  return [...found]
}

function readings(written: string): readonly string[] {
  const name = written.replaceAll('\\ ', ' ')
  // `@a.txt#L3`, `@a.txt:3`, `(@a.txt)`, `@a.txt, @b.txt`, `@{a.txt}`: what a host may leave out.
  const bare = name.replace(/^\{(.*?)\}.*$/s, '$1')
  const cuts = [name, bare, bare.replace(/#.*$/, ''), bare.replace(/[:#]L?\d+(?:-L?\d+)?$/, '')]
  const trimmed = cuts.map((form) => form.replace(/[\s)\]}>"'`.,;:!?*]+$/, ''))
  const split = bare.split(/[,`"')\]}>]/)[0]!
  return [...new Set([...cuts, ...trimmed, split])].filter((form) => form !== '')
}

/** Commands in a skill or command file that a host runs before its model reads the text: !`cmd`, a block ```! and `!{cmd}`. */
export function inlineCommands(text: string): readonly string[] {
  const found = [
    ...[...text.matchAll(/!`([^`]+)`/g)].map(([, command]) => command!),
    ...[...text.matchAll(/^[^\S\n]*(?:```+|~~~+)!\s*\n([\s\S]*?)^[^\S\n]*(?:```|~~~)/gm)].map(([, block]) => block!),
    ...[...text.matchAll(/!\{([\s\S]*?)\}/g)].map(([, command]) => command!),
  ]
  return found.map((command) => command.trim()).filter((command) => command !== '')
}
