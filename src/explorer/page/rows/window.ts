// Which rows or columns of a long table are in view, from their sizes alone. Only those are in the document.

interface Window {
  readonly from: number
  readonly to: number
  readonly beforePx: number
  readonly afterPx: number
}

/** Where each of them begins, and at the last place where all end. */
type Edges = readonly number[]

export function edgesOf(sizesPx: readonly number[]): Edges {
  const edges = [0]
  for (const size of sizesPx) edges.push(edges.at(-1)! + size)
  return edges
}

export function windowOf(edges: Edges, offsetPx: number, viewPx: number, overscan: number): Window {
  const count = edges.length - 1
  const from = Math.max(0, indexAt(edges, offsetPx) - overscan)
  const to = Math.min(count, indexAt(edges, offsetPx + viewPx) + 1 + overscan)
  return { from, to, beforePx: edges[from]!, afterPx: edges[count]! - edges[to]! }
}

/** The same for rows, which are all of one height, without a list of them. */
export function evenWindow(
  count: number,
  sizePx: number,
  offsetPx: number,
  viewPx: number,
  overscan: number,
): Window {
  const from = Math.max(0, Math.min(count, Math.floor(offsetPx / sizePx)) - overscan)
  const to = Math.min(count, Math.ceil((offsetPx + viewPx) / sizePx) + overscan)
  return { from, to, beforePx: from * sizePx, afterPx: (count - to) * sizePx }
}

export function offsetToReveal(
  startPx: number,
  sizePx: number,
  offsetPx: number,
  viewPx: number,
): number {
  if (startPx < offsetPx) return startPx
  return startPx + sizePx > offsetPx + viewPx ? startPx + sizePx - viewPx : offsetPx
}

/** The last one that begins at or before the place. */
const indexAt = (edges: Edges, px: number) =>
  Math.max(
    0,
    edges.slice(0, -1).findLastIndex((edge) => edge <= px),
  )
