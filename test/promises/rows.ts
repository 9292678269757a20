/** Every promise, in the order of the document. */

import type { PromiseRow } from './promise.ts'
import { AUDIT_ROWS } from './rows/audit.ts'
import { FILE_ROWS } from './rows/files.ts'
import { MANIFEST_ROWS } from './rows/manifest.ts'
import { NETWORK_ROWS } from './rows/network.ts'
import { PERMISSION_ROWS } from './rows/permissions.ts'
import { SANDBOX_ROWS } from './rows/sandbox.ts'
import { SHELL_ROWS } from './rows/shell.ts'
import { SURFACE_ROWS } from './rows/surfaces.ts'
import { TOOL_ROWS } from './rows/tools.ts'

export const ROWS: readonly PromiseRow[] = [
  ...MANIFEST_ROWS,
  ...PERMISSION_ROWS,
  ...SHELL_ROWS,
  ...FILE_ROWS,
  ...SANDBOX_ROWS,
  ...NETWORK_ROWS,
  ...TOOL_ROWS,
  ...AUDIT_ROWS,
  ...SURFACE_ROWS,
]
