/** The CLI on another system. */

import './platform.ts'

const { runProcess } = await import('../../../../src/surfaces/cli/main.ts')
await runProcess()
