import type { Bar } from '../profile/profile-requests.ts'
import './pictures.css'

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
