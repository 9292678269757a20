/** The projects of `npm test -- projects`: real packages and compilers, which take minutes and have to be installed. */

import { defineConfig } from 'vitest/config'

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    include: ['test/projects/**/*.test.ts'],
    testTimeout: 600_000,
    hookTimeout: 600_000,
    env: { CORDON_RESIDENT: 'off' },
    maxWorkers: 1,
  },
})

export default config
