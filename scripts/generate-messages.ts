/** Writes docs/reference/messages.md: every message that the sources show to a person or an agent, by surface. */

import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'

/** The pages of messages, by the first pattern that matches a source file. Null: no person reads its texts. */
const SURFACES: readonly (readonly [files: RegExp, title: string | null])[] = [
  // Tables of programs, generated data, code in other languages, and what the manifest reference contains.
  [/\/(?:shell\/tables|manifest\/schema|code\/(?:python|inside)|scan\/injection\/(?:hints|model))\b/, null],
  [
    /scan\/(?:injection|redact|hints)\/|bundles\/doc|\.generated\.ts$|\.fixture\.ts$|\.test\.ts$|code\/component\/imports|look-alike/,
    null,
  ],
  [/surfaces\/cli\/(?:usage|start\/help|flags|one-off-flags)/, null],
  [
    /surfaces\/cli\/commands\/machine|system\/residents|sandbox\/(?:support|assurance|repair)/,
    'Doctor, install and machine',
  ],
  [/surfaces\/cli\//, 'Command line'],
  [/approval\/|questions\/|one-off\/questions|session\/questions|policy\/review/, 'Prompts'],
  [/surfaces\/hook\/|agents\/hook\//, 'Hook answers'],
  [/surfaces\/mcp\/|agents\/mcp\//, 'MCP and gateway'],
  [/surfaces\/acp\//, 'Editors'],
  [/surfaces\/page\//, 'Page'],
  [/surfaces\/chat\/|chat\/|providers\//, 'Chat'],
  [/policy\/|shell\/|hosts\/|files\/|call\/decide/, 'Decisions'],
  [/manifest\/|project\/|learn\/|organisation\/|fleet\//, 'Manifests and signing'],
  [/tools\/|code\/|custom\//, 'Tools'],
  [/sandbox\/|run\/|undo\/|one-off\/|confine\//, 'Sandbox, runs and undo'],
  [/egress\//, 'Network'],
  [/./, 'Library, record and state'],
]

type Node = Readonly<Record<string, unknown>> & { readonly type: string; readonly start: number; readonly end: number }

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}

/** The text of a literal, a template or a concatenation, with `…` for its expressions; null for anything else. */
function textOf(node: Node): string | null {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : null
  if (node.type === 'JSXText') return String(node.value)
  if (node.type === 'TemplateLiteral') {
    const parts = node.quasis as readonly { readonly value: { readonly cooked: string } }[]
    return parts.map(({ value }) => value.cooked).join('…')
  }
  if (node.type !== 'BinaryExpression' || node.operator !== '+') return null
  const sides = [node.left, node.right].map((side) => (isNode(side) ? textOf(side) : null))
  return sides.every((side) => side === null) ? null : sides.map((side) => side ?? '…').join('')
}

/** Words that a sentence has, and a list of program names or a style sheet has not. */
const GRAMMAR =
  /\b(?:an?|the|is|are|was|to|of|in|on|by|with|without|no|not|for|from|and|or|that|it|here|this|you|your|can|cannot|has|have|be|as|at|does|only|say|neither|which|after|before|creates)\b/i

/** Lists of names, style sheets and whole pages: data that a person does not read as a sentence. */
function isData(text: string): boolean {
  if (/^(?::root\{|<!doctype|#!\/)/.test(text)) return true
  const words = text.split(' ')
  return words.length > 5 && words.every((word) => /^[\w.*+/:-]+$/.test(word)) && !GRAMMAR.test(text)
}

/** Whether a text is prose: three words of small letters, or a sentence. */
function isProse(text: string): boolean {
  if (isData(text)) return false
  const words = text.match(/(?<![\w$./-])[a-z]{2,}(?![\w$/(=])/gi) ?? []
  return (
    words.length >= 3 && /[a-z]{2,} [a-z]{2,}/i.test(text) && !/^[\s\S]*(?:=>|\bfunction\b|&&|\bimport \{)/.test(text)
  )
}

/** The messages in a source, each once, in their order. */
export function messagesIn(file: string, source: string): readonly string[] {
  const found = new Set<string>()
  const visit = (node: Node, parent: Node | null): void => {
    if (/^(?:ImportDeclaration|TS(?!As|Satisfies|NonNull))/.test(node.type)) return
    // Regular expressions and raw texts are code.
    if (node.type === 'TaggedTemplateExpression') return
    const text = textOf(node)
    if (text !== null && parent?.type !== 'JSXAttribute') {
      const line = text.replace(/\s+/g, ' ').trim()
      if (isProse(line)) found.add(line)
      if (node.type !== 'TemplateLiteral') return
    }
    for (const [name, value] of Object.entries(node))
      if (name !== 'quasis') for (const child of [value].flat()) if (isNode(child)) visit(child, node)
  }
  visit(parseAst(source, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node, null)
  return [...found]
}

const INTRO = `Every text that Cordon shows, by surface and source file; \`…\` is a value. The help of commands is in
[CLI](cli.md), and that of manifest keys in [the manifest](manifest.md).`

export function messagesPage(): string {
  const pages = new Map<string, string[]>()
  for (const file of globSync('src/**/*.{ts,tsx}').toSorted()) {
    const title = SURFACES.find(([files]) => files.test(file))![1]
    const messages = title === null ? [] : messagesIn(file, readFileSync(file, 'utf8'))
    if (messages.length === 0) continue
    const section = `### ${file.slice('src/'.length)}\n\n\`\`\`text\n${messages.map((line) => line.replaceAll('```', "'''")).join('\n')}\n\`\`\``
    pages.set(title!, [...(pages.get(title!) ?? []), section])
  }
  const titles = [...new Set(SURFACES.flatMap(([, title]) => title ?? []))]
  const sections = titles.map((title) => [`## ${title}`, ...(pages.get(title) ?? [])].join('\n\n'))
  const note = '<!-- Generated by scripts/generate-messages.ts (npm run docs). -->'
  return `${['# Messages', note, INTRO, ...sections].join('\n\n')}\n`
}

if (process.argv[1] === fileURLToPath(import.meta.url)) writeFileSync('docs/reference/messages.md', messagesPage())
