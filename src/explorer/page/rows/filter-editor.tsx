// A condition of the filter row while it is written.

import { Button } from '../parts/button.tsx'
import { useEffect, useId, useRef, useState } from 'preact/hooks'
import {
  type Condition,
  OPERATOR_NAMES,
  type Test,
  type TestOperator,
  writeFilter,
} from '../address/filter.ts'
import { readLiteral, splitTopLevel, writeLiteral } from '../address/literal.ts'
import { type ColumnKind, type EntitySet, kindOf, textOf } from '../model/schema.ts'
import { Select } from '../parts/select.tsx'
import { askRows, useAnswer } from '../parts/use-answer.ts'
import { timeFilter, writeRange } from '../address/time-range.ts'
import { valuesRequest } from './requests.ts'
import { rangeOf, today } from './time-control.tsx'
import type { RowsContext } from './rows-context.ts'

interface FilterEditorProps {
  readonly context: RowsContext
  /** That is changed; undefined for a new one. */
  readonly condition: Condition | undefined
  /** That a new one begins with. */
  readonly column: string | undefined
  /** The suggestions are values of the rows that these leave. */
  readonly others: readonly Condition[]
  readonly onDone: (condition: Condition) => void
  readonly onCancel: () => void
}

export function FilterEditor(props: FilterEditorProps) {
  const { context, condition, column } = props
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-first]')?.focus(), [])
  const columns = filterColumns(context.set)
  const known = condition?.kind === 'test' ? condition.column : column
  const found = columns.find(({ name }) => name === known)
  const isText = condition !== undefined && (condition.kind === 'text' || found === undefined)
  return (
    <form
      ref={form}
      class="filter-editor"
      aria-label="Condition"
      onSubmit={(event) => event.preventDefault()}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        props.onCancel()
        document.querySelector<HTMLElement>('[data-key="f"]')?.focus()
      }}
    >
      {isText ? (
        <TextFields {...props} />
      ) : (
        <TestFields {...props} columns={columns} first={found ?? columns[0]} />
      )}
    </form>
  )
}

/** A condition in the language of OData, as it stands in the address. */
function TextFields({ context, condition, onDone, onCancel }: FilterEditorProps) {
  const before = condition === undefined ? '' : writeFilter([condition], context.typeOf)
  const [text, setText] = useState(before)
  return (
    <>
      <input
        class="field wide"
        data-first
        aria-label="Condition in OData"
        spellcheck={false}
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      <Buttons onCancel={onCancel} onDone={() => onDone({ kind: 'text', text })} />
    </>
  )
}

interface TestFieldsProps extends FilterEditorProps {
  readonly columns: readonly FilterColumn[]
  readonly first: FilterColumn | undefined
}

function TestFields({ columns, first, ...props }: TestFieldsProps) {
  const before = props.condition?.kind === 'test' ? props.condition : undefined
  const [column, setColumn] = useState(first)
  const [operator, setOperator] = useState<TestOperator | undefined>(before?.operator)
  const [values, setValues] = useState<readonly string[]>(startOf(before))
  const [fault, setFault] = useState('')
  const suggestions = useId()
  if (column === undefined) return null
  const operators = OPERATORS[column.kind]
  const chosen = operator !== undefined && operators.includes(operator) ? operator : operators[0]!
  const done = () => {
    const test = { kind: 'test', column: column.name, ...valuesOf(column, chosen, values) } as const
    if (column.kind !== 'time' || test.values.length === 0) return props.onDone(test)
    const { operator: as, values: written } = test
    try {
      const text = timeFilter(column.name, column.edm, {
        operator: as,
        values: written,
        today: today(),
      })
      props.onDone({ kind: 'text', text })
    } catch (error) {
      setFault((error as Error).message)
    }
  }
  return (
    <>
      <Select
        name="Column"
        isFirst={props.column === undefined}
        value={column.name}
        options={columns.map(({ name }) => name)}
        onChange={(name) => setColumn(columns.find((one) => one.name === name))}
      />
      <Select
        name="Operator"
        isFirst={props.column !== undefined}
        value={chosen}
        options={operators.map((one) => [one, OPERATOR_NAMES[one]])}
        onChange={(name) => setOperator(name as TestOperator)}
      />
      <ValueFields
        column={column}
        operator={chosen}
        values={values}
        list={suggestions}
        onChange={setValues}
      />
      {hasSuggestions(column) && <Suggestions {...props} name={column.name} id={suggestions} />}
      <Buttons onCancel={props.onCancel} onDone={done} />
      {fault !== '' && (
        <p class="field-error" role="alert">
          {fault}
        </p>
      )}
    </>
  )
}

interface ValueFieldsProps {
  readonly column: FilterColumn
  readonly operator: TestOperator
  readonly values: readonly string[]
  readonly list: string
  readonly onChange: (values: readonly string[]) => void
}

