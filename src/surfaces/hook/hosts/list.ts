/** Every host with a hook, one per line. */

export { claudeCode } from './claude-code.ts'
export { cline } from './cline.ts'
export { codex } from './codex.ts'
export { copilot } from './copilot.ts'
export { cursor } from './cursor.ts'
export { gemini } from './gemini.ts'
export { opencode } from './opencode.ts'
export { pi } from './pi.ts'
export { qwen } from './qwen.ts'
