import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { commands } from './commands.ts'
import { run } from './completions.ts'

function scriptFor(shell: string): string {
  const said: string[] = []
  const terminal = { out: (text: string) => void said.push(text), err: () => undefined, color: false, width: 80 }
  expect(run({ terminal, commands, args: { flags: {}, words: [shell], lists: {} } })).toBe(0)
  return said.join('')
}

describe('completions', () => {
  it.each(['bash', 'zsh', 'fish'])('of %s know every command and every flag', (shell) => {
    const script = scriptFor(shell)
    for (const { name, flags } of commands) {
      expect(script).toMatch(new RegExp(`\\b${name}\\b`))
      for (const flag of flags) expect(script).toContain(shell === 'fish' ? `-l ${flag.name.slice(2)} ` : flag.name)
    }
  })

  it.each([
    { typed: ['po'], offered: ['policy'] },
    { typed: ['policy', ''], offered: ['show', 'test', 'lint', 'replay'] },
    { typed: ['audit', 'v'], offered: ['verify'] },
    { typed: ['skills', ''], offered: ['list', 'approve'] },
    { typed: ['install', 'c'], offered: ['claude-code', 'cline', 'codex', 'copilot', 'cursor'] },
    { typed: ['completions', ''], offered: ['bash', 'zsh', 'fish'] },
    { typed: ['run', '--ma'], offered: ['--manifest'] },
    { typed: ['run', '--', 'bas'], offered: ['bash'] },
  ])('of bash for $typed', ({ typed, offered }) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: bash reads it.
    const ask = 'COMP_WORDS=(cordon "$@"); COMP_CWORD=$#; _cordon; printf "%s\\n" "${COMPREPLY[@]}"'
    const said = execFileSync('bash', ['-c', `${scriptFor('bash')}\n${ask}`, 'bash', ...typed], { encoding: 'utf8' })
    expect(said.split('\n')).toEqual(expect.arrayContaining(offered))
  })
})
