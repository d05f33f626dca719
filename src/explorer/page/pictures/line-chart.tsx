import { useEffect, useRef, useState } from 'preact/hooks'
import type uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'
import { showCompact } from '../chart/steps.ts'
import type { ChartData } from '../chart/chart-data.ts'
import { groupDigits } from '../model/show.ts'
import { useValue } from '../parts/use-value.ts'
import { colours } from '../parts/theme.tsx'
import { useWidth, type PictureProps } from './bar-charts.tsx'
import './pictures.css'

const HEIGHT = 320

/** Values over time. The library draws on a canvas, which does not follow the colours of the page by itself. */
export function LineChart({ data, sentence }: PictureProps) {
  const place = useRef<HTMLDivElement>(null)
  const width = useWidth(place)
  const [at, pointAt] = useState<number | null>(null)
  const scheme = useValue(colours)
  useEffect(() => {
    const { current } = place
    if (current === null || width === 0) return undefined
    let chart: uPlot | null = null
    let isLeft = false
    // Only who looks at times needs the library.
    void import('uplot').then(({ default: Chart }) => {
      if (isLeft) return
      chart = new Chart(optionsOf(data, width, current, pointAt), pointsOf(data), current)
    })
    return () => {
      isLeft = true
      chart?.destroy()
    }
  }, [data, width, scheme])
  return (
    <>
      <div ref={place} class="picture picture-line" role="img" aria-label={sentence} />
      <p class="picture-reading" aria-hidden="true">
        {at === null ? ' ' : reading(data, at)}
      </p>
    </>
  )
}

function reading({ marks, series }: ChartData, at: number): string {
  const mark = marks[at]
  if (mark === undefined) return ' '
  const values = series.map(({ label, values }) => {
    const text = groupDigits(values[at] ?? '–')
    return series.length === 1 ? text : `${label.text} ${text}`
  })
  return `${mark.text}: ${values.join(', ')}`
}

function pointsOf({ marks, series }: ChartData): uPlot.AlignedData {
  const numberOf = (value: string | null) => {
    const number = value === null ? Number.NaN : Number(value)
    return Number.isFinite(number) ? number : null
  }
  return [
    marks.map(({ seconds }) => seconds ?? 0),
    ...series.map(({ values }) => values.map(numberOf)),
  ]
}

function optionsOf(
  { series, marks }: ChartData,
  width: number,
  host: Element,
  pointAt: (at: number | null) => void,
): uPlot.Options {
  const ink = colourOf(host, '--soft')
  const grid = { stroke: colourOf(host, '--line'), width: 1 }
  const axis = { stroke: ink, grid, ticks: grid, font: `12px ${getComputedStyle(host).fontFamily}` }
  return {
    width,
    height: HEIGHT,
    // All times of the service are UTC, wherever somebody looks at them.
    tzDate: (seconds) => inUtc(seconds),
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false } },
    scales: { y: { range: (_chart, least, greatest) => rangeOf(least, greatest) } },
    axes: [
      { ...axis, values: (_chart, splits, _axis, _space, step) => timesOf(splits, step) },
      { ...axis, size: 64, values: (_chart, values) => values.map((value) => showCompact(value)) },
    ],
    series: [
      {},
      ...series.map(({ label }, i) => ({
        label: label.text,
        stroke: colourOf(host, `--picture-${(i % 8) + 1}`),
        width: 1.75,
        // The only point would be no line.
        points: { show: marks.length < 60, fill: colourOf(host, '--paper') },
      })),
    ],
    hooks: { setCursor: [(chart) => pointAt(chart.cursor.idx ?? null)] },
  }
}

/** Times as ISO 8601 has them, as short as the steps between them allow; the year and the day where they begin. */
function timesOf(splits: readonly number[], stepSeconds: number): string[] {
  let year = ''
  let day = ''
  return splits.map((seconds) => {
    const text = new Date(seconds * 1000).toISOString()
    const [yearBefore, dayBefore] = [year, day]
    year = text.slice(0, 4)
    day = text.slice(0, 10)
    if (stepSeconds >= 365 * DAY_S) return year
    if (stepSeconds >= 28 * DAY_S) return text.slice(0, 7)
    const date = year === yearBefore ? text.slice(5, 10) : `${text.slice(5, 10)}\n${year}`
    if (stepSeconds >= DAY_S) return date
    return day === dayBefore ? text.slice(11, 16) : `${text.slice(11, 16)}\n${day}`
  })
}

const DAY_S = 86_400

/** A Date whose local parts are those of UTC, which is what the library prints. */
function inUtc(seconds: number): Date {
  const date = new Date(seconds * 1000)
  return new Date(date.getTime() + date.getTimezoneOffset() * 60_000)
}

/** From zero, so that a height means something, unless there are values below. */
function rangeOf(least: number, greatest: number): [number, number] {
  const low = Math.min(0, least)
  const high = Math.max(0, greatest)
  const room = (high - low || 1) * 0.06
  return [low < 0 ? low - room : 0, high > 0 || low === 0 ? high + room : 0]
}

/** A colour of the page as a canvas takes it: light-dark() means nothing there. */
export function colourOf(host: Element, name: string): string {
  const probe = document.createElement('span')
  probe.style.color = `var(${name})`
  host.append(probe)
  const { color } = getComputedStyle(probe)
  probe.remove()
  return color
}
