import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ChartData, totalOf } from '../chart/chart-data.ts'
import type { Label } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { axisFor, endsOf } from '../chart/steps.ts'
import type { Bar } from '../profile/profile-requests.ts'
import './pictures.css'

interface PictureProps {
  readonly data: ChartData
  readonly sentence: string
}

interface DrawingProps {
  readonly sentence: string
  readonly height: number
  readonly children: (width: number) => ComponentChildren
}

/** As wide as there is room, without scaling its text. */
function Drawing({ sentence, height, children }: DrawingProps) {
  const place = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useEffect(() => {
    const observer = new ResizeObserver((entries) =>
      setWidth(Math.floor(entries.at(-1)?.contentRect.width ?? 0)),
    )
    observer.observe(place.current!)
    return () => observer.disconnect()
  }, [])
  return (
    <div ref={place} class="picture">
      {width > 0 && (
        <svg role="img" aria-label={sentence} width={width} height={height}>
          {children(width)}
        </svg>
      )}
    </div>
  )
}

const ROW = 26
const BAR = 17
const AFTER = 96
const CHARACTER = 7

export function BarChart({ data, sentence }: PictureProps) {
  const { marks, series, isStacked } = data
  const lines = isStacked ? 1 : series.length
  const row = Math.max(ROW, lines * 9 + 8)
  const thick = Math.min(BAR, (row - 6) / lines)
  const height = marks.length * row + 6
  const parts = marks.map((_, i) => partsOfMark(data, i))
  const [least, greatest] = endsOfParts(parts)
  const longest = Math.max(40, ...marks.map(({ text }) => text.length * CHARACTER + 14))
  return (
    <Drawing sentence={sentence} height={height}>
      {(width) => {
        const label = Math.min(longest, Math.max(80, width * 0.3))
        const scale = Math.max(1, width - label - AFTER) / (greatest - least || 1)
        const x = (value: number) => label + (value - least) * scale
        return (
          <>
            {marks.map((mark, i) => (
              <g key={i} transform={`translate(0 ${i * row + 3})`}>
                <Name mark={mark} at={label} y={row / 2} />
                {parts[i]!.map(({ from, to, title }, s) => (
                  <rect
                    key={s}
                    class={seriesClass(s)}
                    x={x(Math.min(from, to))}
                    width={visible(from, to, scale)}
                    y={(row - thick * lines) / 2 + (isStacked ? 0 : s * thick)}
                    height={lines === 1 ? thick : thick - 1}
                  >
                    <title>{title}</title>
                  </rect>
                ))}
                <text
                  class="picture-number"
                  x={x(endsOfParts([parts[i]!])[1]) + 6}
                  y={row / 2}
                  dy="0.35em"
                >
                  {numberAfter(data, i)}
                </text>
              </g>
            ))}
            <line class="picture-zero" x1={x(0)} x2={x(0)} y1={0} y2={height} />
          </>
        )
      }}
    </Drawing>
  )
}

