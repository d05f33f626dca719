import type { CatalogRun, RejectedEvents } from '../../../core/catalog.ts'
import { groupDigits } from '../model/show.ts'
import { usePage } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Link, ModelLink } from '../parts/link.tsx'
import { Moment } from '../parts/time.tsx'
import { RunStrip } from '../runs/run-strip.tsx'
import { showMs } from '../runs/run-statistics.ts'
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

function RunTable({ runs }: { runs: readonly CatalogRun[] }) {
  const count = (name: string, of: (run: CatalogRun) => number) => ({
    name,
    isNumber: true,
    cell: (run: CatalogRun) => <Count count={of(run)} isBad={name === 'failed'} />,
  })
  return (
    <DataTable
      name="Runs"
      rows={runs}
      keyOf={({ run_id }) => run_id}
      columns={[
        { name: 'when', cell: (run) => <RunLink run={run} /> },
        { name: 'time', isNumber: true, cell: ({ ms }) => showMs(ms) },
        count('built', ({ built }) => built),
        count('unchanged', ({ unchanged }) => unchanged),
        count('failed', ({ failed }) => failed),
        count('skipped', ({ skipped }) => skipped),
        count('warnings', ({ warned }) => warned),
        count('events', ({ events }) => events),
        count('rejected', ({ rejected }) => rejected),
      ]}
    />
  )
}

function RunLink({ run }: { run: CatalogRun }) {
  const { started_at: at, ok } = run
  return (
    <Link to={{ view: 'run', id: run.run_id }}>
      {!ok && (
        <span class="status-failed" role="img" aria-label="failed">
          ✕{' '}
        </span>
      )}
      <Moment at={at} />
    </Link>
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
          {
            name: 'model',
            cell: ({ model }) => <ModelLink model={model}>{model}</ModelLink>,
          },
          { name: 'reason', cell: ({ reason }) => <bdi>{reason}</bdi> },
          { name: 'events', isNumber: true, cell: ({ events }) => groupDigits(events) },
          {
            name: 'last',
            cell: ({ last_at: at }) => <Moment at={at} />,
          },
        ]}
      />
    </section>
  )
}
