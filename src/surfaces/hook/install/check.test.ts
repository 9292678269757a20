/** A hook runs outside the sandbox, so nothing that runs it may be the agent's to change. */

import { expect, it } from 'vitest'
import { programInside } from './check.ts'

const OWN = '/w/p/node_modules/cordon'

it.each([
  ['elsewhere', ['/usr/bin/node', '/opt/cordon/dist/cordon.cjs'], OWN, null],
  ['the protected package', ['/usr/bin/node', `${OWN}/dist/cordon.cjs`], OWN, null],
  [
    'a package beside it',
    ['/w/p/node_modules/node/bin/node', `${OWN}/dist/cordon.cjs`],
    OWN,
    '/w/p/node_modules/node/bin/node',
  ],
  ['a name that begins like it', ['/usr/bin/node', `${OWN}-x/cordon.cjs`], OWN, `${OWN}-x/cordon.cjs`],
  ['a checkout in the project', ['/usr/bin/node', '/w/p/cordon/dist/cordon.cjs'], null, '/w/p/cordon/dist/cordon.cjs'],
  ['a project beside', ['/usr/bin/node', '/w/pp/cordon.cjs'], null, null],
])('%s', (_, cordon, own, expected) => {
  expect(programInside({ root: '/w/p', cordon }, own)).toBe(expected)
})
