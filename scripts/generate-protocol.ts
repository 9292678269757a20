/** Writes native/init/protocol.h from src/sandbox/protocol.ts. */

import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import {
  MESSAGE_NOTES,
  MESSAGES,
  NUMBERS,
  RECORD_NOTES,
  RECORDS,
  WITH_TEXT,
  WORD_NOTES,
  WORDS,
} from '../src/sandbox/protocol.ts'

const file = new URL('../native/init/protocol.h', import.meta.url)

/** Lines of C have at most so many columns. */
const WIDTH = 110

/** The header of C with everything in the table. */
export function protocolHeader(): string {
  const records = letters('RECORD', RECORDS, RECORD_NOTES)
  const words = letters('WORD', WORDS, WORD_NOTES)
  const messages = letters('MESSAGE', MESSAGES, MESSAGE_NOTES)
  const numbers = Object.entries(NUMBERS).map(([name, values]) =>
    block(
      name,
      Object.entries(values).map(([key, value]) => `  ${name.split('_')[0]!.toUpperCase()}_${key} = ${value},\n`),
    ),
  )
  return `/*
 * The protocol between the parent and the init. Generated from src/sandbox/protocol.ts by
 * scripts/generate-protocol.ts; change that file instead.
 *
 * The setup message (little endian): MAGIC, u32 length, records { u8 type, u32 length, payload }. The
 * command's three streams may come with its first byte, instead of STDIO_FD's. Text in a payload ends in its
 * only NUL. An unknown, repeated or out-of-bounds record is an error.
 *
 * Afterwards CONTROL_FD carries, towards this program, words { u8 type, u8 a, u16 b, u16 c }, and towards
 * the parent messages { u32 type, u32 a, u32 b, u32 c }. After those of MESSAGES_WITH_TEXT follow b bytes in
 * whole messages, zero-padded. The command chose most of them: they must not be read as messages.
 *
 * The listeners, and each connection of WORD_CONNECT, go over IPC_FD as handles of Node.
 * The command has the caller's own streams only if they carry nothing but bytes. Other files and internet
 * sockets are relayed through pipes, and a directory or a device is an error (streams.c).
 * The parent's death closes CONTROL_FD, and that ends the sandbox, even without a parent-death signal.
 */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#define MAGIC "CORDON1\\n"
#define MESSAGES_WITH_TEXT "${WITH_TEXT.map((name) => MESSAGES[name]).join('')}"

${[block('record_type', records), block('word_type', words), block('message_type', messages), ...numbers].join('\n')}#endif
`
}

function letters(
  prefix: string,
  table: Readonly<Record<string, string>>,
  notes: Readonly<Record<string, string>>,
): readonly string[] {
  return Object.entries(table).map(([name, letter]) => member(prefix, name, letter, notes[name]!))
}

function block(name: string, members: readonly string[]): string {
  return `enum ${name} {\n${members.join('')}};\n`
}

function member(prefix: string, name: string, letter: string, about: string): string {
  const constant = `${prefix}_${name.replace(/[A-Z]/g, '_$&').toUpperCase()} = '${letter}',`
  const line = `  ${constant} /* ${about} */\n`
  return line.length <= WIDTH + 1 ? line : `${wrapped(about)}  ${constant}\n`
}

/** A comment over several lines. */
function wrapped(about: string): string {
  const lines = ['  /*']
  for (const word of about.split(' '))
    if (lines.at(-1)!.length + word.length + 4 <= WIDTH) lines.push(`${lines.pop()} ${word}`)
    else lines.push(`   * ${word}`)
  return `${lines.join('\n')} */\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync(file, protocolHeader())
