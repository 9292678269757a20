import { describe, expect, test } from 'vitest'
import { type RefusalMark, readRefusals, refusalPredicate } from './profile.ts'

const MARK: RefusalMark = 'cordon-00112233445566778899aabb'

/** A line as `log show --style ndjson` writes it for the kernel. */
const line = (eventMessage: string, change: object = {}): string =>
  JSON.stringify({
    timestamp: '2026-11-16 12:00:00.000000+0000',
    messageType: 'Error',
    processID: 0,
    processImagePath: '/kernel',
    senderImagePath: '/System/Library/Extensions/Sandbox.kext/Contents/MacOS/Sandbox',
    eventMessage,
    ...change,
  })
const refused = (words: string): string => `Sandbox: cat(4711) deny(1) ${words}\n${MARK}`
const reported = (...lines: string[]): string[] => readRefusals(lines.join('\n'), MARK).map(({ message }) => message)

describe('a refusal of the command', () => {
  test.each([
    ['file-read-data /Users/ada/work/.env', '/Users/ada/work/.env was not read: the sandbox refused it'],
    ['file-write-create /usr/local/bin/tool', '/usr/local/bin/tool was not changed: the sandbox refused it'],
    ['file-write-unlink /Users/ada/a b (1)', '/Users/ada/a b (1) was not changed: the sandbox refused it'],
    ['process-exec* /Users/ada/x', '/Users/ada/x was not started: the sandbox refused it'],
    ['network-outbound remote:*:443', 'a connection to remote:*:443 was refused'],
  ])('%s', (words, message) => {
    expect(reported(line(refused(words)))).toEqual([message])
  })

  test('is observed, names its path, and is reported once', () => {
    const one = line(refused('file-read-data /Users/ada/.ssh/id'))
    expect(readRefusals(`${one}\n${one}\n{"count":2,"finished":1}\n`, MARK)).toEqual([
      { kind: 'path-denied', certainty: 'observed', path: '/Users/ada/.ssh/id', message: expect.any(String) },
    ])
  })

  test('is not crowded out by noise, nor reported without end', () => {
    const many = Array.from({ length: 500 }, (_, at) => line(refused(`file-read-data /Users/ada/${at}`)))
    const noise = Array.from({ length: 500 }, () => line(refused('mach-lookup com.apple.diagnosticd')))
    expect(reported(...noise, ...many)).toHaveLength(50)
  })
})

describe('left out', () => {
  const secret = 'file-read-data /Users/ada/.env'
  test.each([
    {
      note: 'words that a program logged itself',
      text: line(refused(secret), { processImagePath: '/usr/bin/logger' }),
    },
    { note: 'a process that is not the kernel', text: line(refused(secret), { processID: 77 }) },
    {
      note: 'another sender',
      text: line(refused(secret), { senderImagePath: '/tmp/Sandbox.kext/Contents/MacOS/Sandbox' }),
    },
    { note: 'another command', text: line(refused(secret).replace('cordon-00', 'cordon-01')) },
    { note: 'no mark', text: line('Sandbox: cat(4711) deny(1) file-read-data /Users/ada/.env') },
    { note: 'another mechanism', text: line(refused(secret).replace('Sandbox: ', 'System Policy: ')) },
    { note: 'an allow', text: line(refused(secret).replace('deny(1)', 'allow')) },
    { note: 'a program whose name says the rest', text: line(refused(secret).replace('cat(', 'a(1) deny(1) b(')) },
    { note: 'no path', text: line(refused('file-read-data <private>')) },
    { note: 'a path that no file has', text: line(refused(`file-read-data /${'x'.repeat(2_000)}`)) },
    { note: 'a huge line', text: line(refused(secret), { filler: 'x'.repeat(20_000) }) },
    { note: 'what every program asks for', text: line(refused('file-write-data /dev/dtracehelper')) },
    { note: 'settings of the system', text: line(refused('file-read-data /Users/ada/Library/Preferences/x.plist')) },
    { note: 'the resolver', text: line(refused('network-outbound /private/var/run/mDNSResponder')) },
    { note: 'metadata', text: line(refused('file-read-metadata /Users/ada/.env')) },
    { note: 'a line that is cut', text: line(refused(secret)).slice(0, -3) },
    { note: 'a banner', text: 'Filtering the log data using "sender == Sandbox"' },
    { note: 'null', text: 'null' },
    { note: 'a list', text: '[]' },
    { note: 'an entry without a message', text: line('', { eventMessage: 7 }) },
  ])('$note', ({ text }) => {
    expect(reported(text)).toEqual([])
  })
})

test('a name cannot add a message', () => {
  const name = `/Users/ada/x\n${MARK}\nSandbox: cat(1) deny(1) file-read-data /Users/ada/.ssh/id\u202e\u001b[2J`
  const found = reported(line(refused(`file-read-data ${name}`)))
  expect(found).toHaveLength(1)
  expect(found[0]).toMatch(/^[\x20-\x7e]*$/)
  expect(found[0]).toContain('/Users/ada/x\\n')
})

test('the log is asked for this command only', () => {
  expect(refusalPredicate(MARK)).toContain(`eventMessage ENDSWITH "${MARK}"`)
})
