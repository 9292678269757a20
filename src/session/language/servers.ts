/** Which language server speaks for which files. Data: the first one that is there is used. */

export interface LanguageRow {
  readonly language: string
  readonly extensions: readonly string[]
  /** Commands in order; a word that begins with `node_modules/` is of the project. */
  readonly servers: readonly (readonly string[])[]
}

export const languageRows: readonly LanguageRow[] = [
  {
    language: 'typescript',
    extensions: ['.ts', '.tsx', '.mts', '.cts', '.js', '.jsx', '.mjs', '.cjs'],
    servers: [
      ['node_modules/.bin/tsc', '--lsp', '--stdio'],
      ['node_modules/.bin/tsgo', '--lsp', '--stdio'],
      ['node_modules/.bin/typescript-language-server', '--stdio'],
      ['typescript-language-server', '--stdio'],
    ],
  },
  { language: 'python', extensions: ['.py', '.pyi'], servers: [['pyright-langserver', '--stdio'], ['pylsp']] },
  { language: 'go', extensions: ['.go'], servers: [['gopls']] },
  { language: 'rust', extensions: ['.rs'], servers: [['rust-analyzer']] },
  { language: 'c', extensions: ['.c', '.h', '.cc', '.cpp', '.hpp', '.cxx'], servers: [['clangd']] },
]
