/** Signature Version 4 by AWS's published example, and requests that are not signed again. */

import { describe, expect, it } from 'vitest'
import { type SignableRequest, signAgain } from './aws-signature.ts'

const KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY'
const NOW = Date.UTC(2015, 7, 30, 12, 30)
const SIGNATURE = '5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7'
const SCOPE = 'Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date'
const EMPTY = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

function example(signature: string, more: readonly string[] = []): SignableRequest {
  return {
    method: 'GET',
    path: '/?Action=ListUsers&Version=2010-05-08',
    rawHeaders: [
      'Host',
      'iam.amazonaws.com',
      'Content-Type',
      'application/x-www-form-urlencoded; charset=utf-8',
      'X-Amz-Date',
      '20150830T123600Z',
      'Authorization',
      `AWS4-HMAC-SHA256 ${SCOPE}, Signature=${signature}`,
      ...more,
    ],
    payloadHash: EMPTY,
  }
}

/**
 * The example, signed with another key: signing it again with the real key must give the published
 * signature.
 */
function byPlaceholder(): string {
  const created = signAgain(
    example(SIGNATURE),
    { ...example(SIGNATURE), host: 'iam.amazonaws.com' },
    KEY,
    'placeholder',
    NOW,
  )
  return 'authorization' in created ? created.authorization.slice(-64) : created.problem
}

it('is as AWS publishes it', () => {
  const again = signAgain(
    example(byPlaceholder()),
    { ...example(byPlaceholder()), host: 'iam.amazonaws.com' },
    'placeholder',
    KEY,
    NOW,
  )
  expect(again).toEqual({ authorization: `AWS4-HMAC-SHA256 ${SCOPE}, Signature=${SIGNATURE}` })
})

describe('is not created', () => {
  const signed = byPlaceholder()
  const rows: readonly (readonly [note: string, request: SignableRequest, problem: RegExp])[] = [
    ['for the signature of another key', example(SIGNATURE), /another key/],
    ['for another method than was signed', { ...example(signed), method: 'POST' }, /changed/],
    ['for another query than was signed', { ...example(signed), path: '/?Action=DeleteUser' }, /changed/],
    ['for another body than was signed', { ...example(signed), payloadHash: 'f'.repeat(64) }, /changed/],
    ['where nobody knows the body', { ...example(signed), payloadHash: null }, /hash of its body/],
    ['beside a second Authorization', example(signed, ['authorization', 'Bearer x']), /not signed/],
    [
      'where each piece is signed',
      example(signed, ['x-amz-content-sha256', 'STREAMING-AWS4-HMAC-SHA256-PAYLOAD']),
      /every piece/,
    ],
  ]
  it.each(rows)('%s', (_, request, problem) => {
    expect(signAgain(request, { ...request, host: 'iam.amazonaws.com' }, 'placeholder', KEY, NOW)).toEqual({
      problem: expect.stringMatching(problem),
    })
  })
})
