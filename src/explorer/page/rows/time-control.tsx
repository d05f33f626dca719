// One control for the time of a set, the same on rows, columns and charts: what it chooses is a condition of the filter.

import { useState } from 'preact/hooks'
import type { Condition, Test } from '../address/filter.ts'
import {
  dayOf,
  isTimeType,
  PRESETS,
  rangeBefore,
  RANGE_EXAMPLES,
  readTimeRange,
  sayRange,
  type TimeRange,
  writeRange,
} from '../address/time-range.ts'
import { timesFirst } from '../chart/chart-state.ts'
import type { EntitySet } from '../model/schema.ts'
import { Button } from '../parts/button.tsx'
import { Menu } from '../parts/menu.tsx'
import { Select } from '../parts/select.tsx'
import type { RowsContext } from './rows-context.ts'

/** In UTC, as the times of the service. */
export const today = (): string => dayOf(Date.now())

/** Columns with a day, what happened before what changed. */
const timeColumns = (set: EntitySet): readonly string[] =>
  set.properties
    .filter(({ edm, isList }) => !isList && isTimeType(edm))
    .toSorted(timesFirst)
    .map(({ name }) => name)

export const rangeOf = ({ values }: Test): TimeRange => ({ from: values[0]!, to: values[1]! })

/** The condition that the control shows. */
function timeCondition(set: EntitySet, conditions: readonly Condition[]): Test | undefined {
  const columns = timeColumns(set)
  return conditions.find(
    (one): one is Test =>
      one.kind === 'test' && one.operator === 'within' && columns.includes(one.column),
  )
}

export function TimeControl({ context }: { context: RowsContext }) {
  const { set, conditions } = context
  const columns = timeColumns(set)
  const current = timeCondition(set, conditions)
  const [wanted, choose] = useState<string | undefined>(undefined)
  const column = wanted ?? current?.column ?? columns[0]
  if (column === undefined) return null
  const range = current === undefined ? undefined : rangeOf(current)
  const use = (next: TimeRange | undefined) => {
    const others = conditions.filter((one) => one !== current)
    const test: readonly Condition[] =
      next === undefined
        ? []
        : [{ kind: 'test', column, operator: 'within', values: [next.from, next.to] }]
    context.filter([...others, ...test])
  }
  return (
    <Menu name="Time" key={range === undefined ? 'any' : writeRange(range)}>
      {columns.length > 1 && (
        <Select name="Column of times" value={column} options={columns} onChange={choose} />
      )}
      <div class="time-presets">
        {PRESETS.map((preset) => (
          <Button key={preset} onClick={() => use(readTimeRange(preset, today()))}>
            {preset}
          </Button>
        ))}
        {range !== undefined && (
          <Button onClick={() => use(rangeBefore(range))}>before {sayRange(range)}</Button>
        )}
        {range !== undefined && <Button onClick={() => use(undefined)}>any time</Button>}
      </div>
      <RangeFields range={range} onRange={use} />
    </Menu>
  )
}

interface RangeFieldsProps {
  readonly range: TimeRange | undefined
  readonly onRange: (range: TimeRange) => void
}

/** In words, or with the calendar of the browser. */
function RangeFields({ range, onRange }: RangeFieldsProps) {
  const [text, setText] = useState(range === undefined ? '' : writeRange(range))
  const [fault, setFault] = useState('')
  const [from, setFrom] = useState(range?.from ?? '')
  const [to, setTo] = useState(range?.to ?? today())
  const showWords = (words: string) => {
    const read = readTimeRange(words, today())
    if (read === undefined)
      setFault(`"${words.slice(0, 40)}" is not a time; write one like ${RANGE_EXAMPLES}`)
    else onRange(read)
  }
  const showDays = () => {
    if (from === '' || to === '') setFault('choose the first and the last day')
    else if (from > to) setFault('the range ends before it begins')
    else onRange({ from, to })
  }
  const day = (name: string, value: string, change: (value: string) => void) => (
    <input
      type="date"
      class="field"
      aria-label={name}
      value={value}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
  return (
    <>
      <form
        class="time-fields"
        onSubmit={(event) => {
          event.preventDefault()
          showWords(text)
        }}
      >
        <input
          class="field wide"
          aria-label="Time in words"
          placeholder="last 7 days, 2026-01, 2026-Q1"
          spellcheck={false}
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" class="button primary">
          Show
        </button>
      </form>
      <form
        class="time-fields"
        onSubmit={(event) => {
          event.preventDefault()
          showDays()
        }}
      >
        {day('First day', from, setFrom)}
        {day('Last day', to, setTo)}
        <button type="submit" class="button">
          Show these days
        </button>
      </form>
      {fault !== '' && (
        <p class="field-error" role="alert">
          {fault}
        </p>
      )}
    </>
  )
}
