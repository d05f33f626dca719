import type { CatalogRun } from '../../../core/catalog.ts'
import { showTime } from '../model/show.ts'
import { Link } from '../parts/link.tsx'
import { stripOf, stripSentence, showMs } from './run-statistics.ts'

interface RunStripProps {
  readonly runs: readonly CatalogRun[]
  readonly current: string | null
}

const BAR = 10
const HEIGHT = 60
const LEAST_HEIGHT = 3

/** The last runs, the oldest at the left, as high as they took long. The table below has the same as links for keys. */
export function RunStrip({ runs, current }: RunStripProps) {
  const bars = stripOf(runs)
  const first = bars[0]?.run
  const last = bars.at(-1)?.run
  return (
    <figure class="run-strip">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${Math.max(bars.length, 24) * BAR} ${HEIGHT + 12}`}
        preserveAspectRatio="none"
      >
        {bars.map(({ run, height }, i) => {
          const tall = Math.max(LEAST_HEIGHT, height * HEIGHT)
          const classes = [
            run.ok ? 'run-bar' : 'run-bar failed',
            run.run_id === current && 'current',
          ]
          return (
            <Link
              key={run.run_id}
              to={{ view: 'run', id: run.run_id }}
              class={classes.filter(Boolean).join(' ')}
              tabindex={-1}
            >
              <rect class="run-touch" x={i * BAR} width={BAR} height={HEIGHT + 12} />
              <rect x={i * BAR + 1} y={HEIGHT - tall} width={BAR - 2} height={tall} />
              {!run.ok && (
                <path class="run-failed" d={`M${i * BAR + 2},${HEIGHT + 3} l6,6 m0,-6 l-6,6`} />
              )}
              <title>{`${showTime(run.started_at)}: ${showMs(run.ms)}${run.ok ? '' : `, ${run.failed} failed`}`}</title>
            </Link>
          )
        })}
      </svg>
      <figcaption>
        <span>{first && showTime(first.started_at).slice(0, 16)}</span>
        <span>{stripSentence(runs)}</span>
        <span>{last && showTime(last.started_at).slice(0, 16)}</span>
      </figcaption>
    </figure>
  )
}
