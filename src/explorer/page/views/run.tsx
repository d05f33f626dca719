import type { CatalogBuild, CatalogRun } from '../../../core/catalog.ts'
import { groupDigits, localTime, showTime } from '../model/show.ts'
import { usePage, type ViewProps } from '../page.ts'
import { DataTable } from '../parts/data-table.tsx'
import { Link, ModelLink } from '../parts/link.tsx'
import { BuildHistory, StatusOf } from '../runs/build-history.tsx'
import { RunStrip } from '../runs/run-strip.tsx'
import { type ModelOfRun, type RunDetails, runDetails, showMs } from '../runs/run-statistics.ts'
import '../runs/runs.css'

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
  return <Run details={details} />
}

function Run({ details }: { details: RunDetails }) {
  const { run, models, isWhole, flushed } = details
  return (
    <>
      <header class="run-head">
        <h1 tabIndex={-1}>
          Run of{' '}
          <time dateTime={run.started_at}>{showTime(run.started_at).replace(/\.\d+Z$/, 'Z')}</time>
        </h1>
        <p class="soft" title={localTime(run.started_at)}>
          {run.run_id}
        </p>
        <p>{summaryOf(run)}</p>
      </header>
      <RunStrip runs={usePage().catalog!.runs} current={run.run_id} />
      {flushed.length > 0 && (
        <ul class="flushed">
          {flushed.map(({ model, events, rejected }) => (
            <li key={model}>
              {groupDigits(events)} events into <ModelLink model={model}>{model}</ModelLink>
              {rejected > 0 && `, ${groupDigits(rejected)} rejected`}
            </li>
          ))}
        </ul>
      )}
      {!isWhole && (
        <p class="soft">
          The page has only the numbers of older runs. Below are the models that no later run was
          about.
        </p>
      )}
      {models.length > 0 && <Models models={models} />}
    </>
  )
}

function summaryOf(run: CatalogRun): string {
  const counts: readonly (readonly [number, string])[] = [
    [run.failed, 'failed'],
    [run.built, 'built'],
    [run.unchanged, 'unchanged'],
    [run.skipped, 'skipped'],
    [run.warned, run.warned === 1 ? 'warning' : 'warnings'],
    [run.events, 'events'],
    [run.rejected, 'rejected'],
  ]
  const said = counts
    .filter(([count]) => count > 0)
    .map(([count, what]) => `${groupDigits(count)} ${what}`)
  return `${said.join(', ') || 'Nothing to do'} in ${showMs(run.ms)}`
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
        {
          name: 'model',
          cell: ({ model }) => <ModelLink model={model}>{model}</ModelLink>,
        },
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
        { name: 'time', cell: ({ ms }) => ms > 0 && <Duration ms={ms} longest={longest} /> },
        {
          name: 'rows and time over its builds',
          cell: ({ model }) => builds(model).length > 1 && <BuildHistory builds={builds(model)} />,
        },
      ]}
    />
  )
}

function Duration({ ms, longest }: { ms: number; longest: number }) {
  return (
    <span class="duration">
      <svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">
        <rect width={Math.max(1, (ms / longest) * 100)} height={10} />
      </svg>
      <span>{showMs(ms)}</span>
    </span>
  )
}
