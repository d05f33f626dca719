import { useRef } from 'preact/hooks'
import { axisFor } from '../chart/axis.ts'
import type { ChartData } from '../chart/chart-data.ts'
import type { PictureProps } from './bar-chart.tsx'
import { lengthOf, Part, partsOfMark, visible } from './parts-of-mark.tsx'
import { useWidth } from './use-width.ts'
import './pictures.css'

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
