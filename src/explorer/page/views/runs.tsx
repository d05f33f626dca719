import type { CatalogBuild, CatalogRun, RejectedEvents } from '../../../core/catalog.ts'
import { groupDigits, localTime, showTime } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Link, ModelLink, Moment } from '../parts/link.tsx'
import {
  countsOf,
  type ModelOfRun,
  runDetails,
  showMs,
  stripOf,
  stripSentence,
} from '../runs/run-statistics.ts'
import { Failures } from '../runs/failures.tsx'
import { BuildHistory, StatusOf } from '../runs/build-history.tsx'
import '../runs/runs.css'

export function RunsView() {
  const { catalog } = usePage()
  const runs = catalog?.runs ?? []
  return (
    <>
      <h1 tabIndex={-1}>Runs</h1>
      {runs.length === 0 ? (
        <p>
          {catalog?.shows === 'sets'
            ? 'This service shows sets alone: odata.explorer is sets.'
            : 'No run is known yet. The next one publishes what it did with the data.'}
        </p>
      ) : (
        <>
          <RunStrip runs={runs} current={null} />
          <RunTable runs={runs} />
          <Rejected rejected={catalog?.rejected ?? []} />
        </>
      )}
    </>
  )
}

const COUNTED = {
  built: 'built',
  unchanged: 'unchanged',
  failed: 'failed',
  skipped: 'skipped',
  warnings: 'warned',
  events: 'events',
  rejected: 'rejected',
} as const

function RunTable({ runs }: { runs: readonly CatalogRun[] }) {
  return (
    <DataTable
      name="Runs"
      rows={runs}
      keyOf={({ run_id }) => run_id}
      columns={[
        {
          name: 'when',
          cell: ({ run_id: id, started_at: at, ok }) => (
            <Link to={{ view: 'run', id }}>
              {!ok && (
                <span class="status-failed" role="img" aria-label="failed">
                  ✕{' '}
                </span>
              )}
              <Moment at={at} />
            </Link>
          ),
        },
        { name: 'time', isNumber: true, cell: ({ ms }) => showMs(ms) },
        ...Object.entries(COUNTED).map(([name, of]) => ({
          name,
          isNumber: true,
          cell: (run: CatalogRun) => <Count count={run[of]} isBad={name === 'failed'} />,
        })),
      ]}
    />
  )
}

/** Zeros are many and say little. */
function Count({ count, isBad }: { count: number; isBad: boolean }) {
  if (count === 0) return <span class="soft">0</span>
  return isBad ? <strong class="status-failed">{groupDigits(count)}</strong> : groupDigits(count)
}

function Rejected({ rejected }: { rejected: readonly RejectedEvents[] }) {
  if (rejected.length === 0) return null
  return (
    <section class="rejected">
      <h2>Rejected events</h2>
      <DataTable
        name="Rejected events"
        rows={rejected}
        keyOf={({ model, reason }) => `${model} ${reason}`}
        columns={[
          { name: 'model', cell: ({ model }) => <ModelLink model={model} /> },
          { name: 'reason', cell: ({ reason }) => <bdi>{reason}</bdi> },
          { name: 'events', isNumber: true, cell: ({ events }) => groupDigits(events) },
          { name: 'last', cell: ({ last_at: at }) => <Moment at={at} /> },
        ]}
      />
    </section>
  )
}

export function RunView({ route }: ViewProps<'run'>) {
  const { catalog } = usePage()
  const details = catalog === null ? null : runDetails(catalog, route.id)
  if (details === null)
    return (
      <section>
        <h1 tabIndex={-1}>Run {route.id}</h1>
        <p>
          This run is not among those that are remembered.{' '}
          <Link to={{ view: 'runs' }}>All runs</Link>
        </p>
      </section>
    )
  const { run, models, isWhole, flushed } = details
  return (
    <>
      <header class="run-head">
        <h1 tabIndex={-1}>
          Run of <Moment at={run.started_at} />
        </h1>
        <p class="soft" title={localTime(run.started_at)}>
          {run.run_id}
        </p>
        <p>
          {countsOf(run) || 'Nothing to do'} in {showMs(run.ms)}
        </p>
      </header>
      <RunStrip runs={catalog!.runs} current={run.run_id} />
      {flushed.length > 0 && (
        <ul class="flushed">
          {flushed.map(({ model, events, rejected }) => (
            <li key={model}>
              {groupDigits(events)} events into <ModelLink model={model} />
              {rejected > 0 && `, ${groupDigits(rejected)} rejected`}
            </li>
          ))}
        </ul>
      )}
      {!isWhole && (
        <p class="soft">
          The page has the numbers of older runs, and why models failed. Below are those that no
          later run was about.
        </p>
      )}
      {!isWhole && run.failures !== undefined && (
        <Failures failures={run.failures} of={run.failed} />
      )}
      {models.length > 0 && <Models models={models} />}
    </>
  )
}

function Models({ models }: { models: readonly ModelOfRun[] }) {
  const { catalog } = usePage()
  const longest = Math.max(1, ...models.map(({ ms }) => ms))
  const builds = (model: string): readonly CatalogBuild[] => catalog?.states[model]?.builds ?? []
  return (
    <DataTable
      name="Models of the run"
      rows={models}
      keyOf={({ model }) => model}
      columns={[
        { name: 'model', cell: ({ model }) => <ModelLink model={model} /> },
        { name: 'status', cell: ({ status }) => <StatusOf status={status} /> },
        {
          name: 'why',
          cell: ({ because, warnings }) => (
            <>
              <span class="because">{because}</span>
              {warnings.map((warning) => (
                <p key={warning} class="node-warning">
                  ⚠ {warning}
                </p>
              ))}
            </>
          ),
        },
        {
          name: 'rows',
          isNumber: true,
          cell: ({ rows }) => (rows === undefined ? '' : groupDigits(rows)),
        },
        {
          name: 'time',
          cell: ({ ms }) =>
            ms > 0 && (
              <span class="duration">
                <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
                  <rect width={Math.max(1, (ms / longest) * 100)} height={10} />
                </svg>
                <span>{showMs(ms)}</span>
              </span>
            ),
        },
        {
          name: 'rows and time over its builds',
          cell: ({ model }) => builds(model).length > 1 && <BuildHistory builds={builds(model)} />,
        },
      ]}
    />
  )
}

const BAR = 10
const HEIGHT = 60
const LEAST_HEIGHT = 3

/** The last runs, the oldest at the left, as high as they took long. The table below has the same as links for keys. */
function RunStrip({ runs, current }: { runs: readonly CatalogRun[]; current: string | null }) {
  const bars = stripOf(runs)
  const first = bars[0]?.run
  const last = bars.at(-1)?.run
  return (
    <figure class="run-strip">
      <svg
        aria-hidden="true"
        viewBox={`0 0 ${Math.max(bars.length, 24) * BAR} ${HEIGHT + 12}`}
        preserveAspectRatio="xMinYMid meet"
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
        <span>
          {first && showTime(first.started_at).slice(0, 16)}
          {last && last !== first && ` to ${showTime(last.started_at).slice(0, 16)}`}
        </span>
        <span>{stripSentence(runs)}</span>
      </figcaption>
    </figure>
  )
}
