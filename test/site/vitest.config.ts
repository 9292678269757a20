import { defineConfig } from 'vitest/config'

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: { include: ['test/site/*.test.ts'], testTimeout: 300_000, hookTimeout: 300_000 },
})

export default config
