/** The permission of each host mode in Cordon, and how a host reports its mode: by its input, or by its record of the session. */

/** A mode of a host. In every one of them what is denied stays denied, and what is allowed runs in the sandbox. */
export interface HostMode {
  readonly mode: string
  /** Fields of a call's input. */
  readonly says?: object
  /** The content of its record, by the file's path below the home. */
  readonly record?: Readonly<Record<string, string>>
  /** An allowed command can only read. */
  readonly reads?: true
  /** Whose yes an allowed command needs: ours is enough, or the host goes on as it would without. */
  readonly yes: 'ours' | 'host'
  /** Who is asked about what needs a yes: the person by their host, or no one, and then it is denied. */
  readonly ask: 'person' | 'nobody'
  /** The rows of the matrix that drive the real program in it; a test compares the two. */
  readonly driven: readonly string[]
}

type ModeInput = Pick<HostMode, 'says' | 'record'>

const lines = (...events: readonly object[]): string => events.map((event) => `${JSON.stringify(event)}\n`).join('')
const ID = 'a3a29a8a-96c1-41da-9b45-ca23ff780ba9'

/** A turn of Codex in its own sandbox. */
export const codexTurn = (type: string): ModeInput => ({
  says: { turn_id: 't1', transcript_path: '$H/record.jsonl' },
  record: {
    'record.jsonl': lines({ type: 'turn_context', payload: { turn_id: 't1', sandbox_policy: { type } } }),
  },
})

/** A call of Copilot CLI in this mode. */
export const copilotMode = (newMode: string): ModeInput => ({
  says: { sessionId: ID },
  record: {
    [`.copilot/session-state/${ID}/events.jsonl`]: lines(
      { type: 'session.mode_changed', data: { newMode } },
      { type: 'assistant.turn_start', data: {} },
      {
        type: 'hook.start',
        data: {
          hookInvocationId: 'h1',
          hookType: 'preToolUse',
          input: { sessionId: ID, toolCalls: [{ name: 'bash' }] },
        },
      },
    ),
  },
})

/** A call of Cline's after its person said something in this mode. */
export const clineSaid = (mode: string): ModeInput => ({
  says: { sessionContext: { rootSessionId: ID }, parent_agent_id: null },
  record: {
    [`.cline/data/sessions/${ID}/${ID}.messages.json`]: JSON.stringify({
      messages: [
        { role: 'user', content: [{ type: 'text', text: `<user_input mode="${mode}">go</user_input>` }] },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'run_commands' }] },
      ],
    }),
  },
})
