import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** What really runs sandboxes, clients and crashes takes its time on a busy machine. */
const patient = { testTimeout: 300_000, hookTimeout: 300_000 }

/** Properties are put to the same cases in every run. */
const seeded = { setupFiles: ['test/seed.ts'] }

/** The longest file begins first: at the end the other workers would wait for it. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLongest = ({ moduleId }: TestSpecification): boolean => moduleId.endsWith('/test/promises/matrix.test.ts')
    const sorted = await super.sort(files)
    return [...sorted.filter(isLongest), ...sorted.filter((file) => !isLongest(file))]
  }
}

/** From scripts/test.ts: a place for one run. */
const compiled = process.env.CORDON_TEST_COMPILED

const config: ReturnType<typeof defineConfig> = defineConfig({
  test: {
    // Vitest leaves one core to itself, which is half of a small machine. Tests wait for processes for a quarter of their time,
    // and with one worker more than there are cores a seventh of a run's processor time was no one's.
    maxWorkers: availableParallelism() + 2,
    env: {
      // What a test starts is its own: nothing serves it that another one left running. The tests of the resident ask for theirs.
      CORDON_RESIDENT: 'off',
      // For the programs that tests start; the workers themselves are slower with it.
      ...(compiled !== undefined && { NODE_COMPILE_CACHE: compiled }),
    },
    sequence: { sequencer: LongestFirst },
    // A test that passes does not wait: this is for the busiest machine, as in test/until.ts.
    expect: { poll: { timeout: 60_000, interval: 20 } },
    // The one reason for which rows are left out (test/users.ts); scripts/test.ts counts them.
    tags: [{ name: 'needs-root', description: 'runs as root', skip: process.getuid?.() !== 0 }],
    projects: [
      // Those that share a process keep nothing in it: most of their time went into starting one for each file, and loading
      // the same modules again. What the others do (servers, spies on modules, memory that is measured) stays apart.
      { test: { name: 'unit', include: ['src/**/*.test.ts'], isolate: false, ...seeded, ...patient } },
      { test: { name: 'cases', include: ['test/{cases,layers}/**/*.test.ts'], isolate: false, ...seeded, ...patient } },
      { test: { name: 'soundness', include: ['test/soundness/**/*.test.ts'], ...patient } },
      { test: { name: 'contract', include: ['test/contract/**/*.test.ts'], ...patient } },
      { test: { name: 'attacks', include: ['test/{attacks,egress}/**/*.test.ts'], ...patient } },
      { test: { name: 'promises', include: ['test/promises/**/*.test.ts'], isolate: false, ...patient } },
      { test: { name: 'e2e', include: ['test/e2e/**/*.test.ts'], isolate: false, ...patient } },
    ],
  },
})

export default config
