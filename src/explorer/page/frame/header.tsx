import { Button } from '../parts/button.tsx'
import { useEffect, useRef, useState } from 'preact/hooks'
import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { Link, ModelLink } from '../parts/link.tsx'
import { ThemeButton } from '../parts/theme.tsx'
import { ago, groupDigits, localTime } from '../model/show.ts'
import { usePage } from '../page.ts'
import type { Route, SetRoute } from '../address/route.ts'
import { helpIsOpen } from './keys.tsx'
import { Search } from './search.tsx'
import { type Options, readOptions, writeOptions } from '../address/options.ts'
import { connectRoute, requestOfChart } from '../recipes/recipes.ts'
import { readRowsState } from '../rows/requests.ts'
import { Banner } from '../parts/problem.tsx'
import { TrustLine, TrustMark } from '../parts/trust-line.tsx'
import { useSmall } from '../parts/use-small.ts'
import { filterGroups, groupSets, type ListedSet, worstOf } from '../model/groups.ts'

export function Header({ route }: { route: Route }) {
  return (
    <header class="header">
      <Button
        class="button quiet menu-button"
        name="Sets"
        aria-expanded={useValue(menuIsOpen)}
        aria-controls="sets"
        onClick={() => (menuIsOpen.value = !menuIsOpen.value)}
      >
        ☰
      </Button>
      <Link to={{ view: 'home' }} class="project" current={route.view === 'home'}>
        {usePage().catalog?.project ?? 'eider'}
      </Link>
      <Search />
      <nav class="header-links" aria-label="Pages">
        <ProjectLinks view={route.view} />
        <Link to={{ view: 'connect', query: '' }} current={route.view === 'connect'}>
          Connect
        </Link>
      </nav>
      <Freshness />
      <ThemeButton />
      <Button
        class="button quiet help-button"
        name="Keys"
        title="Keys (?)"
        onClick={() => (helpIsOpen.value = true)}
      >
        ?
      </Button>
    </header>
  )
}

