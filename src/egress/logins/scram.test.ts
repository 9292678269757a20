import { expect, it } from 'vitest'
import { createScram } from './postgres.ts'

// RFC 7677, section 3.
const NONCE = 'rOprNGfwEbeRWgbNEkqO'
const FIRST = `r=${NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`

it('proves the password, and has the server prove it', async () => {
  const scram = createScram('pencil', 'user', NONCE)
  expect(scram.first).toBe(`n,,n=user,r=${NONCE}`)
  expect(await scram.answer(FIRST)).toBe(
    `c=biws,r=${NONCE}%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=`,
  )
  expect(scram.isProved('v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=')).toBe(true)
  expect(scram.isProved('v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=')).toBe(false)
  expect(scram.isProved('e=other-error')).toBe(false)
})

it.each([
  ['another nonce', FIRST.replace(NONCE, 'somebodyElse')],
  ['our nonce alone', `r=${NONCE},s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096`],
  ['a count that takes minutes', FIRST.replace('4096', '9999999')],
  ['no count', FIRST.replace('4096', '0')],
  ['something else', 'e=other-error'],
])('does not answer %s', async (_, text) => expect(await createScram('pencil', 'user', NONCE).answer(text)).toBeNull())
