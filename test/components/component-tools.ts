/** Where `npm test -- components` put the tools of components. */

import { realpathSync } from 'node:fs'

export function componentTools(): string {
  const folder = process.env.CORDON_COMPONENT_TOOLS
  if (folder === undefined) throw new Error('CORDON_COMPONENT_TOOLS is not set: run npm test -- components')
  return realpathSync(folder)
}
