import { Button } from '../parts/button.tsx'
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { type Condition, writeFilter } from '../address/filter.ts'
import { type EntitySet, navigationOf, labelOf, textOf, type Value } from '../model/schema.ts'
import { groupDigits } from '../model/show.ts'
import { usePage } from '../page.ts'
import { Dialog } from '../parts/dialog.tsx'
import { ProblemNote } from '../parts/problem.tsx'
import { RequestList } from '../parts/request-bar.tsx'
import { askRows, useAnswer } from '../parts/use-answer.ts'
import { COUNT, differentRequest, isFew, MOST_VALUES, valuesRequest } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { conditionOf } from './table-actions.ts'

const MOST_FACETS = 4
const MOST_CANDIDATES = 16
/** Fewer are seen at once. */
const SEARCHED_VALUES = 8
/** Counting the values of all columns of such a set takes seconds, so a person asks for it. */
const LARGE_SET_ROWS = 20_000_000

interface FacetsProps {
  readonly context: RowsContext
  readonly isTurn: boolean
  /** What stands there where no column has few values. */
  readonly none?: ComponentChildren
}

/** Columns of few values, counted once it is their turn: how often each of them occurs among the rows, and a click to see these alone. */
export function Facets({ context, isTurn, none = null }: FacetsProps) {
  const { catalog } = usePage()
  const { set } = context
  const rows = catalog?.sets.find(({ name }) => name === set.name)?.rows ?? 0
  const [isWanted, setIsWanted] = useState(rows <= LARGE_SET_ROWS)
  const candidates = candidatesOf(set)
  const request =
    isTurn && isWanted && candidates.length > 0 ? differentRequest(set.name, candidates) : null
  const answer = useAnswer(request, askRows, 'last')
  const different = answer.state === 'here' ? (answer.value.value[0] ?? {}) : {}
  const columns = candidates
    .filter((name) => isFew(different[name], different[COUNT]))
    .slice(0, MOST_FACETS)
  if (candidates.length === 0) return null
  if (answer.state === 'here' && columns.length === 0) return none
  return (
    <aside class="facets" aria-label="Facets" aria-busy={isWanted && answer.state === 'waiting'}>
      {!isWanted && <Button onClick={() => setIsWanted(true)}>Count values</Button>}
      {answer.state === 'failed' && <ProblemNote {...answer} />}
      {columns.map((column) => (
        <Facet key={column} context={context} column={column} />
      ))}
      {columns.length > 0 && (
        <RequestList
          requests={[
            { what: 'Different values', request: request! },
            ...columns.map((column) => ({
              what: `Values of ${column}`,
              request: facetOf(context, column).request,
            })),
          ]}
        />
      )}
    </aside>
  )
}

/** In a small window they stand behind a button, and nothing is counted before it is pressed. */
export function FacetsButton({ context }: { context: RowsContext }) {
  const [isOpen, setIsOpen] = useState(false)
  if (candidatesOf(context.set).length === 0) return null
  return (
    <>
      <Button aria-expanded={isOpen} onClick={() => setIsOpen(true)}>
        Values
      </Button>
      {isOpen && (
        <Dialog title="Values" place="side" onClose={() => setIsOpen(false)}>
          <Facets context={context} isTurn none={<p>No column has few different values.</p>} />
        </Dialog>
      )}
    </>
  )
}

/** What else could be chosen is counted without the choice. */
function facetOf({ state, typeOf, conditions }: RowsContext, column: string) {
  const own = conditions.filter((one) => isChoice(one, column))
  const others = conditions.filter((one) => !own.includes(one))
  const request = valuesRequest(state, column, writeFilter(others, typeOf), MOST_VALUES)
  return { own, others, request }
}

