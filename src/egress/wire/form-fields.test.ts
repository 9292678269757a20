import { expect, it } from 'vitest'
import { fieldReader } from './form-fields.ts'

const URLENCODED = 'application/x-www-form-urlencoded'
const PARTS = 'multipart/form-data; boundary=x'

it.each([
  [URLENCODED, 'text=hello&token=theirs', ['text', 'token']],
  [URLENCODED, 'a=1;key=2', ['a', 'key']],
  [URLENCODED, 'a=b=c&d', ['a']],
  [URLENCODED, '&&=x&%74oken=1', ['%74oken']],
  [URLENCODED, `${'x'.repeat(1000)}=1`, ['x'.repeat(256)]],
  [PARTS, '--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n1\r\n', ['a']],
  [PARTS, '--x\r\ncontent-disposition:form-data;name=a\r\n\r\nname="b"\r\n--x--', ['a']],
  [PARTS, '--x\r\nContent-Disposition: form-data;\r\n name="a"\r\n\r\n1', ['a']],
  [PARTS, '--x\r\nContent-Disposition: form-data; name="a\\"b"\r\n\r\n1', ['a\\"b', 'a"b']],
  [PARTS, '--x\r\nContent-Disposition: form-data; filename*0="a"; filename*1="b"; name="c"\r\n\r\n1', ['c']],
  [PARTS, '--x\r\nContent-Disposition: form-data; name*0="a"; name*1="b"\r\n\r\n1', ['credential']],
  [PARTS, '--x\r\nContent-Disposition: form-data; name="=?utf-8?q?a?="\r\n\r\n1', ['credential']],
  [PARTS, '--x\r\nContent-Disposition: form-data; name="a;b"\r\n\r\n1', ['a;b']],
  [PARTS, 'a text of content-disposition: form-data; name="b"', []],
  [URLENCODED, 'method=PUT&method=mail', ['method', '_method', 'method']],
  [PARTS, `--x\r\nContent-Disposition: form-data; x="${'y'.repeat(20_000)}"; name="a"\r\n`, ['credential']],
])('names of %s in %s, however it is cut', (type, body, names) => {
  expect(fieldReader([type])!(Buffer.from(body))).toEqual(names)
  const read = fieldReader(['text/plain', type])!
  const cut = body.match(/.{1,7}/gs)!.flatMap((piece) => read(Buffer.from(piece)))
  // Overlapping pieces may report a name twice, or an incomplete one first.
  if (type === URLENCODED) expect(cut).toEqual(names)
  else expect(cut).toEqual(expect.arrayContaining(names))
})

it.each([
  [[' Application/X-WWW-Form-Urlencoded; charset=utf-8'], true],
  [['application/json', URLENCODED], true],
  [['application/json'], false],
  [[], true],
])('%j is a form: %s', (types, is) => expect(fieldReader(types) !== null).toBe(is))

it('keys of JSON, however it is cut', () => {
  const body = '{"a" : [{"b\\"c":"d:"}, "e", {"\\u005fmethod":1}], "f":"\\\\"}'
  for (const size of [1, 3, 1000]) {
    const read = fieldReader(['application/json'], { json: true })!
    const names = body.match(new RegExp(`.{1,${size}}`, 'g'))!.flatMap((piece) => read(Buffer.from(piece)))
    expect(names).toEqual(['a', 'b\\"c', '_method', 'f'])
  }
})
