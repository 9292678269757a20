/** The decision of a call, as a tree with reasons and rules. */

import type { JSX } from 'preact'
import type { ExplainNode, Explanation } from '../explain-view.ts'
import type { Reply } from './server.ts'
import { Verdict } from './words.tsx'

const STEPS = ['', 'denials and places', 'grants', 'explicit levels and the mode', 'declared kinds and built-in levels']

export function Explained({ reply: { status, body } }: { readonly reply: Reply<Explanation> }): JSX.Element {
  if (status !== 200) return <p>{body.why}</p>
  return (
    <>
      <p>
        <Verdict of={body.verdict} /> {body.reason}
      </p>
      {body.worst !== null && <p>Worst case: {body.worst}</p>}
      {body.remedy !== null && <p>{body.remedy}</p>}
      <p class="dim">
        {body.code}, decided in step {body.step}: {STEPS[body.step]}
      </p>
      <Tree nodes={body.tree} />
    </>
  )
}

function Tree({ nodes }: { readonly nodes: readonly ExplainNode[] }): JSX.Element {
  return (
    <ul class="tree">
      {nodes.map(({ text, verdict, reason, rules, children }, index) => (
        <li key={`${index}${text}`}>
          <Verdict of={verdict} /> <code>{text}</code>
          <div>{reason}</div>
          {rules.map((rule) => (
            <div key={rule} class="dim">
              {rule}
            </div>
          ))}
          {children.length > 0 && <Tree nodes={children} />}
        </li>
      ))}
    </ul>
  )
}