function Freshness() {
  // What "3 min ago" counts from.
  const [nowMs, setNow] = useState(Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const health = useValue(usePage().health)
  if (health === null || health.published_at === null || health.snapshot === null) return null
  const { published_at: at, fresh_at: freshAt, snapshot } = health
  const agoOf = (time: string) => ago(Date.parse(time), Math.max(nowMs, Date.now()))
  const known = freshAt === null ? '' : `\nhas all that had arrived by ${freshAt}`
  return (
    <span class="freshness" title={`${at}\n${localTime(at) ?? ''}\nsnapshot ${snapshot}${known}`}>
      <span class="freshness-word">published </span>
      <time dateTime={at}>{agoOf(at)}</time>
      {freshAt !== null && (
        <span class="freshness-word">
          {' · complete '}
          <time dateTime={freshAt}>{agoOf(freshAt)}</time>
        </span>
      )}
      <span class="freshness-id"> · {snapshot.slice(0, 4)}…</span>
    </span>
  )
}

/** Where a person sees sets alone, there are no runs to see. */
export function ProjectLinks({ view }: { view?: Route['view'] }) {
  const showsRuns = usePage().catalog?.shows !== 'sets'
  return (
    <>
      <Link to={{ view: 'lineage', query: '' }} current={view === 'lineage'}>
        Lineage
      </Link>
      {showsRuns && (
        <Link to={{ view: 'runs' }} current={view === 'runs' || view === 'run'}>
          Runs
        </Link>
      )}
    </>
  )
}

const TABS = [
  { view: 'rows', name: 'Rows' },
  { view: 'columns', name: 'Columns' },
  { view: 'chart', name: 'Chart' },
] as const

/** The head of all views of a set: what it is, and the other ways to look at it. */
export function SetHeader({ route }: { route: SetRoute }) {
  const { set } = route
  const page = usePage()
  const model = page.catalog?.sets.find(({ name }) => name === set)?.model
  const ofChart = useValue(requestOfChart)
  const filter = filterOf(route)
  const description = page.schema.set(set)?.description
  return (
    <header class="set-header">
      <h1 tabIndex={-1}>
        <bdi>{set}</bdi>
      </h1>
      <p class="print-only">
        published {page.health.value?.published_at}, printed {new Date().toISOString()}
      </p>
      {description !== undefined && <Description text={description} />}
      {model !== undefined && <TrustLine model={model} />}
      <nav class="tabs" aria-label="Views of the set" data-keeps-focus>
        {TABS.map(({ view, name }) => (
          <Link
            key={view}
            to={{ view, set, query: writeOptions(filter) }}
            current={route.view === view}
          >
            {name}
          </Link>
        ))}
        {model !== undefined && <ModelLink model={model}>Lineage</ModelLink>}
        <Link
          to={connectRoute(
            route.view === 'rows'
              ? readRowsState(set, route.query)
              : (ofChart ?? { set, options: filter }),
          )}
        >
          Connect
        </Link>
      </nav>
    </header>
  )
}

/** One line of it in a small window; a click shows the rest. */
function Description({ text }: { text: string }) {
  const isSmall = useSmall()
  const [isWhole, setIsWhole] = useState(false)
  if (!isSmall) return <p class="set-description">{text}</p>
  return (
    <p class="set-description set-description-small">
      <button
        type="button"
        class={isWhole ? 'plain' : 'plain one-line'}
        aria-expanded={isWhole}
        onClick={() => setIsWhole(!isWhole)}
      >
        {text}
      </button>
    </p>
  )
}

/** A filter means the same in each view of the set; all else of an address only in its own. */
function filterOf({ query }: SetRoute): Options {
  const filter = readOptions(query).get('$filter')
  return new Map(filter === undefined ? [] : [['$filter', filter]])
}

/** What matters to all that is shown: newer data, older data than there should be, nobody there. */
export function Banners() {
  const page = usePage()
  const health = useValue(page.health)
  // What the page came with, however often a newer one is heard of since.
  const shown = useRef(page.catalog?.snapshot ?? null)
  shown.current ??= health?.snapshot ?? null
  if (health === null) return null
  if (health.status === 'gone') {
    return (
      <Banner tone="bad">The server does not answer. The page tries again every 5 seconds.</Banner>
    )
  }
  if (health.status === 'failed') {
    return (
      <Banner tone="bad">
        The service has no data that it can open. <code>eider doctor</code> says what to do.
      </Banner>
    )
  }
  return (
    <>
      {health.status === 'stale' && (
        <Banner tone="warning">
          The newest snapshot cannot be opened, so the one before it is served.{' '}
          <code>eider doctor</code> says what to do.
        </Banner>
      )}
      {shown.current !== null && health.snapshot !== null && health.snapshot !== shown.current && (
        <Banner tone="news">
          <Button onClick={() => location.reload()}>new data, reload</Button>
        </Banner>
      )}
    </>
  )
}

const menuIsOpen = state(false)

export function SetsNavigation({ current }: { current: string | undefined }) {
  const { schema, catalog } = usePage()
  const [wanted, setWanted] = useState('')
  const groups = groupSets(schema, catalog)
  const found = filterGroups(groups, wanted)
  return (
    <nav
      id="sets"
      class="sets"
      aria-label="Sets"
      data-open={useValue(menuIsOpen)}
      data-keeps-focus
      onClick={(event) => {
        if (event.target instanceof Element && event.target.closest('a')) menuIsOpen.value = false
      }}
    >
      <p class="sets-pages">
        <ProjectLinks />
        <Link to={{ view: 'connect', query: '' }}>Connect</Link>
      </p>
      {schema.sets.length > MOST_AT_A_GLANCE && (
        <input
          type="search"
          class="field"
          aria-label="Filter sets"
          placeholder="Filter sets"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      {found.map((group) => (
        <SetGroup key={group.schema} {...group} current={current} isOpen={wanted.trim() !== ''} />
      ))}
      {found.length === 0 && wanted !== '' && <p class="soft">No set has this in its name.</p>}
    </nav>
  )
}

/** More are not looked through one by one. */
const MOST_AT_A_GLANCE = 30

interface SetGroupProps {
  readonly schema: string
  readonly sets: readonly ListedSet[]
  readonly current: string | undefined
  readonly isOpen: boolean
}

/** A schema of many sets is closed until one of them is looked at. */
function SetGroup({ schema, sets, current, isOpen }: SetGroupProps) {
  const list = (
    <ul>
      {sets.map((set) => (
        <li key={set.name}>
          <SetLink set={set} isCurrent={set.name === current} />
        </li>
      ))}
    </ul>
  )
  if (sets.length <= MOST_AT_A_GLANCE)
    return (
      <section>
        <h2>{schema}</h2>
        {list}
      </section>
    )
  return (
    <details open={isOpen || sets.some(({ name }) => name === current)}>
      <summary>
        <h2>{schema}</h2> <TrustMark verdict={worstOf(sets)} />
        <span class="set-rows">{groupDigits(sets.length)} sets</span>
      </summary>
      {list}
    </details>
  )
}

function SetLink({ set, isCurrent }: { set: ListedSet; isCurrent: boolean }) {
  return (
    <Link to={{ view: 'rows', set: set.name, query: '' }} class="set" current={isCurrent}>
      <span class="set-name">
        <TrustMark verdict={set.verdict} />
        <bdi>{set.name}</bdi>
      </span>
      {set.rows !== undefined && <span class="set-rows">{groupDigits(set.rows)}</span>}
      {set.description !== undefined && <span class="set-about">{firstLine(set.description)}</span>}
    </Link>
  )
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
