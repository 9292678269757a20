/** How each agent has another one do the work. */

import { type Name, sh } from './scenario.ts'
import type { Step } from './session.ts'

/** How a conversation of another agent begins. */
export const PROMPT = 'you are the OTHERAGENT'
/** The call that has another agent do the work. */
export const DELEGATED: Readonly<Partial<Record<Name, readonly Step[]>>> = {
  'claude-code': [
    {
      tool: 'Agent',
      input: { description: 'x', prompt: PROMPT, subagent_type: 'general-purpose', run_in_background: false },
    },
  ],
  // It works beside the first one, which has to be there for as long.
  codex: [
    { tool: 'collaboration.spawn_agent', input: { task_name: 'other', message: PROMPT, fork_turns: 'none' } },
    sh('sleep 9'),
    sh('sleep 9'),
  ],
  gemini: [{ tool: 'invoke_agent', input: { agent_name: 'generalist', prompt: PROMPT } }],
  opencode: [{ tool: 'task', input: { description: 'x', prompt: PROMPT, subagent_type: 'general' } }],
  copilot: [
    {
      tool: 'task',
      input: { name: 'x', description: 'x', prompt: PROMPT, agent_type: 'general-purpose', mode: 'sync' },
    },
  ],
  qwen: [{ tool: 'agent', input: { description: 'x', prompt: PROMPT, subagent_type: 'general-purpose' } }],
  cline: [{ tool: 'spawn_agent', input: { systemPrompt: 'x', task: PROMPT } }],
}
