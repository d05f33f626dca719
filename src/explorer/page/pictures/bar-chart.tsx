import { useRef } from 'preact/hooks'
import type { ChartData, Mark } from '../chart/chart-data.ts'
import { totalOf } from '../chart/numbers.ts'
import { groupDigits } from '../model/show.ts'
import { lengthOf, Part, partsOfMark, visible } from './parts-of-mark.tsx'
import { useWidth } from './use-width.ts'
import './pictures.css'

export interface PictureProps {
  readonly data: ChartData
  /** What it shows, for who does not see it. */
  readonly sentence: string
}

const ROW = 26
const BAR = 17
/** What the numbers behind the bars need. */
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

/** The number behind the bars; with colours side by side each has its own in the table. */
function shown({ series, isStacked }: ChartData, i: number): string {
  const values = series.map((one) => one.values[i] ?? null)
  if (values.length === 1) return groupDigits(values[0] ?? 'null')
  return isStacked ? groupDigits(totalOf(values)) : ''
}

const greatestOf = ({ series }: ChartData, i: number) =>
  Math.max(...series.map(({ values }) => lengthOf(values[i])))
