/** One line from the person at the terminal, shown or hidden, for the wizard. */

import type { ChatTerminal } from './screen/chat-terminal.ts'

/** Asks; null when the person gave up. What is hidden shows a star for each character. */
export function askLine(terminal: ChatTerminal, question: string, hidden = false): Promise<string | null> {
  return new Promise((resolve) => {
    let text = ''
    const show = (shown: string) => terminal.write(hidden ? '*'.repeat([...shown].length) : shown)
    const finish = (answer: string | null) => {
      terminal.listen(
        () => {},
        () => {},
      )
      terminal.write('\r\n')
      resolve(answer)
    }
    terminal.write(question)
    terminal.listen(
      (key) => {
        if (key === null) return finish(null)
        if (key.kind !== 'key') {
          const line = key.text.replace(/[\r\n]+$/, '').replace(/\p{Cc}/gu, '')
          text += line
          return show(line)
        }
        if (key.name === 'enter') return finish(text.trim())
        if (key.name === 'interrupt' || key.name === 'leave' || key.name === 'escape') return finish(null)
        if (key.name === 'backspace' && text !== '') {
          text = [...text].slice(0, -1).join('')
          terminal.write('\b \b')
        }
      },
      () => {},
    )
  })
}
