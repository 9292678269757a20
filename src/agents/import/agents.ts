/** The agents whose settings can be converted to drafts of a manifest. */

import { recordOf } from '../../system/json.ts'
import { importClaude } from './claude.ts'
import { importCodex } from './codex.ts'
import { type Draft, DraftWriter, texts } from './draft.ts'
import { importGemini } from './gemini.ts'
import { importOpencode } from './opencode.ts'
import { pathRule, type Settings, unnamed, WEB_TOOLS } from './rules.ts'
import { importVscode } from './vscode.ts'

export const IMPORTERS: Readonly<Record<string, (settings: Settings) => Draft>> = {
  'claude-code': importClaude,
  codex: importCodex,
  gemini: importGemini,
  opencode: importOpencode,
  srt: importSrt,
  vscode: importVscode,
}

/** Reads srt's settings. */
function importSrt(settings: Settings): Draft {
  const out = new DraftWriter()
  const network = recordOf(settings.network)
  const files = recordOf(settings.filesystem)
  // A host there is open to the whole process, or not at all.
  for (const host of texts(network.allowedDomains, 'network.allowedDomains', out)) {
    out.add({ kind: 'host', use: 'commands', host }, { kind: 'host', use: 'web', host })
  }
  out.add(...unnamed(out.draft(), WEB_TOOLS, 'deny'))
  for (const host of texts(network.deniedDomains, 'network.deniedDomains', out))
    out.add({ kind: 'host', use: 'nobody', host })
  for (const path of texts(files.denyRead, 'filesystem.denyRead', out))
    out.add(...pathRule('read', srtPath(path), 'deny', path))
  for (const path of texts(files.denyWrite, 'filesystem.denyWrite', out))
    out.add(...pathRule('write', srtPath(path), 'deny', path))
  for (const path of texts(files.allowWrite, 'filesystem.allowWrite', out)) {
    out.add(...pathRule('write', srtPath(path), 'allow', path))
    if (!/[*?]/.test(path)) out.add({ kind: 'write', verdict: 'allow', path: `${srtPath(path).replace(/\/$/, '')}/**` })
  }
  // Only named paths are writable there.
  if (texts(files.allowWrite, 'filesystem.allowWrite', out).length === 0)
    out.add({ kind: 'write', verdict: 'deny', path: '**' })
  for (const name of ['allowUnixSockets', 'allowLocalBinding', 'allowAllUnixSockets']) {
    if (network[name] !== undefined && network[name] !== false) out.note(`network.${name} has no equivalent`)
  }
  for (const name of ['ignoreViolations', 'enableWeakerNestedSandbox']) {
    if (settings[name] !== undefined) out.note(`${name} has no equivalent`)
  }
  return out.draft()
}

function srtPath(path: string): string {
  return path === '.' ? '**' : path.replace(/^\.\//, '')
}
