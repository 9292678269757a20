/** All wires. */

import type { WireName } from '../conversation.ts'
import type { Wire } from '../wire.ts'
import { anthropic } from './anthropic.ts'
import { gemini } from './gemini.ts'
import { openaiChat } from './openai-chat.ts'
import { openaiResponses } from './openai-responses.ts'

export const wires: Readonly<Record<WireName, Wire>> = {
  anthropic,
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  gemini,
}
