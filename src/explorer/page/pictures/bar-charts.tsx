import { useRef } from 'preact/hooks'
import { type ChartData, type Mark, totalOf } from '../chart/chart-data.ts'
import { groupDigits } from '../model/show.ts'
import { useWidth } from './use-width.ts'
import { axisFor } from '../chart/steps.ts'
import './pictures.css'

export interface PictureProps {
  readonly data: ChartData
  /** What it shows, for who does not see it. */
  readonly sentence: string
}

const ROW = 26
const BAR = 17
/** The room that the numbers after the bars need. */
const AFTER = 96
const CHARACTER = 7

/** Bars that lie below each other, with room for their names. */
export function BarChart({ data, sentence }: PictureProps) {
  const place = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const { marks, series, isStacked } = data
  const label = Math.min(
    Math.max(40, ...marks.map(({ text }) => text.length * CHARACTER + 14)),
    Math.max(80, width * 0.3),
  )
  const lines = isStacked ? 1 : series.length
  const row = isStacked ? ROW : Math.max(ROW, lines * 9 + 8)
  const height = marks.length * row + 6
  const totals = marks.map((_, i) =>
    series.reduce((sum, { values }) => sum + lengthOf(values[i]), 0),
  )
  const ends = isStacked ? totals : series.flatMap(({ values }) => values.map(lengthOf))
  const least = Math.min(0, ...ends)
  const span = Math.max(0, ...ends) - least || 1
  const scale = Math.max(1, width - label - AFTER) / span
  const x = (value: number) => label + (value - least) * scale
  return (
    <div ref={place} class="picture">
      {width > 0 && (
        <svg role="img" aria-label={sentence} width={width} height={height}>
          {marks.map((mark, i) => (
            <g key={i} transform={`translate(0 ${i * row + 3})`}>
              <Name mark={mark} at={label} y={row / 2} />
              <Bars data={data} i={i} x={x} row={row} />
              <text
                class="picture-number"
                x={x(Math.max(0, isStacked ? totals[i]! : greatestOf(data, i))) + 6}
                y={row / 2}
                dy="0.35em"
              >
                {shown(data, i)}
              </text>
            </g>
          ))}
          <line class="picture-zero" x1={x(0)} x2={x(0)} y1={0} y2={height} />
        </svg>
      )}
    </div>
  )
}

function Name({ mark, at, y }: { mark: Mark; at: number; y: number }) {
  const most = Math.max(4, Math.floor((at - 14) / CHARACTER))
  const isCut = mark.text.length > most
  return (
    <text
      class={mark.isWord ? 'picture-label picture-word' : 'picture-label'}
      x={at - 8}
      y={y}
      dy="0.35em"
    >
      {isCut ? `${mark.text.slice(0, most - 1)}…` : mark.text}
      {isCut && <title>{mark.text}</title>}
    </text>
  )
}

function Bars({
  data,
  i,
  x,
  row,
}: {
  data: ChartData
  i: number
  x: (value: number) => number
  row: number
}) {
  const { series, isStacked } = data
  const height = isStacked ? BAR : Math.min(BAR, (row - 6) / series.length)
  const top = (row - (isStacked ? BAR : height * series.length)) / 2
  return (
    <>
      {partsOfMark(data, i).map((part, s) => {
        const [left, right] = [x(Math.min(part.from, part.to)), x(Math.max(part.from, part.to))]
        return (
          <Part
            key={s}
            data={data}
            i={i}
            s={s}
            x={left}
            width={visible(part, right - left)}
            y={isStacked ? top : top + s * height}
            height={isStacked ? height : height - 1}
          />
        )
      })}
    </>
  )
}

/** The number after the bars; with colours side by side each has its own in the table. */
function shown({ series, isStacked }: ChartData, i: number): string {
  const values = series.map((one) => one.values[i] ?? null)
  if (values.length === 1) return groupDigits(values[0] ?? 'null')
  return isStacked ? groupDigits(totalOf(values)) : ''
}

