/** Our reader of pages against a real parser: the words that a page shows are the same, however broken its tags are. */

import fc from 'fast-check'
import { type DefaultTreeAdapterTypes, parse } from 'parse5'
import { expect, it } from 'vitest'
import { htmlToMarkdown } from './markdown.ts'

type Node = DefaultTreeAdapterTypes.ChildNode

/** What no browser shows as text. */
const SILENT: readonly string[] = ['script', 'style', 'head', 'template']

function shownWords(nodes: readonly Node[]): string[] {
  return nodes.flatMap((node) => {
    if (node.nodeName === '#text' && 'value' in node) return node.value.match(/w\d+/g) ?? []
    return 'childNodes' in node && !SILENT.includes(node.nodeName) ? shownWords(node.childNodes) : []
  })
}

/** Pieces of pages: words in text, in attributes, in comments and in scripts; tags that open, close, or do neither. */
const piece = fc
  .nat(999)
  .chain((number) =>
    fc.constantFrom(
      `w${number} `,
      `w${number}&amp;w${number} `,
      `<p>w${number}`,
      `<div class="w${number}">`,
      '</div>',
      '</p>',
      `<b title='w${number} > <i>'>`,
      '</b>',
      `<a href="/w${number}">`,
      '</a>',
      `<!-- w${number} -->`,
      `<!-- w${number} > -- -->`,
      `<script>"w${number}<p>"</script>`,
      `<style>.w${number} > p {}</style>`,
      `<br/>`,
      `<li>w${number}`,
      `<h2>w${number}</h2>`,
      `<pre>w${number}\n  w${number}</pre>`,
      `<span data-x=w${number}>`,
      '</span>',
      '<',
      ' > ',
      '&lt;p&gt;',
    ),
  )

it('shows the words that a browser shows', () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 30 }), (pieces) => {
      const html = `<!doctype html><body>${pieces.join('')}`
      const { markdown } = htmlToMarkdown(html, 'https://example.com/')
      const ours = markdown.replace(/\]\([^)]*\)/g, ']').match(/w\d+/g) ?? []
      expect(new Set(ours)).toEqual(new Set(shownWords(parse(html).childNodes)))
    }),
    { seed: 11, numRuns: 1500 },
  )
})
