/** A hostile model, or one in the hands of an attacker: what it names, says and thinks does nothing to the terminal of the person. */

import { afterEach, expect, it } from 'vitest'
import { ChatWorld } from '../../e2e/chat/chat-world.ts'

let world: ChatWorld | null = null
afterEach(async () => {
  await world?.close()
  world = null
})

const ESC = '\u001b'
/** Each acts on a terminal that is shown it: clipboard, title, cursor, screen, answers back, links, the order of letters. */
const ACTS = {
  clipboard: `${ESC}]52;c;aGFja2Vk\u0007`,
  title: `${ESC}]0;owned\u0007`,
  up: `${ESC}[5A`,
  clear: `${ESC}[2J`,
  alternate: `${ESC}[?1049h`,
  report: `${ESC}[6n`,
  link: `${ESC}]8;;http://evil.example${ESC}\\`,
  one: '\u009b31m',
  bidi: '\u202egnp.exe',
  backspace: 'rm -rf /\b\b\b\b\b\b\b\bls',
  bell: '\u0007',
}
const ALL = Object.values(ACTS).join('.')

it('nothing of it acts: as text, in code, as a tool’s name, in its input, in a result, or in an error', async () => {
  const named = (name: string, input: unknown) => ({ calls: [{ name, input }] })
  const answers = [
    { text: `plain ${ALL}\n\`\`\`sh\n${ALL}\n\`\`\`\n# ${ALL}\n| ${ALL} |\n- ${ALL}\n`, ...named(`tool${ALL}`, {}) },
    named('read', { path: `a${ALL}` }),
    named('write', { path: 'b.txt', content: `${ALL}\n` }),
    named('edit', { path: 'b.txt', old_string: ALL, new_string: `x${ALL}` }),
    named('read', { path: 'b.txt' }),
    named('bash', { command: `echo ${ALL}` }),
    { thinking: ALL, text: 'end.' },
    { status: 400, body: JSON.stringify({ error: { message: ALL } }) },
  ]
  world = await ChatWorld.open((_, index) => answers[Math.min(index, answers.length - 1)]!, {
    manifest: 'schema_version = 1\n[permission]\nmode = "contained"\n',
  })
  const chat = world.chat()
  await chat.ready()
  await chat.send('go')
  await chat.until(/end\./)
  await chat.ready()
  await chat.send('more')
  await chat.until(/problem: the provider answered 400/)
  await chat.ready()
  for (const [name, act] of Object.entries(ACTS)) {
    if (name === 'bell') continue
    expect(chat.raw.includes(act), name).toBe(false)
  }
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not come.
  expect(chat.raw).not.toMatch(/[\u0007\b\u0080-\u009f\u202e]/)
  expect(chat.screen.unknown).toEqual([])
  // And a person sees what it tried.
  expect(chat.screen.text).toContain(String.raw`\e]52;c;aGFja2Vk\u{7}`)
  expect(chat.screen.text).toContain(String.raw`\u{202e}gnp.exe`)
})
