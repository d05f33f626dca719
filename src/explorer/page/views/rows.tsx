import { Button } from '../parts/button.tsx'
import { useEffect, useState } from 'preact/hooks'
import type { EntitySet, Row } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { Banner, ProblemNote } from '../parts/problem.tsx'
import { RequestBar } from '../parts/request-bar.tsx'
import { usePage, type ViewProps } from '../page.ts'
import { type RowColumn, tableColumns } from '../rows/columns.ts'
import { Facets } from '../rows/facets.tsx'
import { HoverPeek, ValueDialog } from '../rows/value-dialog.tsx'
import { FilterBar } from '../rows/filter-editor.tsx'
import { countRequest, fileRequest, isOfSet, rowsRequest } from '../rows/requests.ts'
import { type RowsContext, useRowsContext } from '../rows/rows-context.ts'
import { RowsTable } from '../rows/rows-table.tsx'
import { ConnectRegion, ToolButtons } from '../recipes/recipe-text.tsx'
import { type RowsAnswer, useRows } from '../rows/use-rows.ts'
import type { ServiceError } from '../service/client.ts'
import { withOptions } from '../address/options.ts'
import { readSelect } from '../address/order.ts'
import { show } from '../rows/table-actions.ts'
import '../rows/rows.css'
import '../rows/rows-table.css'

export function RowsView({ route }: ViewProps<'rows'>) {
  const page = usePage()
  const context = useRowsContext(page.schema.set(route.set)!, route.query)
  const { set, state } = context
  const answer = useRows(context)
  const [opened, setOpened] = useState<{ column: RowColumn; row: Row } | null>(null)
  const { loaded } = answer
  const rows = loaded?.rows ?? []
  const columns = tableColumns(set, state, rows)
  const failure = loaded?.error ?? undefined
  const isSet = isOfSet(state)
  const isFiltersFault = isAbout(failure, '$filter')
  const isSearchsFault = isAbout(failure, '$search')
  return (
    <>
      <RequestBar request={rowsRequest(state)}>
        <ToolButtons context={context} />
        <Files context={context} />
      </RequestBar>
      <ConnectRegion context={context} />
      <div class="rows-bar">
        {(isSet || state.options.has('$filter')) && (
          <FilterBar context={context} error={isFiltersFault ? failure : undefined} />
        )}
        <div class="rows-bar-end">
          {isSet && <SearchBox context={context} error={isSearchsFault ? failure : undefined} />}
          {isSet && <ColumnChooser context={context} />}
          <Count context={context} answer={answer} />
        </div>
      </div>
      {loaded?.isFromTheTop === true && <Banner tone="news">New data came; from the top.</Banner>}
      {loaded?.short !== undefined && <ShortNote request={loaded.short} />}
      {isSet && set.key.length === 0 && <KeyNote set={set} />}
      <div class="rows-and-facets">
        {failure !== undefined && !isFiltersFault && !isSearchsFault && rows.length === 0 ? (
          <ProblemNote error={failure} again={answer.again} />
        ) : (
          <div class="rows-column">
            <RowsTable
              key={set.name}
              context={context}
              columns={columns}
              rows={rows}
              answer={answer}
              onOpen={(column, row) => setOpened({ column, row })}
            />
            <Foot answer={answer} />
          </div>
        )}
        {isSet && <Facets context={context} isTurn={loaded !== null} />}
      </div>
      <HoverPeek within=".rows-region" />
      {opened !== null && (
        <ValueDialog
          context={context}
          {...opened}
          isShort={loaded?.short !== undefined}
          onClose={() => setOpened(null)}
        />
      )}
    </>
  )
}

function ShortNote({ request }: { request: string }) {
  return (
    <>
      <p class="about">
        Some values here are long, so these rows came with the beginnings of texts and without
        lists. A click on a cell asks for the whole value.
      </p>
      <RequestBar name="Request of the beginnings" request={request} />
    </>
  )
}

function KeyNote({ set }: { set: EntitySet }) {
  return (
    <p class="about">
      {set.name} has no key, so its rows have no addresses. <code>-- @expose key</code> in the model
      names one.
    </p>
  )
}

const FILES = { CSV: 'csv', Parquet: 'parquet' } as const

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

/** What is below the last row: more, all, or why there is no more. */
function Foot({ answer }: { answer: RowsAnswer }) {
  const { loaded, isWaiting, again, more } = answer
  if (loaded === null) return null
  if (loaded.error !== null && loaded.rows.length > 0) {
    return <ProblemNote error={loaded.error} again={loaded.isComplete ? again : more} />
  }
  if (loaded.error !== null) return null
  const shown = groupDigits(loaded.rows.length)
  const what = loaded.rows.length === 1 ? 'row' : 'rows'
  if (loaded.rows.length === 0) return <p class="foot">No rows fit.</p>
  return (
    <p class="foot">
      {loaded.isComplete ? `All ${shown} ${what} are here.` : `${shown} ${what} are here`}
      {!loaded.isComplete && (isWaiting ? ', more are coming …' : '; more come as you scroll.')}
    </p>
  )
}

function isAbout(error: ServiceError | undefined, option: string): boolean {
  if (error === undefined || error.status !== 400) return false
  return error.target?.startsWith(option) === true || error.message.startsWith(option)
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
    <details class="popover">
      <summary class="button">
        Columns {shown.length < allColumns.length && `${shown.length} of ${allColumns.length}`}
      </summary>
      <div class="popover-inside" role="group" aria-label="Columns">
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
      </div>
    </details>
  )
}
