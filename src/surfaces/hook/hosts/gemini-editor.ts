/** Detects an editor that drives Gemini CLI (`--acp`): then it asks hooks about a person's words, but about no call. */

import type { Reason } from '../../../policy/decision.ts'

/** Gemini CLI's command line, one word per line. */
const WORDS = 'CORDON_HOST_WORDS'

/** Prefix of the hook command for a person's words; Gemini CLI runs hooks in bash. */
export const TELLS_WORDS: string = `export ${WORDS}="$(tr '\\0' '\\n' 2>/dev/null </proc/$PPID/cmdline || ps -o args= -p $PPID)"; `

/** Why nothing may go to the model; null if no editor drives it. */
export function drivenByEditor(
  env: Readonly<Record<string, string | undefined>>,
): Pick<Reason, 'message' | 'remedy'> | null {
  const words = env[WORDS]
  if (words === undefined || !isForEditor(words)) return null
  return {
    message: 'An editor drives Gemini CLI here (--acp), and then it asks no hook before a call.',
    remedy:
      'Use Gemini CLI at a terminal, or have the editor start `cordon run -- gemini --acp`: that guards its commands and its network; the editor decides about files that it asks the editor for.',
  }
}

/** Without /proc the words are in one line. If unknown, assume an editor. */
function isForEditor(words: string): boolean {
  const list = words.split(words.includes('\n') ? '\n' : ' ')
  return words.trim() === '' || list.some((word) => /^--?(?:experimental-?)?acp(?:=|$)/i.test(word))
}
