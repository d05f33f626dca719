import './pictures.css'
import type { Bar } from '../profile/profile-requests.ts'

interface HistogramProps {
  readonly bars: readonly Bar[]
  /** What it shows, for who does not see it. */
  readonly sentence: string
  /** What a bar counts; empty where its label says it. */
  readonly unit?: string
}

const BAR = 10
const HEIGHT = 100
/** A bar of one is still visible next to a bar of a million. */
const LEAST_HEIGHT = 3

/** Bars side by side on a scale, as wide as there is room. */
export function HistogramBars({ bars, sentence, unit = 'rows' }: HistogramProps) {
  const most = Math.max(1, ...bars.map(({ rows }) => rows))
  return (
    <svg
      class="histogram"
      role="img"
      aria-label={sentence}
      viewBox={`0 0 ${Math.max(1, bars.length) * BAR} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {bars.map(({ text, rows }, i) => {
        const height = rows === 0 ? 0 : Math.max(LEAST_HEIGHT, (rows / most) * HEIGHT)
        return (
          <g key={text}>
            <rect x={i * BAR + 0.5} y={HEIGHT - height} width={BAR - 1} height={height} />
            <rect class="histogram-touch" x={i * BAR} y={0} width={BAR} height={HEIGHT}>
              <title>{unit === '' ? text : `${text}: ${rows} ${unit}`}</title>
            </rect>
          </g>
        )
      })}
    </svg>
  )
}
