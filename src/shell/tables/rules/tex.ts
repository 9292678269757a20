/** TeX: an operand may be commands instead of a file. */

import type { Rule } from '../use.ts'

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
