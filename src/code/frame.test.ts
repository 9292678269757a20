import { describe, expect, it } from 'vitest'
import { parseFrame } from './frame.ts'

describe('a line from inside', () => {
  const rows = [
    { name: 'no JSON', line: 'hello', frame: null },
    { name: 'a list', line: '[1]', frame: null },
    { name: 'nothing', line: 'null', frame: null },
    { name: 'of no kind', line: '{"run":0}', frame: null },
    { name: 'of no run', line: '{"kind":"done","run":"0"}', frame: null },
    { name: 'a call without an id', line: '{"kind":"call","run":0,"tool":"read"}', frame: null },
    {
      name: 'a call',
      line: '{"kind":"call","run":0,"id":1,"tool":"read"}',
      frame: { kind: 'call', run: 0, id: 1, tool: 'read', input: {} },
    },
    { name: 'an unknown stream', line: '{"kind":"out","run":0,"stream":"x","text":""}', frame: null },
    {
      name: 'an unknown limit',
      line: '{"kind":"done","run":0,"limit":"patience","value":5}',
      frame: { kind: 'done', run: 0, value: null, error: null, limit: null, files: [] },
    },
  ]
  it.each(rows)('$name', ({ line, frame }) => {
    expect(parseFrame(line)).toEqual(frame)
  })

  const names = ['../x', 'a/b', '/etc/passwd', '.hidden', '', 'a\nb', 'x'.repeat(200), '\u202Ex']
  it.each(names)('hands no file out as %j', (name) => {
    const frame = parseFrame(
      JSON.stringify({
        kind: 'done',
        run: 0,
        files: [
          { name, base64: 'aGk=' },
          { name: 'ok.txt', base64: 'aGk=' },
        ],
      }),
    )
    expect(frame).toMatchObject({ files: [{ name: 'ok.txt', bytes: Buffer.from('hi') }] })
  })
})
