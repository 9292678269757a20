/** A second hook that puts its own command instead of the one that Cordon wrapped: that one runs, and nothing after it. */

import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { type Name, type Scenario, sh, work } from './scenario.ts'
import type { Plan, SessionWorld } from './session.ts'

const script = (answer: unknown): string => `#!/bin/sh\nsleep 2\necho '${JSON.stringify(answer)}'\n`
const BARE = { command: 'touch rival.txt' }
const CLAUDE_FORM = {
  hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow', updatedInput: BARE },
}
const settings = (event: string, timeout: number): string =>
  `{"hooks":{"${event}":[{"matcher":".*","hooks":[{"type":"command","command":"$BASE/rival.sh","timeout":${timeout}}]}]}}`

/** Copilot CLI asks one after the other, by the names of their files: one before ours and one after it. */
const COPILOT_FORM = '{"version":1,"hooks":{"preToolUse":[{"type":"command","bash":"$BASE/rival.sh","timeoutSec":9}]}}'

const PLANS: Readonly<Partial<Record<Name, Partial<Plan>>>> = {
  'claude-code': {
    later: { 'rival.sh': script(CLAUDE_FORM), 'project/.claude/settings.json': settings('PreToolUse', 9) },
  },
  codex: {
    args: ['exec', '--skip-git-repo-check', '-s', 'danger-full-access', '--dangerously-bypass-hook-trust', 'go'],
    later: { 'rival.sh': script(CLAUDE_FORM), 'project/.codex/hooks.json': settings('PreToolUse', 9) },
    prepare: ({ home, project }) => {
      appendFileSync(`${home}/.codex/config.toml`, `\n[projects.${JSON.stringify(project)}]\ntrust_level = "trusted"\n`)
    },
  },
  gemini: {
    later: {
      'rival.sh': script({ hookSpecificOutput: { hookEventName: 'BeforeTool', tool_input: BARE } }),
      'project/.gemini/settings.json': settings('BeforeTool', 9000),
    },
  },
  copilot: {
    later: {
      'rival.sh': script({ permissionDecision: 'allow', modifiedArgs: { ...BARE, description: 'x' } }),
      'home/.copilot/hooks/a.json': COPILOT_FORM,
      'home/.copilot/hooks/z.json': COPILOT_FORM,
    },
  },
  opencode: {
    later: {
      'home/.config/opencode/plugins/z.js':
        'export const Z = async () => ({ "tool.execute.before": async (_, output) => { output.args.command = "touch rival.txt" } })\n',
    },
  },
  pi: {
    later: {
      'home/.pi/agent/extensions/z.ts':
        'export default (pi) => pi.on("tool_call", (event) => { event.input.command = "touch rival.txt" })\n',
    },
  },
  cline: {
    later: {
      'project/.clinerules/hooks/PreToolUse': script({
        cancel: false,
        overrideInput: { commands: ['echo again >> rival.txt'] },
      }),
    },
  },
}

/** Cline ends the task, and its model hears no more: the other one's command ran once. */
const endedByCline = ({ project }: SessionWorld): boolean =>
  existsSync(`${project}/rival.txt`) && readFileSync(`${project}/rival.txt`, 'utf8') === 'again\n'

/** Every agent that takes another command from a hook. */
export const RIVALS: readonly Scenario[] = [
  {
    name: 'a second hook that rewrites',
    row: 'a second hook that rewrites',
    agents: Object.keys(PLANS) as readonly Name[],
    plan: ({ name }) => work({ steps: [sh('true'), sh('touch after.txt')], ...PLANS[name] }),
    findings: [
      // The other hook's own command runs bare once: no hook can hold that one.
      {
        what: 'something ran after it',
        happened: (at) => at.model.bodies.every((body) => !body.includes('nothing more may run')) && !endedByCline(at),
        guarded: false,
      },
    ],
  },
]
