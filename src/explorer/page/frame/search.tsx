import { useId, useState } from 'preact/hooks'
import { searchSets, type Hit } from '../model/search.ts'
import { usePage } from '../page.ts'

/** Search over sets, columns, models and what is said of them: arrows choose, Enter opens, Escape closes. */
export function Search() {
  const page = usePage()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState(0)
  const [isOpen, setIsOpen] = useState(false)
  const list = useId()
  const hits = isOpen ? searchSets(page.schema.sets, text, page.catalog) : []

  const open = (hit: Hit | undefined) => {
    if (hit === undefined) return
    setText('')
    setIsOpen(false)
    page.navigate(hit.route)
  }
  const press = (event: KeyboardEvent) => {
    if (event.key === 'ArrowDown') setChosen(Math.min(chosen + 1, hits.length - 1))
    else if (event.key === 'ArrowUp') setChosen(Math.max(chosen - 1, 0))
    else if (event.key === 'Enter') open(hits[chosen])
    else if (event.key === 'Escape') setIsOpen(false)
    else return
    event.preventDefault()
  }
  return (
    <search class="search">
      <input
        type="search"
        data-key="/"
        placeholder="Search sets and columns"
        aria-label="Search sets and columns"
        aria-controls={hits.length > 0 ? list : undefined}
        aria-activedescendant={hits.length > 0 ? `${list}-${chosen}` : undefined}
        autocomplete="off"
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value)
          setChosen(0)
          setIsOpen(true)
        }}
        onKeyDown={press}
        onBlur={() => setIsOpen(false)}
        onFocus={() => setIsOpen(true)}
      />
      <kbd aria-hidden="true">/</kbd>
      {isOpen && text.trim() !== '' && <Hits id={list} hits={hits} chosen={chosen} onOpen={open} />}
    </search>
  )
}

interface HitsProps {
  readonly id: string
  readonly hits: readonly Hit[]
  readonly chosen: number
  readonly onOpen: (hit: Hit) => void
}

function Hits({ id, hits, chosen, onOpen }: HitsProps) {
  if (hits.length === 0)
    return (
      <p class="hits hits-none" role="status">
        Nothing found among sets, columns, models, owners and tags
      </p>
    )
  return (
    <div id={id} class="hits" role="listbox" aria-label="Found">
      {hits.map((hit, i) => (
        <div
          key={`${hit.title} ${hit.detail}`}
          id={`${id}-${i}`}
          class="hit"
          role="option"
          tabIndex={-1}
          aria-selected={i === chosen}
          // Before the field loses the focus, which closes the list.
          onMouseDown={(event) => {
            event.preventDefault()
            onOpen(hit)
          }}
        >
          <bdi class="hit-title">{hit.title}</bdi>
          <span class="hit-detail">{hit.detail}</span>
        </div>
      ))}
    </div>
  )
}
