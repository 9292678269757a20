/** `lsp`: asks a language server about a file: diagnostics, definition, references, symbols, and the edits of a rename. */

import { declareTool, defineTool, toolHints } from '../define-tool.ts'
import { choice, count, path, takes, text as textInput } from '../input-schema.ts'
import { type Actions, InputError, type Tool, type ToolOutput, type ToolSpec } from '../tool.ts'

export type LanguageAction = 'diagnostics' | 'definition' | 'references' | 'symbols' | 'rename'

export interface LanguageQuestion {
  readonly action: LanguageAction
  /** Canonical. */
  readonly path: string
  /** What the file holds now. */
  readonly text: string
  /** Counted from 0; null where the action needs none. */
  readonly position: { readonly line: number; readonly character: number } | null
  readonly newName: string | null
}

/** A language server in the sandbox. */
export type LanguagePort = (question: LanguageQuestion, signal: AbortSignal) => Promise<ToolOutput>

const MAX_FILE = 4 * 1024 * 1024
const ACTIONS = ['diagnostics', 'definition', 'references', 'symbols', 'rename'] as const

const declaration = {
  name: 'lsp',
  description:
    'Asks the language server of a file: diagnostics, symbols; definition and references of the symbol at line and column; rename gives the edits to make, and changes nothing.',
  input: takes(
    { path, action: choice('What to ask.', ACTIONS) },
    {
      line: count('Line, counted from 1.'),
      column: count('Column, counted from 1.'),
      new_name: textInput('For rename.'),
    },
  ),
  labels: ['execute', 'filesystem'],
  hints: { title: 'Ask a language server', ...toolHints.reads },
  actions: (input: { readonly path: string }): Actions => ({ reads: [input.path] }),
} as const

export const lspSpec: ToolSpec = declareTool(declaration)

export function lspTool(ask: LanguagePort): Tool {
  return defineTool({
    ...declaration,
    run: async ({ path: given, action, line, column, new_name: newName }, context) => {
      const placed = action === 'definition' || action === 'references' || action === 'rename'
      if (placed && (line === undefined || column === undefined))
        throw new InputError(`${action} of lsp needs "line" and "column"`)
      if (action === 'rename' && !newName) throw new InputError('rename of lsp needs "new_name"')
      const position = placed ? { line: line! - 1, character: column! - 1 } : null
      const checked = context.checked(given)
      const text = context.files.read(checked, MAX_FILE).bytes.toString('utf8')
      return ask({ action, path: checked, text, position, newName: newName ?? null }, context.signal)
    },
  })
}
