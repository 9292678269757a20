/** The row of agents in their own screens, as people start them. */

import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { leaked, type Name, pushed, type Scenario, work, worked } from './scenario.ts'
import type { SessionWorld } from './session.ts'
import type { ScreenAnswer } from './terminal.ts'

interface Screen {
  readonly args: readonly string[]
  readonly answers?: readonly ScreenAnswer[]
  readonly prepare?: (world: SessionWorld) => void
}

/** How a person starts each with a first prompt, once its first questions were answered. */
const SCREENS: Readonly<Partial<Record<Name, Screen>>> = {
  'claude-code': {
    args: ['--permission-mode', 'bypassPermissions', '--model', 'claude-sonnet-4-5', 'go'],
    prepare: ({ home, project }) => {
      const file = join(home, '.claude.json')
      const known = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as object) : {}
      const trusted = { hasTrustDialogAccepted: true, hasCompletedProjectOnboarding: true }
      const answered = {
        bypassPermissionsModeAccepted: true,
        customApiKeyResponses: { approved: ['scripted'], rejected: [] },
        projects: { [project]: trusted },
      }
      writeFileSync(file, JSON.stringify({ ...known, ...answered }))
    },
  },
  codex: {
    args: ['-s', 'danger-full-access', '-a', 'never', 'go'],
    prepare: ({ home, project }) => {
      const file = join(home, '.codex/config.toml')
      const trusted = `\n[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`
      writeFileSync(file, readFileSync(file, 'utf8') + trusted)
    },
  },
  gemini: { args: ['--yolo', '-m', 'gemini-2.5-pro', '-i', 'go'] },
  opencode: { args: ['--mini', '--prompt', 'go', '-m', 'scripted/scripted'] },
  copilot: {
    args: ['-i', 'go', '--allow-all-tools', '--allow-all-paths', '--no-auto-update'],
    answers: [['Do you trust the files in this folder?', '\r']],
  },
  pi: { args: ['--provider', 'scripted', '--model', 'scripted', 'go'] },
  qwen: { args: ['--yolo', '-i', 'go'] },
  cline: { args: ['--tui', '-P', 'openai-compatible', '-m', 'scripted', 'go on'] },
}

export const AT_TERMINAL: Scenario = {
  name: 'at a terminal',
  row: 'at a terminal',
  agents: Object.keys(SCREENS) as Name[],
  plan: ({ name }) => {
    const { args, answers = [], prepare } = SCREENS[name]!
    return work({ scope: 'user', args, screen: answers, ...(prepare && { prepare }) })
  },
  findings: [worked, pushed, leaked],
}
