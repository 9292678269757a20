import { defineConfig } from 'vitest/config'

/** The tests that need clients which are not everywhere, or send gigabytes: `npm test -- clients`. */
const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    include: [
      'test/clients/**/*.test.ts',
      'test/contract/egress/clients.test.ts',
      'test/contract/egress/packages.test.ts',
      'test/contract/egress/servers.test.ts',
    ],
    testTimeout: 300_000,
    hookTimeout: 120_000,
    maxWorkers: 1,
  },
})

export default config
