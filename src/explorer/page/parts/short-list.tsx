import type { ComponentChildren } from 'preact'

const FIRST = 12

/** Of a long list the beginning, and the rest on demand. */
export function ShortList({ items }: { readonly items: readonly ComponentChildren[] }) {
  const rest = items.slice(FIRST)
  // One more is not worth a click.
  if (rest.length < 2) return <ul>{items}</ul>
  return (
    <>
      <ul>{items.slice(0, FIRST)}</ul>
      <details class="rest">
        <summary>{rest.length} more</summary>
        <ul>{rest}</ul>
      </details>
    </>
  )
}
