import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import { groupSets, type ListedSet } from '../model/groups.ts'
import { groupDigits } from '../model/show.ts'
import { Link } from '../parts/link.tsx'
import { usePage } from '../page.ts'

/** Only on a narrow screen: elsewhere the sets are always there. */
export const menuIsOpen = state(false)

export function SetsNavigation({ current }: { current: string | undefined }) {
  const { schema, catalog } = usePage()
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
        <Link to={{ view: 'lineage', query: '' }}>Lineage</Link>
        <Link to={{ view: 'runs' }}>Runs</Link>
        <Link to={{ view: 'connect', query: '' }}>Connect</Link>
      </p>
      {groupSets(schema, catalog).map(({ schema: name, sets }) => (
        <section key={name}>
          <h2>{name}</h2>
          <ul>
            {sets.map((set) => (
              <li key={set.name}>
                <SetLink set={set} isCurrent={set.name === current} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </nav>
  )
}

function SetLink({ set, isCurrent }: { set: ListedSet; isCurrent: boolean }) {
  return (
    <Link to={{ view: 'rows', set: set.name, query: '' }} class="set" current={isCurrent}>
      <span class="set-name">
        {set.warned > 0 && (
          <span class="set-warning" role="img" aria-label="A check warned in the last run">
            ⚠
          </span>
        )}
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
