import { useState } from 'preact/hooks'
import type { EntitySet, Row } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { Banner, ProblemNote } from '../parts/problem.tsx'
import { RequestBar } from '../parts/request-bar.tsx'
import { usePage, type ViewProps } from '../page.ts'
import { type RowColumn, tableColumns } from '../rows/columns.ts'
import { Facets } from '../rows/facets.tsx'
import { HoverPeek, ValueDialog } from '../rows/value-dialog.tsx'
import { isOfSet } from '../rows/requests.ts'
import { RowsBar } from '../rows/rows-bar.tsx'
import { useRowsContext } from '../rows/rows-context.ts'
import { RowsTable } from '../rows/rows-table.tsx'
import { type RowsAnswer, useRows } from '../rows/use-rows.ts'
import type { ServiceError } from '../service/client.ts'
import { useSmall } from '../parts/use-small.ts'
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
  const isSmall = useSmall()
  const isFailed = failure !== undefined && !isFiltersFault && !isSearchsFault && rows.length === 0
  return (
    <>
      <RowsBar
        context={context}
        answer={answer}
        filterError={isFiltersFault ? failure : undefined}
        searchError={isSearchsFault ? failure : undefined}
      />
      {loaded?.isFromTheTop === true && <Banner tone="news">New data came; from the top.</Banner>}
      {loaded?.short !== undefined && <ShortNote request={loaded.short} />}
      {isSet && set.key.length === 0 && <KeyNote set={set} />}
      <div class="rows-and-facets">
        {isFailed ? (
          <ProblemNote error={failure!} again={answer.again} />
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
        {isSet && !isSmall && !isFailed && <Facets context={context} isTurn={loaded !== null} />}
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
