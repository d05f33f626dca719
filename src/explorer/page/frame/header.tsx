import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { useEffect } from 'preact/hooks'
import { Link } from '../parts/link.tsx'
import { ThemeButton } from '../parts/theme.tsx'
import { ago, localTime } from '../model/show.ts'
import type { Page } from '../page.ts'
import type { Route } from '../address/route.ts'
import { helpIsOpen } from './keys.tsx'
import { ProjectLinks } from './project-links.tsx'
import { Search } from './search.tsx'
import { menuIsOpen } from './sets-navigation.tsx'

/** What "3 min ago" counts from. */
const now = state(Date.now())

export function Header({ page, route }: { page: Page; route: Route }) {
  return (
    <header class="header">
      <button
        type="button"
        class="button quiet menu-button"
        aria-label="Sets"
        aria-expanded={useValue(menuIsOpen)}
        aria-controls="sets"
        onClick={() => (menuIsOpen.value = !menuIsOpen.value)}
      >
        ☰
      </button>
      <Link page={page} to={{ view: 'home' }} class="project" current={route.view === 'home'}>
        {page.catalog?.project ?? 'eider'}
      </Link>
      <Search page={page} />
      <nav class="header-links" aria-label="Pages">
        <ProjectLinks page={page} route={route} />
        <Link page={page} to={{ view: 'connect', query: '' }} current={route.view === 'connect'}>
          Connect
        </Link>
      </nav>
      <Freshness page={page} />
      <ThemeButton />
      <button
        type="button"
        class="button quiet help-button"
        aria-label="Keys"
        title="Keys (?)"
        onClick={() => (helpIsOpen.value = true)}
      >
        ?
      </button>
    </header>
  )
}

function Freshness({ page }: { page: Page }) {
  useEffect(() => {
    const timer = setInterval(() => (now.value = Date.now()), 30_000)
    return () => clearInterval(timer)
  }, [])
  const health = useValue(page.health)
  const nowMs = useValue(now)
  if (health === null || health.published_at === null || health.snapshot === null) return null
  const { published_at: at, snapshot } = health
  return (
    <span class="freshness" title={`${at}\n${localTime(at) ?? ''}\nsnapshot ${snapshot}`}>
      <span class="freshness-word">published </span>
      <time dateTime={at}>{ago(Date.parse(at), Math.max(nowMs, Date.now()))}</time>
      <span class="freshness-id"> · {snapshot.slice(0, 4)}…</span>
    </span>
  )
}