function ValueFields({ column, operator, values, list, onChange }: ValueFieldsProps) {
  const wanted = valuesWanted(operator)
  const [first = '', second = ''] = values
  if (wanted === 0) return null
  if (column.kind === 'boolean')
    return (
      <Select
        name="Value"
        value={first || 'true'}
        options={['true', 'false']}
        onChange={(value) => onChange([value])}
      />
    )
  const hint =
    operator === 'within'
      ? 'last 7 days, 2026-01, 2026-Q1'
      : wanted === 'many'
        ? 'a, b, c'
        : hintOf(column.edm)
  const field = (name: string, value: string, change: (value: string) => void) => (
    <input
      class="field"
      aria-label={name}
      placeholder={hint}
      list={list}
      spellcheck={false}
      value={value}
      onInput={(event) => change(event.currentTarget.value)}
    />
  )
  return (
    <>
      {field('Value', first, (value) => onChange([value, second]))}
      {wanted === 2 && field('Last value', second, (value) => onChange([first, value]))}
    </>
  )
}

function Suggestions(props: FilterEditorProps & { name: string; id: string }) {
  const { context, others, name: column, id } = props
  const filter = writeFilter(others, context.typeOf)
  const request = valuesRequest(context.state, column, filter, 20)
  const answer = useAnswer(request, askRows)
  if (answer.state !== 'here') return <datalist id={id} />
  const texts = answer.value.value.map((row) => textOf(row[column]))
  return (
    <datalist id={id}>
      {texts.filter(Boolean).map((text) => (
        <option key={text} value={text} />
      ))}
    </datalist>
  )
}

function Buttons({ onDone, onCancel }: { onDone: () => void; onCancel: () => void }) {
  return (
    <>
      <button
        type="submit"
        class="button primary"
        onClick={(event) => {
          // Enter in a field clicks here too; nothing is to be sent anywhere.
          event.preventDefault()
          onDone()
        }}
      >
        Apply
      </button>
      <Button class="button quiet" onClick={onCancel}>
        Cancel
      </Button>
    </>
  )
}

/** A list is one text with commas, in which values that have commas themselves stand in quotes. */
function startOf(test: Test | undefined): readonly string[] {
  if (test === undefined) return []
  if (test.operator === 'within') return [writeRange(rangeOf(test))]
  if (test.operator !== 'in') return test.values
  return [
    test.values
      .map((value) => (/[,']/.test(value) ? writeLiteral(value, 'Edm.String') : value))
      .join(', '),
  ]
}

function valuesOf(
  column: FilterColumn,
  operator: TestOperator,
  [first = '', second = '']: readonly string[],
): Pick<Test, 'operator' | 'values'> {
  const wanted = valuesWanted(operator)
  if (wanted === 0) return { operator, values: [] }
  if (column.kind === 'boolean') return { operator, values: [first || 'true'] }
  if (wanted === 2) return { operator, values: [first, second] }
  if (wanted === 'many') {
    const items = splitTopLevel(first, ',').filter((item) => item !== '')
    return { operator, values: items.map(itemOf) }
  }
  // Nothing typed: the service would not know the type of nothing.
  if (first === '' && operator === 'eq' && column.kind === 'text')
    return { operator: 'empty', values: [] }
  return { operator, values: [first] }
}

function hintOf(edm: string): string {
  if (edm === 'Edm.Date') return '2026-01-31'
  if (edm === 'Edm.DateTimeOffset') return '2026-01-31 08:30'
  if (edm === 'Edm.TimeOfDay') return '08:30:00'
  return edm === 'Edm.Duration' ? 'PT90S' : ''
}

function itemOf(text: string): string {
  const literal = readLiteral(text)
  return literal?.kind === 'text' ? literal.text : text
}

interface FilterColumn {
  readonly name: string
  readonly edm: string
  readonly kind: ColumnKind | 'one'
}

const OTHERS = ['eq', 'ne', 'null', 'notnull'] as const
const TIMES = ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'null', 'notnull'] as const

const OPERATORS: Readonly<Record<FilterColumn['kind'], readonly TestOperator[]>> = {
  text: ['eq', 'ne', 'contains', 'startswith', 'in', 'empty', 'null', 'notnull'],
  number: ['eq', 'ne', 'lt', 'le', 'gt', 'ge', 'between', 'in', 'null', 'notnull'],
  time: ['within', ...TIMES],
  clock: TIMES,
  duration: TIMES,
  boolean: ['eq', 'null', 'notnull'],
  list: ['has'],
  one: ['null', 'notnull'],
  id: OTHERS,
  bytes: OTHERS,
  struct: ['null', 'notnull'],
}

/** Properties, and navigation to one, of which one can ask whether it is there. */
function filterColumns(set: EntitySet): readonly FilterColumn[] {
  const properties = set.properties
    .filter(({ fields }) => fields === undefined)
    .map((property) => ({ name: property.name, edm: property.edm, kind: kindOf(property) }))
  const ones = set.navigations
    .filter(({ isMany }) => !isMany)
    .map(({ name }) => ({ name, edm: 'Edm.Untyped', kind: 'one' as const }))
  return [...properties, ...ones]
}

/** How many values an operator takes; a list of them is written with commas. */
function valuesWanted(operator: TestOperator): 0 | 1 | 2 | 'many' {
  if (operator === 'empty' || operator === 'null' || operator === 'notnull') return 0
  if (operator === 'between') return 2
  return operator === 'in' ? 'many' : 1
}

/** Lists and bytes are not grouped by, so there is nothing to suggest. */
function hasSuggestions({ kind }: FilterColumn): boolean {
  return !['list', 'one', 'bytes', 'boolean'].includes(kind)
}
