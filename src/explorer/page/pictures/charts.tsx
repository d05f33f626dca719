import type { IncompleteEnds } from '../chart/incomplete.ts'
import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { type ChartData, totalOf } from '../chart/chart-data.ts'
import type { Label } from '../model/schema.ts'
import { isAlone, drawnLines, numberOrGap, pathThrough } from './lines.ts'
import { formatNumber, groupDigits } from '../model/show.ts'
import { axisFor, endsOf, shortNumber } from '../chart/steps.ts'
import './pictures.css'

interface PictureProps {
  readonly data: ChartData
  readonly sentence: string
  /** Somebody has clicked a mark, or drawn from one to another. The table of the numbers has the same as links. */
  readonly onPick?: ((first: number, last: number) => void) | undefined
  readonly incomplete?: IncompleteEnds | undefined
  /** Values of the period before, one for each mark. */
  readonly before?: readonly (string | null)[] | undefined
}

interface DrawingProps {
  readonly sentence: string
  readonly height: number
  readonly children: (width: number) => ComponentChildren
}

/** It takes the width that there is, and its text keeps its size. */
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

export function BarChart({ data, sentence, onPick }: PictureProps) {
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
              <g
                key={i}
                class={onPick === undefined ? '' : 'picture-pick'}
                transform={`translate(0 ${i * row + 3})`}
                onClick={() => onPick?.(i, i)}
              >
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
                  {data.format === undefined
                    ? shortNumber(numberAfter(data, i))
                    : formatNumber(numberAfter(data, i), data.format)}
                  <title>{groupDigits(numberAfter(data, i))}</title>
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
  if (values.length === 1) return values[0] ?? 'null'
  return isStacked ? totalOf(values) : ''
}

const HEIGHT = 320
const LEFT = 58
const BOTTOM = 26
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

function Upright({ data: { marks, format }, sentence, ends, children }: UprightProps) {
  const axis = axisFor(ends)
  const isPercent = format?.endsWith('%') === true
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
                  {isPercent ? `${+(value * 100).toPrecision(12)}%` : text}
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
        const bars = parts.map((some, i) =>
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
        return (
          <Brush marks={marks.length} step={step} onPick={props.onPick}>
            {bars}
          </Brush>
        )
      }}
    </Upright>
  )
}

interface BrushProps {
  readonly marks: number
  readonly step: number
  readonly onPick: PictureProps['onPick']
  readonly onPoint?: (at: number | null) => void
  readonly children?: ComponentChildren
}

/** A click takes one mark, and a stroke all from the first to the last. */
function Brush({ marks, step, onPick, onPoint, children }: BrushProps) {
  const [from, begin] = useState<number | null>(null)
  const [to, reach] = useState(0)
  const markAt = ({ clientX, currentTarget }: PointerEvent) => {
    const drawing = (currentTarget as SVGElement).ownerSVGElement!
    const px = clientX - drawing.getBoundingClientRect().left - LEFT
    return Math.max(0, Math.min(marks - 1, Math.floor(px / step)))
  }
  const end = () => {
    if (from === null) return
    begin(null)
    onPick?.(Math.min(from, to), Math.max(from, to))
  }
  return (
    <g
      class={onPick === undefined ? '' : 'picture-pick'}
      onPointerDown={(event) => {
        if (onPick === undefined || event.button !== 0) return
        begin(markAt(event))
        reach(markAt(event))
      }}
      onPointerMove={(event) => {
        onPoint?.(markAt(event))
        reach(markAt(event))
      }}
      onPointerUp={end}
      onPointerLeave={() => {
        onPoint?.(null)
        begin(null)
      }}
    >
      {from !== null && from !== to && (
        <rect
          class="picture-brush"
          x={LEFT + Math.min(from, to) * step}
          width={(Math.abs(to - from) + 1) * step}
          y={TOP}
          height={HEIGHT - TOP - BOTTOM}
        />
      )}
      <rect class="picture-touch" x={LEFT} width={step * marks} height={HEIGHT} />
      {children}
    </g>
  )
}

/** With more of them the points of a line are not told apart; the only one would be no line. */
const MOST_POINTS = 60

/** Values over time. Those at the pointer are said below. */
export function LineChart(props: PictureProps) {
  const { marks, series } = props.data
  const [at, pointAt] = useState<number | null>(null)
  const numbers = series.map(({ values }) => values.map(numberOrGap))
  const before = props.before?.map(numberOrGap)
  return (
    <>
      <Upright {...props} ends={[...numbers.flat(), ...(before ?? [])]}>
        {({ step, x, y }) => {
          const placed = numbers.map((values) =>
            values.map((value, i) => ({ x: x(i + 0.5), y: y(value) })),
          )
          return (
            <>
              {at !== null && (
                <line class="picture-zero" x1={x(at + 0.5)} x2={x(at + 0.5)} y1={TOP} y2={y(0)} />
              )}
              {before !== undefined && (
                <path
                  class="picture-before"
                  d={pathThrough(before.map((value, i) => ({ x: x(i + 0.5), y: y(value) })))}
                />
              )}
              {placed.map((points, s) => (
                <g key={s} class={seriesClass(s)}>
                  {drawnLines(points, props.incomplete).map(({ d, isDotted }) => (
                    <path key={d} class={isDotted ? 'picture-incomplete' : ''} d={d} />
                  ))}
                  {points.map(
                    (point, i) =>
                      Number.isFinite(point.y) &&
                      (marks.length < MOST_POINTS || isAlone(points, i)) && (
                        <circle key={point.x} cx={point.x} cy={point.y} r={2.5} />
                      ),
                  )}
                </g>
              ))}
              <Brush marks={marks.length} step={step} onPick={props.onPick} onPoint={pointAt} />
            </>
          )
        }}
      </Upright>
      <p class="picture-reading" aria-hidden="true">
        {at === null ? ' ' : reading(props, at)}
      </p>
    </>
  )
}

function reading(
  { data: { marks, series, format }, before, incomplete }: PictureProps,
  at: number,
): string {
  const shown = (value: string | null | undefined) => formatNumber(value ?? '–', format)
  const values = series.map(({ label, values: own }) => {
    const text = shown(own[at])
    return series.length === 1 ? text : `${label.text} ${text}`
  })
  const isEnd = (at === 0 && incomplete?.first) || (at === marks.length - 1 && incomplete?.last)
  const then = before === undefined ? '' : `, the period before ${shown(before[at])}`
  return `${marks[at]?.text}${isEnd ? ' (incomplete)' : ''}: ${values.join(', ')}${then}`
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
