import { defineConfig } from 'vitest/config'

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    projects: [
      { test: { name: 'unit', include: ['src/**/*.test.ts', 'test/cases/**/*.test.ts', 'test/layers/**/*.test.ts'] } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], testTimeout: 60_000 } },
      { test: { name: 'attacks', include: ['test/attacks/**/*.test.ts'], testTimeout: 120_000 } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], testTimeout: 300_000 } },
    ],
  },
})

export default config
