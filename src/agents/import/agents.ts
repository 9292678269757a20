/** Whose settings can be read as drafts of a manifest. */

import { importClaude } from './claude.ts'
import { importCodex } from './codex.ts'
import type { Draft } from './draft.ts'
import { importGemini } from './gemini.ts'
import { importOpencode } from './opencode.ts'
import type { Settings } from './rules.ts'
import { importSrt } from './srt.ts'

export const IMPORTERS: Readonly<Record<string, (settings: Settings) => Draft>> = {
  'claude-code': importClaude,
  codex: importCodex,
  gemini: importGemini,
  opencode: importOpencode,
  srt: importSrt,
}
