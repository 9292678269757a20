import { expect, it } from 'vitest'
import { formFields, isForm } from './form-fields.ts'

it.each([
  ['text=hello&token=theirs', ['text', 'token']],
  ['a=1;key=2', ['a', 'key']],
  ['a=b=c&d', ['a']],
  ['&&=x&%74oken=1', ['%74oken']],
  [`${'x'.repeat(1000)}=1`, ['x'.repeat(256)]],
])('names in %s, however it is cut', (body, names) => {
  expect(formFields()(Buffer.from(body))).toEqual(names)
  const read = formFields()
  expect(Array.from(body, (sign) => read(Buffer.from(sign))).flat()).toEqual(names)
})

it.each([
  ['application/x-www-form-urlencoded', true],
  [' Application/X-WWW-Form-Urlencoded; charset=utf-8', true],
  ['application/json', false],
  [undefined, false],
])('%s is a form: %s', (type, is) => expect(isForm(type)).toBe(is))
