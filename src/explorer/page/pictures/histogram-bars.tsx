import type { Bar } from '../profile/profile-requests.ts'
import { useState } from 'preact/hooks'
import './pictures.css'

interface HistogramProps {
  readonly bars: readonly Bar[]
  readonly sentence: string
  readonly unit?: string
  /** Of a click on a bar, and of a stroke from one to another. */
  readonly onPick?: ((first: number, last: number) => void) | undefined
}

const SLOT = 10
const TALLEST = 100
/** A bar of one is still visible next to a bar of a million. */
const LEAST_HEIGHT = 3

export function HistogramBars({ bars, sentence, unit = 'rows', onPick }: HistogramProps) {
  const [from, begin] = useState<number | null>(null)
  const [to, reach] = useState(0)
  const barAt = ({ clientX, currentTarget }: PointerEvent) => {
    const { left, width } = (currentTarget as Element).getBoundingClientRect()
    const at = Math.floor(((clientX - left) / Math.max(1, width)) * bars.length)
    return Math.max(0, Math.min(bars.length - 1, at))
  }
  const most = Math.max(1, ...bars.map(({ rows }) => rows))
  return (
    <svg
      class={onPick === undefined ? 'histogram' : 'histogram picture-pick'}
      onPointerDown={(event) => {
        if (onPick === undefined || event.button !== 0) return
        begin(barAt(event))
        reach(barAt(event))
      }}
      onPointerMove={(event) => from !== null && reach(barAt(event))}
      onPointerUp={() => {
        if (from !== null) onPick?.(Math.min(from, to), Math.max(from, to))
        begin(null)
      }}
      onPointerLeave={() => begin(null)}
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
      {from !== null && (
        <rect
          class="picture-brush"
          x={Math.min(from, to) * SLOT}
          width={(Math.abs(to - from) + 1) * SLOT}
          y={0}
          height={TALLEST}
        />
      )}
    </svg>
  )
}