const greatestOf = ({ series }: ChartData, i: number) =>
  Math.max(...series.map(({ values }) => lengthOf(values[i])))

const HEIGHT = 320
const LEFT = 58
const BOTTOM = 34
const TOP = 10

/** Bars side by side on a scale of numbers: a histogram, or what its bins come to. */
export function ColumnChart({ data, sentence }: PictureProps) {
  const place = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const { marks, series, isStacked } = data
  const sums = marks.map((_, i) => series.reduce((sum, { values }) => sum + lengthOf(values[i]), 0))
  const axis = axisFor(isStacked ? sums : series.flatMap(({ values }) => values.map(lengthOf)))
  const y = (value: number) =>
    TOP + ((axis.greatest - value) / (axis.greatest - axis.least)) * (HEIGHT - TOP - BOTTOM)
  const step = Math.max(1, width - LEFT - 12) / Math.max(1, marks.length)
  const every = Math.max(1, Math.ceil(90 / step))
  return (
    <div ref={place} class="picture">
      {width > 0 && (
        <svg role="img" aria-label={sentence} width={width} height={HEIGHT}>
          {axis.marks.map(({ value, text }) => (
            <g key={value}>
              <line class="picture-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
              <text class="picture-axis picture-axis-y" x={LEFT - 8} y={y(value)} dy="0.35em">
                {text}
              </text>
            </g>
          ))}
          {marks.map((mark, i) => (
            <g key={i} transform={`translate(${LEFT + i * step} 0)`}>
              <Columns data={data} i={i} y={y} step={step} />
              {i % every === 0 && (
                <text class="picture-axis" x={0} y={HEIGHT - BOTTOM + 18}>
                  {mark.text.split(' to below ')[0]}
                </text>
              )}
            </g>
          ))}
          <line class="picture-zero" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
        </svg>
      )}
    </div>
  )
}

interface ColumnsProps {
  readonly data: ChartData
  readonly i: number
  readonly y: (value: number) => number
  readonly step: number
}

function Columns({ data, i, y, step }: ColumnsProps) {
  const { series, isStacked } = data
  const room = Math.max(1, step - Math.min(2, step * 0.15))
  const each = isStacked ? room : room / series.length
  return (
    <>
      {partsOfMark(data, i).map((part, s) => {
        const [top, bottom] = [y(Math.max(part.from, part.to)), y(Math.min(part.from, part.to))]
        return (
          <Part
            key={s}
            data={data}
            i={i}
            s={s}
            x={isStacked ? 0.5 : 0.5 + s * each}
            width={each}
            y={top}
            height={visible(part, bottom - top)}
          />
        )
      })}
    </>
  )
}

interface MarkPart {
  /** Ends on the scale of the values; a part that is stacked begins where the one before it ends. */
  readonly from: number
  readonly to: number
}

/** What the series come to at one mark, as the ends of its bars. */
function partsOfMark({ series, isStacked }: ChartData, i: number): readonly MarkPart[] {
  let before = 0
  return series.map(({ values }) => {
    const from = isStacked ? before : 0
    before = from + lengthOf(values[i])
    return { from, to: before }
  })
}

/** A bar needs a length: anything but a finite number gets 0. */
function lengthOf(value: string | null | undefined): number {
  const number = Number(value ?? 0)
  return Number.isFinite(number) ? number : 0
}

interface PartProps {
  readonly data: ChartData
  /** The index of the mark, then of the series. */
  readonly i: number
  readonly s: number
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

/** One bar in the colour of its series, which says its number to a pointer. */
function Part({ data: { marks, series }, i, s, ...place }: PartProps) {
  const { label, values } = series[s]!
  const colour = series.length > 1 ? `, ${label.text}` : ''
  return (
    <rect class={`series-${(s % 8) + 1}`} {...place}>
      <title>{`${marks[i]!.text}${colour}: ${values[i] ?? 'null'}`}</title>
    </rect>
  )
}

/** What is there is to be seen, however small it is. */
function visible({ from, to }: MarkPart, px: number): number {
  return Math.max(from === to ? 0 : 1, px)
}
