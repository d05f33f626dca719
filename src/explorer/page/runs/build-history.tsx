import type { CatalogBuild, CatalogState } from '../../../core/catalog.ts'
import { groupDigits, showTime } from '../model/show.ts'
import { HistogramBars } from '../pictures/histogram-bars.tsx'
import { showMs } from './run-statistics.ts'

/** Rows and time of a model over its last builds, the oldest at the left. */
export function BuildHistory({ builds }: { builds: readonly CatalogBuild[] }) {
  const inOrder = builds.toReversed()
  const timesOf = (show: (build: CatalogBuild) => string, value: (build: CatalogBuild) => number) =>
    inOrder.map((build) => ({
      text: `${showTime(build.at)}: ${show(build)}`,
      rows: value(build),
      isWord: false,
    }))
  const last = builds[0]!
  const hasRows = builds.some(({ rows }) => rows !== null)
  const of = `over the last ${builds.length} builds`
  return (
    <div class="build-history">
      {hasRows && (
        <HistogramBars
          bars={timesOf(
            ({ rows }) => `${groupDigits(rows ?? 0)} rows`,
            ({ rows }) => rows ?? 0,
          )}
          sentence={`Rows ${of}, at last ${last.rows ?? 0}`}
          unit=""
        />
      )}
      <HistogramBars
        bars={timesOf(
          ({ ms }) => showMs(ms),
          ({ ms }) => ms,
        )}
        sentence={`Time ${of}, at last ${showMs(last.ms)}`}
        unit=""
      />
    </div>
  )
}

const signs: Readonly<Record<CatalogState['status'], string>> = {
  built: '●',
  unchanged: '○',
  failed: '✕',
  skipped: '–',
}

/** A word with a sign; colour is never the only one. */
export function StatusOf({ status }: { status: CatalogState['status'] }) {
  return (
    <span class={`status status-${status}`}>
      <span aria-hidden="true">{signs[status]}</span> {status}
    </span>
  )
}
