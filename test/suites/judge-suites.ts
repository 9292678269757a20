/** Public suites of texts, which Cordon judges in this process. */

import type { Line } from './page.ts'

export interface JudgeSuite {
  readonly name: string
  readonly folder: string
  readonly from: string
  run(folder: string, every: number): Promise<Omit<Line, 'name' | 'from' | 'version'>>
}

export const JUDGE_SUITES: readonly JudgeSuite[] = []
