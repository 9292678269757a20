import { defineConfig } from 'vitest/config'

/** The tests that need real NATS servers: `npm test -- fleet`. */
const config: ReturnType<typeof defineConfig> = defineConfig({
  test: { include: ['test/fleet/**/*.test.ts'], testTimeout: 60_000, hookTimeout: 60_000 },
})

export default config
