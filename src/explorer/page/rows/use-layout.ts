// Where everything in the table is: widths of columns, what stays at the left, what is in view.
//
// One cell of the table is a stop of the Tab key; arrows move it. The header is the row above the first.

import type { RefObject } from 'preact'
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../model/schema.ts'
import { defaultWidthPx, type RowColumn } from './columns.ts'
import type { RowsContext } from './rows-context.ts'
import { pinnedCount } from './table-actions.ts'
import { edgesOf, evenWindow, offsetToReveal, windowOf } from './window.ts'
import { keptState, useValue } from '../parts/use-value.ts'

export type Layout = ReturnType<typeof useLayout>

const ROW_PX = 32
const HEADER_PX = 36
/** So many are in the document as a whole: they can be searched by the browser, and printed. */
const ALL_ROWS_UP_TO = 200
const ALL_COLUMNS_UP_TO = 40
const ROWS_BEYOND = 10
const COLUMNS_BEYOND = 2

export function useLayout(
  context: RowsContext,
  columns: readonly RowColumn[],
  rows: readonly Row[],
  scroller: RefObject<HTMLElement | null>,
) {
  const widthsPx = useWidths(context, columns, rows)
  const edges = edgesOf(widthsPx)
  const pinned = Math.min(pinnedCount(context.state.options), columns.length)
  const pinnedPx = edges[pinned]!
  const [topPx, leftPx, heightPx, widthPx] = useView(scroller)
  // The columns that scroll, counted from the first of them.
  const scrolling = edges.slice(pinned).map((edge) => edge - pinnedPx)
  const rowsBeyond = rows.length <= ALL_ROWS_UP_TO ? Infinity : ROWS_BEYOND
  const vertical = evenWindow(rows.length, ROW_PX, topPx, heightPx, rowsBeyond)
  const columnsBeyond = columns.length <= ALL_COLUMNS_UP_TO ? Infinity : COLUMNS_BEYOND
  const horizontal = windowOf(scrolling, leftPx, widthPx, columnsBeyond)
  const reveal = ({ row, column }: CellPlace) => {
    const region = scroller.current
    if (region === null) return
    if (row !== HEADER_ROW) {
      const viewPx = region.clientHeight - HEADER_PX
      region.scrollTop = offsetToReveal(row * ROW_PX, ROW_PX, region.scrollTop, viewPx)
    }
    if (column < pinned) return
    const start = scrolling[column - pinned]!
    const viewPx = region.clientWidth - pinnedPx
    region.scrollLeft = offsetToReveal(start, widthsPx[column]!, region.scrollLeft, viewPx)
  }
  return { vertical, horizontal, pinned, widthsPx, edges, reveal }
}

export function shownColumns({ horizontal, pinned }: Layout): readonly number[] {
  const first = Array.from({ length: pinned }, (_, i) => i)
  const { from, to } = horizontal
  return [...first, ...Array.from({ length: to - from }, (_, i) => pinned + from + i)]
}

function useWidths(
  { set }: RowsContext,
  columns: readonly RowColumn[],
  rows: readonly Row[],
): readonly number[] {
  // Widths follow the first rows: a column that changed its width while somebody reads would be a nuisance.
  const first = useRef(rows)
  if (first.current.length === 0) first.current = rows
  const chosen = useValue(widths)
  return columns.map(
    (column) => chosen[`${set.name}.${column.name}`] ?? defaultWidthPx(column, first.current),
  )
}

/** The table is drawn again when it has moved so far, not for every pixel. */
const STEP_PX = 96

type View = readonly [topPx: number, leftPx: number, heightPx: number, widthPx: number]

function useView(scroller: RefObject<HTMLElement | null>): View {
  // Before it is known how large it is.
  const [view, setView] = useState<View>([0, 0, 800, 1_600])
  useEffect(() => {
    const region = scroller.current
    if (region === null) return undefined
    const step = (px: number) => Math.floor(px / STEP_PX) * STEP_PX
    const look = () => {
      const { scrollTop, scrollLeft, clientHeight, clientWidth } = region
      const room = 2 * STEP_PX
      const seen: View = [
        step(scrollTop),
        step(scrollLeft),
        step(clientHeight) + room,
        step(clientWidth) + room,
      ]
      setView((before) => (seen.every((px, i) => px === before[i]) ? before : seen))
    }
    const sizes = new ResizeObserver(look)
    sizes.observe(region)
    region.addEventListener('scroll', look, { passive: true })
    return () => {
      sizes.disconnect()
      region.removeEventListener('scroll', look)
    }
  }, [])
  return view
}

const MOST_COLUMNS = 500

export const LEAST_WIDTH_PX = 48
export const MOST_WIDTH_PX = 1_200

/** By `set.column`; those that somebody has chosen. */
const widths = keptState<Readonly<Record<string, number>>>(
  'eider-widths',
  (text) => {
    try {
      return JSON.parse(text) as Record<string, number>
    } catch {
      return {}
    }
  },
  JSON.stringify,
)

export function setWidth(set: string, column: string, widthPx: number): void {
  const kept = Math.round(Math.min(MOST_WIDTH_PX, Math.max(LEAST_WIDTH_PX, widthPx)))
  const { [`${set}.${column}`]: _, ...others } = widths.value
  const entries = [...Object.entries(others), [`${set}.${column}`, kept] as const]
  widths.value = Object.fromEntries(entries.slice(-MOST_COLUMNS))
}

export interface CellPlace {
  readonly row: number
  readonly column: number
}

export const HEADER_ROW = -1

interface RovingOptions {
  readonly rows: number
  readonly columns: number
  /** Brings a cell into the document that is not in view. */
  readonly reveal: (place: CellPlace) => void
}

const PAGE_OF_ROWS = 15

export function useRoving(
  scroller: RefObject<HTMLElement | null>,
  { rows, columns, reveal }: RovingOptions,
) {
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
  return {
    active: clamped,
    setActive: (place: CellPlace | undefined) => place && setActive(place),
    press,
  }
}

function selectorOf({ row, column }: CellPlace): string {
  if (row === HEADER_ROW) return `th[aria-colindex="${column + 1}"] .sort`
  return `td[data-row="${row}"][data-column="${column}"]`
}

/** A menu or a handle within the header handles arrows itself. */
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
  const at = (toRow: number, toColumn: number) => ({
    row: Math.max(HEADER_ROW, Math.min(rows - 1, toRow)),
    column: Math.max(0, Math.min(columns - 1, toColumn)),
  })
  const places: Readonly<Record<string, CellPlace>> = {
    ArrowLeft: at(row, column - 1),
    ArrowRight: at(row, column + 1),
    ArrowUp: at(row - 1, column),
    ArrowDown: at(row + 1, column),
    PageUp: at(row - PAGE_OF_ROWS, column),
    PageDown: at(row + PAGE_OF_ROWS, column),
    Home: ctrlKey ? at(HEADER_ROW, 0) : at(row, 0),
    End: ctrlKey ? at(rows - 1, columns - 1) : at(row, columns - 1),
  }
  return places[key]
}