function Name({ mark, at, y }: { mark: Label; at: number; y: number }) {
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

/** With colours side by side each has its own in the table. */
function numberAfter({ series, isStacked }: ChartData, i: number): string {
  const values = series.map((one) => one.values[i] ?? null)
  if (values.length === 1) return groupDigits(values[0] ?? 'null')
  return isStacked ? groupDigits(totalOf(values)) : ''
}

const HEIGHT = 320
const LEFT = 58
const BOTTOM = 34
const TOP = 10

interface UprightProps extends PictureProps {
  /** What the scale at the left has to reach. */
  readonly ends: readonly number[]
  readonly children: (place: Place) => ComponentChildren
}

interface Place {
  readonly step: number
  readonly x: (i: number) => number
  readonly y: (value: number) => number
}

function Upright({ data: { marks }, sentence, ends, children }: UprightProps) {
  const axis = axisFor(ends)
  const scale = (HEIGHT - TOP - BOTTOM) / (axis.greatest - axis.least)
  const y = (value: number) => TOP + (axis.greatest - value) * scale
  const labels = marks.map(({ text }) => endsOf(text)[0])
  const label = Math.max(70, ...labels.map((text) => text.length * CHARACTER)) + 20
  return (
    <Drawing sentence={sentence} height={HEIGHT}>
      {(width) => {
        const step = Math.max(1, width - LEFT - 12) / Math.max(1, marks.length)
        const every = Math.ceil(label / step)
        const x = (i: number) => LEFT + i * step
        return (
          <>
            {axis.marks.map(({ value, text }) => (
              <g key={value}>
                <line class="picture-grid" x1={LEFT} x2={width} y1={y(value)} y2={y(value)} />
                <text class="picture-axis picture-axis-y" x={LEFT - 8} y={y(value)} dy="0.35em">
                  {text}
                </text>
              </g>
            ))}
            {labels.map(
              (text, i) =>
                i % every === 0 && (
                  <text key={i} class="picture-axis" x={x(i)} y={HEIGHT - BOTTOM + 18}>
                    {text}
                  </text>
                ),
            )}
            <line class="picture-zero" x1={LEFT} x2={width} y1={y(0)} y2={y(0)} />
            {children({ step, x, y })}
          </>
        )
      }}
    </Drawing>
  )
}

/** Bars side by side on a scale of numbers: a histogram, or what its bins come to. */
export function ColumnChart(props: PictureProps) {
  const { marks, series, isStacked } = props.data
  const parts = marks.map((_, i) => partsOfMark(props.data, i))
  return (
    <Upright {...props} ends={endsOfParts(parts)}>
      {({ step, x, y }) => {
        const room = Math.max(1, step - Math.min(2, step * 0.15))
        const each = isStacked ? room : room / series.length
        return parts.map((some, i) =>
          some.map(({ from, to, title }, s) => (
            <rect
              key={`${i} ${s}`}
              class={seriesClass(s)}
              x={x(i) + 0.5 + (isStacked ? 0 : s * each)}
              width={each}
              y={y(Math.max(from, to))}
              height={visible(from, to, y(0) - y(1))}
            >
              <title>{title}</title>
            </rect>
          )),
        )
      }}
    </Upright>
  )
}

/** With more of them the points of a line are not told apart; the only one would be no line. */
const MOST_POINTS = 60

/** Values over time. Those at the pointer are said below. */
export function LineChart(props: PictureProps) {
  const { marks, series } = props.data
  const [at, pointAt] = useState<number | null>(null)
  const numbers = series.map(({ values }) =>
    values.map((value) => (value === null ? Number.NaN : Number(value))),
  )
  return (
    <>
      <Upright {...props} ends={numbers.flat()}>
        {({ step, x, y }) => {
          const placed = numbers.map((values) =>
            values.map((value, i) => ({ x: x(i + 0.5), y: y(value) })),
          )
          return (
            <>
              {at !== null && (
                <line class="picture-zero" x1={x(at + 0.5)} x2={x(at + 0.5)} y1={TOP} y2={y(0)} />
              )}
              {placed.map((points, s) => (
                <g key={s} class={seriesClass(s)}>
                  <path d={pathThrough(points)} />
                  {marks.length < MOST_POINTS &&
                    points
                      .filter((point) => Number.isFinite(point.y))
                      .map((point) => <circle key={point.x} cx={point.x} cy={point.y} r={2.5} />)}
                </g>
              ))}
              <rect
                class="picture-touch"
                x={LEFT}
                width={step * marks.length}
                height={HEIGHT}
                onPointerMove={({ clientX, currentTarget }) => {
                  const px = clientX - currentTarget.getBoundingClientRect().left
                  pointAt(Math.max(0, Math.min(marks.length - 1, Math.floor(px / step))))
                }}
                onPointerLeave={() => pointAt(null)}
              />
            </>
          )
        }}
      </Upright>
      <p class="picture-reading" aria-hidden="true">
        {at === null ? ' ' : reading(props.data, at)}
      </p>
    </>
  )
}

/** With a gap where there is no number. */
function pathThrough(points: readonly { readonly x: number; readonly y: number }[]): string {
  return points
    .map(({ x, y }, i) => {
      if (!Number.isFinite(y)) return ''
      const isStart = !Number.isFinite(points[i - 1]?.y ?? Number.NaN)
      return `${isStart ? 'M' : 'L'}${x.toFixed(1)},${y.toFixed(1)}`
    })
    .join('')
}

function reading({ marks, series }: ChartData, at: number): string {
  const values = series.map(({ label, values: own }) => {
    const text = groupDigits(own[at] ?? '–')
    return series.length === 1 ? text : `${label.text} ${text}`
  })
  return `${marks[at]?.text}: ${values.join(', ')}`
}

export const seriesClass = (s: number) => `series-${(s % 8) + 1}`

interface MarkPart {
  /** Ends on the scale of the values; a part that is stacked begins where the one before it ends. */
  readonly from: number
  readonly to: number
  readonly title: string
}

function partsOfMark({ marks, series, isStacked }: ChartData, i: number): readonly MarkPart[] {
  let before = 0
  return series.map(({ label, values }) => {
    const number = Number(values[i] ?? 0)
    const from = isStacked ? before : 0
    // A bar needs a length: anything but a finite number gets 0.
    before = from + (Number.isFinite(number) ? number : 0)
    const colour = series.length > 1 ? `, ${label.text}` : ''
    return { from, to: before, title: `${marks[i]!.text}${colour}: ${values[i] ?? 'null'}` }
  })
}

function endsOfParts(parts: readonly (readonly MarkPart[])[]): readonly [number, number] {
  const ends = parts.flat().map(({ to }) => to)
  return [Math.min(0, ...ends), Math.max(0, ...ends)]
}

/** What is there is to be seen, however small it is. */
const visible = (from: number, to: number, scale: number) =>
  Math.max(from === to ? 0 : 1, Math.abs(to - from) * scale)

interface HistogramProps {
  readonly bars: readonly Bar[]
  readonly sentence: string
  readonly unit?: string
}

const SLOT = 10
const TALLEST = 100
/** A bar of one is still visible next to a bar of a million. */
const LEAST_HEIGHT = 3

export function HistogramBars({ bars, sentence, unit = 'rows' }: HistogramProps) {
  const most = Math.max(1, ...bars.map(({ rows }) => rows))
  return (
    <svg
      class="histogram"
      role="img"
      aria-label={sentence}
      viewBox={`0 0 ${Math.max(1, bars.length) * SLOT} ${TALLEST}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ text, rows }, i) => {
        const height = rows === 0 ? 0 : Math.max(LEAST_HEIGHT, (rows / most) * TALLEST)
        return (
          <g key={text}>
            <rect x={i * SLOT + 0.5} y={TALLEST - height} width={SLOT - 1} height={height} />
            <rect class="histogram-touch" x={i * SLOT} y={0} width={SLOT} height={TALLEST}>
              <title>{unit === '' ? text : `${text}: ${rows} ${unit}`}</title>
            </rect>
          </g>
        )
      })}
    </svg>
  )
}