function Facet({ context, column }: { context: RowsContext; column: string }) {
  const { service } = usePage()
  const [wanted, setWanted] = useState('')
  const { own, others, request } = facetOf(context, column)
  const answer = useAnswer(request, askRows, 'last')
  // What is wrong with the filter is said at the filter.
  if (answer.state === 'failed' && answer.error.status === 400) return null
  if (answer.state === 'failed') return <ProblemNote {...answer} />
  if (answer.state === 'waiting') return <section class="facet" aria-busy="true" />
  const values = answer.value.value.map((row) => ({
    value: row[column] ?? null,
    count: row[COUNT],
  }))
  const most = Math.max(1, ...values.map(({ count }) => Number(count)))
  const chosen = own.flatMap((one) => (one.kind === 'test' ? one.values : []))
  const isValueChosen = (value: Value) =>
    own.some((one) => isConditionOf(one, column, value)) ||
    (value !== null && chosen.includes(textOf(value)))
  const choose = (value: Value, isAlone: boolean) => {
    const next = chosenAfter(column, chosen, { value, isAlone, isChosen: isValueChosen(value) })
    context.filter(next === undefined ? others : [...others, next])
  }
  const shown = values.filter(({ value }) =>
    labelOf(value).text.toLowerCase().includes(wanted.trim().toLowerCase()),
  )
  return (
    <section class="facet" aria-label={`Values of ${column}`}>
      <h2>
        <a
          href={service.url(request)}
          title="The request of these numbers"
          target="_blank"
          rel="noreferrer"
        >
          {column}
        </a>
      </h2>
      {values.length >= SEARCHED_VALUES && (
        <input
          type="search"
          class="field facet-search"
          aria-label={`Search values of ${column}`}
          placeholder="Search"
          value={wanted}
          onInput={(event) => setWanted(event.currentTarget.value)}
        />
      )}
      <ul>
        {shown.map(({ value, count }) => (
          <FacetValue
            key={JSON.stringify(value)}
            value={value}
            count={textOf(count)}
            share={Number(count) / most}
            isChosen={isValueChosen(value)}
            onChoose={choose}
          />
        ))}
      </ul>
    </section>
  )
}

interface FacetValueProps {
  readonly value: Value
  readonly count: string
  /** How frequent it is, where the most frequent one is 1. */
  readonly share: number
  readonly isChosen: boolean
  readonly onChoose: (value: Value, isAlone: boolean) => void
}

function FacetValue({ value, count, share, isChosen, onChoose }: FacetValueProps) {
  const { text, isWord } = labelOf(value)
  return (
    <li>
      <Button
        class="facet-value"
        aria-pressed={isChosen}
        title="Alt and a click: this alone"
        onClick={(event) => onChoose(value, event.altKey)}
      >
        <bdi class={isWord ? 'facet-text value-null' : 'facet-text'}>
          {isChosen && '✓ '}
          {text.slice(0, 80)}
        </bdi>
        <span class="facet-count">{groupDigits(count)}</span>
        <span class="facet-bar" aria-hidden="true">
          <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
        </span>
      </Button>
    </li>
  )
}

interface Click {
  readonly value: Value
  /** With Alt: the other values go. */
  readonly isAlone: boolean
  readonly isChosen: boolean
}

/** The condition of a column after a click on one of its values; undefined: none. */
function chosenAfter(
  column: string,
  chosen: readonly string[],
  { value, isAlone, isChosen }: Click,
): Condition | undefined {
  const text = textOf(value)
  // What is null is not equal to anything, so it stands alone.
  if (value === null || isAlone || chosen.length === 0) {
    const isOff = isChosen && chosen.length < 2
    return isOff ? undefined : conditionOf(column, value, true)
  }
  const next = isChosen ? chosen.filter((one) => one !== text) : [...chosen, text]
  if (next.length < 2) return next.length === 0 ? undefined : conditionOf(column, next[0]!, true)
  return { kind: 'test', column, operator: 'in', values: next }
}

/** Text and truth values, but neither keys nor what leads elsewhere; whole numbers come last. */
function candidatesOf(set: EntitySet): readonly string[] {
  const plain = set.properties.filter(
    ({ name, isList, fields }) =>
      !isList && !fields && !set.key.includes(name) && navigationOf(set, name) === undefined,
  )
  const of = (test: (edm: string) => boolean) =>
    plain.filter(({ edm }) => test(edm)).map(({ name }) => name)
  return [
    ...of((edm) => edm === 'Edm.String' || edm === 'Edm.Boolean'),
    ...of((edm) => /Byte|Int16|Int32/.test(edm)),
  ].slice(0, MOST_CANDIDATES)
}

function isChoice(condition: Condition, column: string): boolean {
  if (condition.kind !== 'test' || condition.column !== column) return false
  return ['eq', 'null', 'empty', 'in'].includes(condition.operator)
}

function isConditionOf(condition: Condition, column: string, value: Value): boolean {
  return JSON.stringify(condition) === JSON.stringify(conditionOf(column, value, true))
}
