/** Whose settings can be read as drafts of a manifest. */

import { importClaude } from './import-claude.ts'
import { importCodex } from './import-codex.ts'
import type { Draft } from './import-draft.ts'
import { importGemini } from './import-gemini.ts'
import { importOpencode } from './import-opencode.ts'
import type { Settings } from './import-rules.ts'
import { importSrt } from './import-srt.ts'

export const IMPORTERS: Readonly<Record<string, (settings: Settings) => Draft>> = {
  'claude-code': importClaude,
  codex: importCodex,
  gemini: importGemini,
  opencode: importOpencode,
  srt: importSrt,
}
