// Which rows and columns of a long, wide table are in view. Only those are in the document.

import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core'
import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useState } from 'preact/hooks'

export interface Window {
  /** First index in view, and the first behind it. */
  readonly from: number
  readonly to: number
  readonly beforePx: number
  readonly afterPx: number
  readonly reveal: (index: number) => void
}

export interface WindowOptions {
  readonly count: number
  readonly sizePx: (index: number) => number
  readonly isHorizontal: boolean
  /** Below this many all are in the document: one can search and print them. */
  readonly wholeBelow: number
  /** Covered by a header or by columns that stay. */
  readonly coveredPx: number
  /** Changes when sizes do. */
  readonly sizesKey: string
}

const OVERSCAN = 8

export function useWindow(
  scroller: RefObject<HTMLElement | null>,
  { count, sizePx, isHorizontal, wholeBelow, coveredPx, sizesKey }: WindowOptions,
): Window {
  const [, redraw] = useState(0)
  const isWhole = count <= wholeBelow
  const options = {
    count,
    estimateSize: sizePx,
    horizontal: isHorizontal,
    overscan: isHorizontal ? 2 : OVERSCAN,
    scrollPaddingStart: coveredPx,
    enabled: !isWhole,
    getScrollElement: () => scroller.current,
    scrollToFn: elementScroll<HTMLElement>,
    observeElementRect: observeElementRect<HTMLElement>,
    observeElementOffset: observeElementOffset<HTMLElement>,
    onChange: () => redraw((times) => times + 1),
  }
  const [virtualizer] = useState(() => new Virtualizer<HTMLElement, HTMLElement>(options))
  virtualizer.setOptions(options)
  useEffect(() => virtualizer._didMount(), [virtualizer])
  useLayoutEffect(() => virtualizer._willUpdate())
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, sizesKey])

  const reveal = (index: number) => {
    if (!isWhole) virtualizer.scrollToIndex(index, { align: 'auto' })
  }
  if (isWhole) return { from: 0, to: count, beforePx: 0, afterPx: 0, reveal }
  const items = virtualizer.getVirtualItems()
  const first = items[0]
  const last = items.at(-1)
  if (first === undefined || last === undefined) {
    return { from: 0, to: Math.min(count, 30), beforePx: 0, afterPx: 0, reveal }
  }
  return {
    from: first.index,
    to: last.index + 1,
    beforePx: first.start,
    afterPx: virtualizer.getTotalSize() - last.end,
    reveal,
  }
}
