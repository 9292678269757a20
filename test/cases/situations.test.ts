/** The page about what does not work is the table of situations. `npm run docs` writes it. */

import { expect, it } from 'vitest'
import { renderSituations } from '../e2e/situations/situations.ts'

it('docs/guides/troubleshooting.md', async () => {
  await expect(renderSituations()).toMatchFileSnapshot('../../docs/guides/troubleshooting.md')
})
