/** systemctl, crontab, sysctl, ip, TeX and tool managers: reading is harmless, changing is not. */

import { has, type Rule } from '../use.ts'

/** `tex '\\input /etc/x'` reads any file, `\\write18{…}` runs a program, `\\directlua` is code. */
const commands: Rule = (use) => {
  for (const arg of use.operands) {
    const text = arg.text ?? arg.prefix
    if (!/^[\\&]/.test(text)) continue
    use.found.hazard('interpreter-code', `\`${use.program}\` runs the commands that it is given`, arg.word.span)
    for (const [, file] of text.matchAll(/\\(?:input|include|openin\d*=?|openout\d*=?)\s*\{?([^\s}\\]+)/g))
      use.found.file(file ?? '', 'read', arg.word.span)
  }
}

export const texRules: Readonly<Record<string, Rule>> = {
  'latex, pdflatex, xelatex, lualatex, luatex, tex, pdftex, xetex': commands,
}

const looks = /^(status|show|list-.*|is-.*|cat|help|get-default|list)$/

const systemctl: Rule = (use) => {
  const verb = use.operands[0]
  if (verb !== undefined && !looks.test(verb.text ?? ''))
    use.found.hazard('changes-system', '`systemctl` changes services of the machine', verb.word.span)
}

const crontab: Rule = (use) => {
  if (!has(use, '-l')) use.found.hazard('changes-system', '`crontab` changes scheduled jobs', use.span)
}

const sysctl: Rule = (use) => {
  for (const arg of use.operands)
    if (arg.text === null || arg.text.includes('='))
      use.found.hazard('changes-system', '`sysctl` changes kernel settings', arg.word.span)
}

const ip: Rule = (use) => {
  const words = use.operands.map((arg) => arg.text ?? 'set')
  if (words.includes('exec')) use.found.hazard('option-runs-program', '`ip netns exec` runs a command', use.span)
  else if (words.slice(1).some((word) => /^(add|del|delete|set|change|replace|append|flush|up|down)$/.test(word)))
    use.found.hazard('changes-system', '`ip` changes the network', use.span)
}

const mount: Rule = (use) => {
  if (use.operands.length > 0 || has(use, '-a', '--all'))
    use.found.hazard('changes-system', '`mount` changes what is mounted', use.span)
}

const kill: Rule = (use) => {
  const targets = use.args.slice(1).filter((arg) => arg.text === '-1' || arg.text === '0' || arg.text === '1')
  for (const arg of targets)
    use.found.hazard('changes-system', '`kill` ends every process, or the first one', arg.word.span)
}

const image: Rule = (use) => {
  const last = use.operands.length - 1
  use.operands.forEach((arg, index) => {
    const text = arg.text ?? arg.prefix
    if (
      /^(@|\||msl:|ephemeral:|show:|win:|x:|url:|https?:|ftp:|mvg:|text:@|label:@|caption:@|epi:|eps:|ps:|pdf:)/i.test(
        text,
      ) ||
      text.includes('|')
    )
      use.found.hazard(
        'option-runs-program',
        `\`${use.program} ${text.slice(0, 30)}\` runs a program or reads a script`,
        arg.word.span,
      )
    else if (/^[\w./~-]+$/.test(text) && text !== '')
      use.found.path(arg, (index === last && last > 0) || use.program === 'mogrify' ? 'write' : 'read')
  })
}

/** nix, mise, asdf, direnv: the verbs that run or install something. */
const manager: Rule = (use) => {
  const verb = use.operands[0]?.text ?? ''
  if (
    /^(exec|shell|run|develop|x|allow|permit|edit|hook|activate|eval|repl|profile|settings|set|trust|plugin|plugins|config|install|use|global|implode|reshim|registry|upgrade|self-update)$/.test(
      verb,
    ) ||
    has(use, '--run', '--command', '-c', '--option', '--builders', '--expr', '-E') ||
    (use.program === 'guix' && verb === 'environment')
  ) {
    const project = use.program === 'mise' || use.program === 'rtx'
    if (project && verb === 'run') return
    use.found.hazard('option-runs-program', `\`${use.program} ${verb}\` runs or installs programs`, use.span)
  }
}

const exif: Rule = (use) => {
  for (const option of use.options)
    if (/^-[A-Za-z:]+[-+]?=?$/.test(option.name) && option.value !== null)
      for (const arg of use.operands) use.found.path(arg, 'write')
}

/** `tmux ls ; run-shell x`: a semicolon begins another command of tmux. */
const tmuxList: Rule = (use) => {
  const mark = use.args.find((arg) => arg.text === null || arg.text.endsWith(';'))
  if (mark !== undefined)
    use.found.hazard('option-runs-program', '`tmux` is given several commands, which can run programs', mark.word.span)
}

export const systemRules: Readonly<Record<string, Rule>> = {
  tmux: tmuxList,
  systemctl,
  crontab,
  sysctl,
  ip,
  mount,
  kill,
  'convert, magick, identify, mogrify, composite, montage': image,
  'nix, nix-shell, nix-build, nix-env, nix-instantiate, guix, devbox, mise, rtx, asdf, direnv': manager,
  exiftool: exif,
}
