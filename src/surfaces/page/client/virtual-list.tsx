/** A list of any length of which only what is seen is there. */

import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'

/** Rows beyond the edge, so that scrolling shows no gap. */
const BEYOND = 8

interface Props<Item> {
  readonly items: readonly Item[]
  readonly height: number
  readonly label: string
  readonly keyOf: (item: Item) => string
  readonly row: (item: Item) => ComponentChildren
  readonly open: (item: Item) => void
}

/** Arrows, Page and Home/End move, Enter opens. One row at a time can be reached by Tab. */
export function VirtualList<Item>({ items, height, label, keyOf, row, open }: Props<Item>): JSX.Element {
  const box = useRef<HTMLDivElement>(null)
  const [top, scroll] = useState(0)
  const [space, setLayout] = useState(600)
  const [at, go] = useState(0)
  const moved = useRef(false)
  useEffect(() => {
    const seen = new ResizeObserver(() => setLayout(box.current?.clientHeight ?? 600))
    seen.observe(box.current!)
    return () => seen.disconnect()
  }, [])
  useEffect(() => {
    if (!moved.current) return
    moved.current = false
    box.current?.querySelector<HTMLElement>(`[data-at="${at}"]`)?.focus()
  }, [at, top])
  const first = Math.max(0, Math.floor(top / height) - BEYOND)
  const shown = items.slice(first, first + Math.ceil(space / height) + 2 * BEYOND)
  const current = Math.min(at, Math.max(0, items.length - 1))
  const move = (to: number) => {
    const next = Math.max(0, Math.min(items.length - 1, to))
    const element = box.current!
    if (next * height < element.scrollTop) element.scrollTop = next * height
    else if ((next + 1) * height > element.scrollTop + space) element.scrollTop = (next + 1) * height - space
    moved.current = true
    scroll(element.scrollTop)
    go(next)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const page = Math.max(1, Math.floor(space / height) - 1)
    const steps: { readonly [key: string]: number } = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page }
    if (event.key === 'Home') move(0)
    else if (event.key === 'End') move(items.length - 1)
    else if (steps[event.key] !== undefined) move(current + steps[event.key]!)
    else return
    event.preventDefault()
  }
  return (
    <div class="scroll" ref={box} onScroll={() => scroll(box.current!.scrollTop)}>
      {/* biome-ignore lint/a11y/useSemanticElements: most rows are not there, so their number is said by attributes. */}
      <div role="list" aria-label={label} style={{ height: `${items.length * height}px` }} onKeyDown={onKeyDown}>
        {shown.map((item, index) => (
          // biome-ignore lint/a11y/useSemanticElements: see above.
          <div
            key={keyOf(item)}
            role="listitem"
            aria-setsize={items.length}
            aria-posinset={first + index + 1}
            class="slot"
            style={{ top: `${(first + index) * height}px`, height: `${height}px` }}
          >
            <button
              type="button"
              class="row"
              data-at={first + index}
              tabIndex={
                first + index === current || (index === 0 && (current < first || current >= first + shown.length))
                  ? 0
                  : -1
              }
              onFocus={() => go(first + index)}
              onClick={() => open(item)}
            >
              {row(item)}
            </button>
          </div>
        ))}
      </div>
    </div>
  )
}
