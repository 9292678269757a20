import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

/** What really runs sandboxes, clients and crashes takes its time on a busy machine. */
const patient = { testTimeout: 300_000, hookTimeout: 300_000 }

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    // Vitest leaves one core to itself, which is half of a small machine; it only waits while the workers work.
    maxWorkers: availableParallelism(),
    // What a test starts is its own: nothing serves it that another one left running. The tests of the resident ask for theirs.
    env: { CORDON_RESIDENT: 'off' },
    projects: [
      {
        test: { name: 'unit', include: ['src/**/*.test.ts', 'test/{cases,layers}/**/*.test.ts'], testTimeout: 30_000 },
      },
      { test: { name: 'soundness', include: ['test/soundness/**/*.test.ts'], ...patient } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], ...patient } },
      { test: { name: 'attacks', include: ['test/{attacks,egress}/**/*.test.ts'], ...patient } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], ...patient } },
    ],
  },
})

export default config
