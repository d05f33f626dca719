// What stands above the rows: their request and the ways into other tools, the filter, the search, the count.

import { Button } from '../parts/button.tsx'
import { useEffect, useState } from 'preact/hooks'
import { groupDigits } from '../model/show.ts'
import { Menu } from '../parts/menu.tsx'
import { RequestBar } from '../parts/request-bar.tsx'
import { useSmall } from '../parts/use-small.ts'
import { usePage } from '../page.ts'
import { FacetsButton } from './facets.tsx'
import { FilterBar } from './filter-bar.tsx'
import { countRequest, fileRequest, firstPageRequest, isOfSet, rowsRequest } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { ConnectRegion, ToolButtons } from '../recipes/recipe-text.tsx'
import type { RowsAnswer } from './use-rows.ts'
import type { ServiceError } from '../service/client.ts'
import { withOptions } from '../address/options.ts'
import { readSelect } from '../address/order.ts'
import { show } from './table-actions.ts'

interface RowsBarProps {
  readonly context: RowsContext
  readonly answer: RowsAnswer
  /** What the service says of the filter and of the search, which stands at them. */
  readonly filterError: ServiceError | undefined
  readonly searchError: ServiceError | undefined
}

export function RowsBar({ context, answer, filterError, searchError }: RowsBarProps) {
  const { state } = context
  const isSmall = useSmall()
  const isSet = isOfSet(state)
  const request = (
    <>
      <RequestBar request={rowsRequest(state)}>
        <ToolButtons context={context} />
        <Files context={context} />
      </RequestBar>
      <ConnectRegion context={context} />
    </>
  )
  const tools = isSet && (
    <>
      <SearchBox context={context} error={searchError} />
      <ColumnChooser context={context} />
    </>
  )
  return (
    <>
      {!isSmall && request}
      <div class="rows-bar">
        {(isSet || state.options.has('$filter')) && (
          <FilterBar context={context} error={filterError} />
        )}
        <div class="rows-bar-end">
          {!isSmall && tools}
          {isSmall && isSet && <FacetsButton context={context} />}
          {isSmall && (
            <Menu name="Tools">
              {tools}
              {request}
            </Menu>
          )}
          <Count context={context} answer={answer} />
        </div>
      </div>
    </>
  )
}

const FILES = { CSV: 'csv', Excel: 'xlsx', Parquet: 'parquet' } as const

function Files({ context: { state } }: { context: RowsContext }) {
  const { service, schema } = usePage()
  return (
    <span class="files">
      {Object.entries(FILES)
        .filter(([, format]) => format === 'csv' || schema.hasParquet)
        .map(([name, format]) => (
          <a
            key={name}
            class="button"
            href={service.url(fileRequest(state, format))}
            download={`${state.set}.${format}`}
          >
            {name}
          </a>
        ))}
    </span>
  )
}

/** The count is a request too: a link to it can be opened and copied. */
function Count({ context, answer }: { context: RowsContext; answer: RowsAnswer }) {
  const { service } = usePage()
  const count = answer.loaded?.count
  // That of the rows before is wrong for this filter already.
  const isAsked = answer.isWaiting && answer.loaded?.of !== firstPageRequest(context.state)
  if (isAsked)
    return (
      <output class="count" aria-label="Count">
        Σ …
      </output>
    )
  return (
    <output class="count" aria-label="Count">
      {count !== undefined && (
        <a
          href={service.url(countRequest(context.state))}
          target="_blank"
          rel="noreferrer"
          title="The request of this number"
        >
          Σ {groupDigits(count)} {count === '1' ? 'row' : 'rows'}
        </a>
      )}
    </output>
  )
}

const PAUSE_MS = 350

/** `$search`, where the set has text. A pause in typing is enough. */
function SearchBox({ context, error }: { context: RowsContext; error: ServiceError | undefined }) {
  const { set, state, change } = context
  const inAddress = state.options.get('$search') ?? ''
  const [text, setText] = useState(inAddress)
  useEffect(() => setText(inAddress), [inAddress])
  useEffect(() => {
    if (text.trim() === inAddress) return undefined
    const timer = setTimeout(() => search(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const search = (wanted: string) =>
    change(withOptions(state.options, { $search: wanted.trim(), $skip: undefined }), 'replace')
  if (!set.properties.some(({ edm, isList }) => edm === 'Edm.String' && !isList)) return null
  return (
    <form
      class="row-search"
      onSubmit={(event) => {
        event.preventDefault()
        search(text)
      }}
    >
      <input
        type="search"
        class="field"
        aria-label="Search in the rows"
        aria-invalid={error !== undefined}
        placeholder="Search in the rows"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error.message}
        </p>
      )}
    </form>
  )
}

/** Which columns are asked for. Those that are hidden come back at their own place. */
function ColumnChooser({ context }: { context: RowsContext }) {
  const { state, allColumns, change } = context
  const shown = readSelect(state.options.get('$select')) ?? allColumns
  const isPart = shown.length < allColumns.length
  const set = (columns: readonly string[]) =>
    change(show({ options: state.options, shown: columns, all: allColumns }))
  const toggle = (name: string, isWanted: boolean) => {
    if (!isWanted) return set(shown.filter((one) => one !== name))
    const before = allColumns
      .slice(0, allColumns.indexOf(name))
      .findLast((one) => shown.includes(one))
    const at = before === undefined ? 0 : shown.indexOf(before) + 1
    set([...shown.slice(0, at), name, ...shown.slice(at)])
  }
  return (
    <Menu name="Columns" after={isPart ? `${shown.length} of ${allColumns.length}` : ''}>
      <p>
        <Button onClick={() => set(allColumns)}>Show all</Button>
      </p>
      {allColumns.map((name) => (
        <label key={name} class="check">
          <input
            type="checkbox"
            checked={shown.includes(name)}
            disabled={shown.length === 1 && shown[0] === name}
            onChange={(event) => toggle(name, event.currentTarget.checked)}
          />
          <bdi>{name}</bdi>
        </label>
      ))}
    </Menu>
  )
}
