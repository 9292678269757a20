import { defineConfig } from 'vitest/config'

/** Components with the real tools: `npm test -- components` installs them. */
const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    tags: [{ name: 'needs-root', skip: process.getuid?.() !== 0 }],
    include: ['test/components/**/*.test.ts'],
    env: { CORDON_RESIDENT: 'off' },
    maxWorkers: 1,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
})

export default config
