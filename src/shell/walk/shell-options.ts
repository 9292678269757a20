/** Options of the shell itself: set and shopt, and which of them change how the rest is read. */

import type { Word } from '../facts.ts'
import { textOf } from '../words/known-word.ts'
import { type BuiltinCall, doubt } from './builtin-call.ts'

const CALM_SET_OPTIONS =
  /^(?:errexit|nounset|pipefail|xtrace|verbose|noclobber|errtrace|functrace|noglob|monitor|notify|hashall|noexec)$/

export function setOptions(call: BuiltinCall): void {
  for (let i = 1; i < call.argv.length; i++) {
    const word = call.argv[i] as Word
    const text = textOf(word)
    if (text === null) {
      call.scope.setPositional(null)
      // After `--` words are only positional parameters; here they could be options.
      doubt(call, 'shell-option', `\`${word.text}\` could be an option of \`set\``, word.span)
      return
    }
    if (text === '--' || text === '-' || !/^[-+]/.test(text)) {
      call.scope.setPositional(call.argv.slice(text === '--' || text === '-' ? i + 1 : i))
      return
    }
    const letters = text.slice(1)
    if (letters.includes('o')) {
      const option = textOf(call.argv[++i])
      if (option === 'posix')
        doubt(call, 'shell-option', '`set -o posix` changes how everything after it is read', word.span, 'deny')
      else if (option === null || !CALM_SET_OPTIONS.test(option)) {
        doubt(call, 'shell-option', `\`set ${text} ${option ?? '…'}\` changes how everything after it runs`, word.span)
      }
    }
    if (letters.includes('a')) call.scope.exportsAll = true
    if (/[^euxvhmbCETfno]/.test(letters)) {
      doubt(call, 'shell-option', `\`set ${text}\` changes how everything after it runs`, word.span)
    }
  }
}

const CALM_SHELL_OPTIONS =
  /^(?:nullglob|dotglob|globstar|nocaseglob|nocasematch|inherit_errexit|huponexit|checkwinsize|cmdhist|histappend|globasciiranges)$/

export function setShellOptions(call: BuiltinCall): void {
  for (const word of call.argv.slice(1)) {
    const text = textOf(word)
    if (text !== null && (/^-[supq]+$/.test(text) || CALM_SHELL_OPTIONS.test(text))) continue
    const verdict = text === 'expand_aliases' || text === 'posix' ? 'deny' : 'ask'
    doubt(call, 'shell-option', `\`shopt ${word.text}\` changes how everything after it is read`, word.span, verdict)
  }
}
