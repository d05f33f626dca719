// One cell of the table is a stop of the Tab key; arrows move it. The header is the row above the first.

import type { RefObject } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface CellPlace {
  readonly row: number
  readonly column: number
}

export const HEADER_ROW = -1

export interface RovingOptions {
  readonly rows: number
  readonly columns: number
  /** Brings a cell into the document that is not in view. */
  readonly reveal: (place: CellPlace) => void
}

export interface Roving {
  readonly active: CellPlace
  readonly setActive: (place: CellPlace | undefined) => void
  /** Whether the key moved. */
  readonly press: (event: KeyboardEvent) => boolean
}

const PAGE_OF_ROWS = 15

export function useRoving(
  scroller: RefObject<HTMLElement | null>,
  { rows, columns, reveal }: RovingOptions,
): Roving {
  const [active, setActive] = useState<CellPlace>({ row: HEADER_ROW, column: 0 })
  const wantsFocus = useRef(false)
  const clamped = {
    row: Math.min(active.row, rows - 1),
    column: Math.min(active.column, Math.max(0, columns - 1)),
  }
  // The cell may come into the document only after the table has scrolled.
  useLayoutEffect(() => {
    if (!wantsFocus.current) return
    const cell = scroller.current?.querySelector<HTMLElement>(selectorOf(clamped))
    if (!cell) return
    wantsFocus.current = false
    cell.focus({ preventScroll: false })
  })
  const press = (event: KeyboardEvent): boolean => {
    if (!isInTable(event)) return false
    const to = moved(clamped, event, rows, columns)
    if (to === undefined) return false
    event.preventDefault()
    wantsFocus.current = true
    setActive(to)
    reveal(to)
    return true
  }
  return { active: clamped, setActive: (place) => place && setActive(place), press }
}

function selectorOf({ row, column }: CellPlace): string {
  if (row === HEADER_ROW) return `th[aria-colindex="${column + 1}"] .sort`
  return `td[data-row="${row}"][data-column="${column}"]`
}

/** A menu or a handle within the header has arrows of its own. */
function isInTable({ target }: KeyboardEvent): boolean {
  if (!(target instanceof Element)) return false
  return target.matches('td[data-row], .sort')
}

function moved(
  { row, column }: CellPlace,
  { key, ctrlKey, altKey, metaKey }: KeyboardEvent,
  rows: number,
  columns: number,
): CellPlace | undefined {
  if (altKey || metaKey) return undefined
  const inRow = (to: number) => ({ row, column: Math.max(0, Math.min(columns - 1, to)) })
  const inColumn = (to: number) => ({ row: Math.max(HEADER_ROW, Math.min(rows - 1, to)), column })
  switch (key) {
    case 'ArrowLeft':
      return inRow(column - 1)
    case 'ArrowRight':
      return inRow(column + 1)
    case 'ArrowUp':
      return inColumn(row - 1)
    case 'ArrowDown':
      return inColumn(row + 1)
    case 'PageUp':
      return inColumn(row - PAGE_OF_ROWS)
    case 'PageDown':
      return inColumn(row + PAGE_OF_ROWS)
    case 'Home':
      return ctrlKey ? { row: HEADER_ROW, column: 0 } : inRow(0)
    case 'End':
      return ctrlKey ? { row: rows - 1, column: columns - 1 } : inRow(columns - 1)
    default:
      return undefined
  }
}
