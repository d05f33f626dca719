import type { Catalog, CatalogSet } from '../../../core/catalog.ts'
import { ago, groupDigits, localTime } from '../model/show.ts'
import { Ago, Link, SetLink } from '../parts/link.tsx'
import { useValue } from '../parts/use-value.ts'
import { usePage } from '../page.ts'
import { recipesFor } from '../recipes/recipes.ts'
import { Failures } from '../runs/failures.tsx'
import { countsOf } from '../runs/run-statistics.ts'
import './home.css'

const CHANGED_SETS = 5

export function HomeView() {
  const { catalog } = usePage()
  return (
    <div class="home">
      <header>
        <h1 tabIndex={-1}>{catalog?.project ?? 'eider'}</h1>
        <Published />
      </header>
      {catalog !== null && <LastRun catalog={catalog} />}
      <Boards />
      {catalog !== null && <Changed catalog={catalog} />}
      <ConnectYourTool />
    </div>
  )
}

function Published() {
  const page = usePage()
  const at = useValue(page.health)?.published_at ?? page.catalog?.published_at
  const sets = page.schema.sets.length
  if (at === undefined || at === null) return null
  return (
    <p class="about">
      {sets} {sets === 1 ? 'set' : 'sets'}, published{' '}
      <Ago at={at} title={`${at}\n${localTime(at) ?? ''}`} />
    </p>
  )
}

function LastRun({ catalog }: { catalog: Catalog }) {
  const [run] = catalog.runs
  if (run === undefined) return null
  return (
    <section class="home-card" aria-label="Last run">
      <h2>
        <Link to={{ view: 'run', id: run.run_id }}>Last run</Link>
      </h2>
      <p>
        <span class={run.ok ? 'run-good' : 'run-bad'}>{run.ok ? '✓ succeeded' : '✗ failed'}</span>{' '}
        <Ago at={run.started_at} />
        {': '}
        {countsOf(run) || 'nothing to do'}
      </p>
      {run.failures !== undefined && <Failures failures={run.failures} of={run.failed} />}
    </section>
  )
}

function Boards() {
  const page = usePage()
  const boards = useValue(page.boards) ?? []
  const omitted = useValue(page.omittedBoards)
  if (boards.length === 0 && omitted === 0) return null
  return (
    <section aria-label="Boards">
      <h2>Boards</h2>
      <ul class="home-sets">
        {boards.map(({ name, title, description }) => (
          <li key={name} class="home-card">
            <h3>
              <Link to={{ view: 'board', name }}>
                <bdi>{title}</bdi>
              </Link>
            </h3>
            {description !== null && <p>{description}</p>}
          </li>
        ))}
      </ul>
      {omitted > 0 && (
        <p class="about">
          {omitted} more {omitted === 1 ? 'file is' : 'files are'} not read: the first by name are
          shown
        </p>
      )}
    </section>
  )
}

function Changed({ catalog }: { catalog: Catalog }) {
  const sets = changedLast(catalog)
  return (
    <section aria-label="Changed last">
      <h2>Changed last</h2>
      <ul class="home-sets">
        {sets.map(({ set, at }) => (
          <li key={set.name} class="home-card">
            <h3>
              <SetLink set={set.name} />
            </h3>
            {set.description !== null && <p>{set.description}</p>}
            <p class="about">
              {groupDigits(set.rows)} {set.rows === 1 ? 'row' : 'rows'}
              {at !== undefined && `, built ${ago(Date.parse(at), Date.now())}`}
            </p>
          </li>
        ))}
      </ul>
    </section>
  )
}

function changedLast(catalog: Catalog): readonly { set: CatalogSet; at: string | undefined }[] {
  return catalog.sets
    .map((set) => ({ set, at: catalog.states[set.model]?.builds[0]?.at }))
    .toSorted((a, b) => ((a.at ?? '') < (b.at ?? '') ? 1 : -1))
    .slice(0, CHANGED_SETS)
}

function ConnectYourTool() {
  const page = usePage()
  const set = page.schema.sets[0]
  if (set === undefined) return null
  const rows = { set: set.name, options: new Map() }
  return (
    <section aria-label="Connect your tool">
      <h2>Connect your tool</h2>
      <p class="home-tools">
        {recipesFor(page.service.url(''), set, rows, false).map(({ id, tool }) => (
          <Link
            key={id}
            class="button"
            to={{ view: 'connect', query: `set=${encodeURIComponent(set.name)}&tool=${id}` }}
          >
            {tool}
          </Link>
        ))}
      </p>
    </section>
  )
}
