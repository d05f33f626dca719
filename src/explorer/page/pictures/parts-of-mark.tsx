import type { ChartData } from '../chart/chart-data.ts'

export interface MarkPart {
  /** Ends on the scale of the values; a part that is stacked begins where the one before it ends. */
  readonly from: number
  readonly to: number
}

/** What the series come to at one mark, as the ends of its bars. */
export function partsOfMark({ series, isStacked }: ChartData, i: number): readonly MarkPart[] {
  let before = 0
  return series.map(({ values }) => {
    const from = isStacked ? before : 0
    before = from + lengthOf(values[i])
    return { from, to: before }
  })
}

/** A bar needs a length: what is no finite number has none. */
export function lengthOf(value: string | null | undefined): number {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

export interface PartProps {
  readonly data: ChartData
  /** Of the mark, and of the series. */
  readonly i: number
  readonly s: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One bar in the colour of its series, which says its number to a pointer. */
export function Part({ data: { marks, series }, i, s, ...place }: PartProps) {
  const { label, values } = series[s]!
  const colour = series.length > 1 ? `, ${label.text}` : ''
  return (
    <rect class={`series-${(s % 8) + 1}`} {...place}>
      <title>{`${marks[i]!.text}${colour}: ${values[i] ?? 'null'}`}</title>
    </rect>
  )
}

/** What is there is to be seen, however small it is. */
export function visible({ from, to }: MarkPart, px: number): number {
  return Math.max(from === to ? 0 : 1, px)
}
