import type { Property } from '../model/schema.ts'
import {
  type ColumnGroup,
  groupsForColour,
  groupsForX,
  type ChartState,
  DEFAULT_FIRST,
  type Method,
  methodNames,
  methodsFor,
} from './chart-state.ts'
import { hasTime, kindOf } from './columns.ts'
import type { Grouping } from './chart-request.ts'
import { timeUnits } from './time-units.ts'

interface ChartFormProps {
  readonly state: ChartState
  readonly groups: readonly ColumnGroup[]
  readonly x: Property | undefined
  readonly y: Property | undefined
  /** The grouping that was chosen where the state leaves it to the values. */
  readonly grouping: Grouping | undefined
  readonly onChange: (changes: Partial<ChartState>) => void
}

/** What is on which axis. Each change is a new address. */
export function ChartForm({ state, groups, x, y, grouping, onChange }: ChartFormProps) {
  const own = groups.find(({ navigation }) => navigation === null)?.columns ?? []
  const chooseY = (path: string) => {
    const column = own.find((one) => one.path === path)?.property
    const method = column && methodsFor(column)[0]!
    onChange({ y: column === undefined ? null : path, method: method ?? 'count' })
  }
  return (
    <form class="chart-form" aria-label="Chart" onSubmit={(event) => event.preventDefault()}>
      <Choice name="Value" value={state.y ?? ''} onChange={chooseY}>
        <option value="">rows</option>
        {own.map(({ path }) => (
          <option key={path} value={path}>
            {path}
          </option>
        ))}
      </Choice>
      {y !== undefined && (
        <Choice
          name="Method"
          value={state.method}
          onChange={(method) => onChange({ method: method as Method })}
        >
          {methodsFor(y).map((method) => (
            <option key={method} value={method}>
              {methodNames[method]}
            </option>
          ))}
        </Choice>
      )}
      <Choice name="By" value={state.x ?? ''} onChange={(path) => onChange({ x: path, per: null })}>
        <Columns groups={groupsForX(groups)} />
      </Choice>
      {x !== undefined && kindOf(x) === 'time' && (
        <Per state={state} x={x} grouping={grouping} onChange={onChange} />
      )}
      {grouping?.by === 'value' && (
        <First first={state.first} onChange={(first) => onChange({ first })} />
      )}
      <Choice name="Colour" value={state.by ?? ''} onChange={(by) => onChange({ by: by || null })}>
        <option value="">none</option>
        <Columns groups={groupsForColour(groups)} />
      </Choice>
    </form>
  )
}

interface ChoiceProps {
  readonly name: string
  readonly value: string
  readonly onChange: (value: string) => void
  readonly children: preact.ComponentChildren
}

function Choice({ name, value, onChange, children }: ChoiceProps) {
  return (
    <label class="chart-choice">
      <span>{name}</span>
      <select
        class="select"
        value={value}
        onChange={(event) => onChange(event.currentTarget.value)}
      >
        {children}
      </select>
    </label>
  )
}

function Columns({ groups }: { groups: readonly ColumnGroup[] }) {
  return (
    <>
      {groups.map(({ navigation, columns }) => {
        const options = columns.map(({ path }) => (
          <option key={path} value={path}>
            {path}
          </option>
        ))
        return navigation === null ? (
          options
        ) : (
          <optgroup key={navigation} label={navigation}>
            {options}
          </optgroup>
        )
      })}
    </>
  )
}

function Per({
  state,
  x,
  grouping,
  onChange,
}: Pick<ChartFormProps, 'state' | 'grouping' | 'onChange'> & { x: Property }) {
  const proposed = state.per === null && grouping?.by === 'time' ? ` (${grouping.unit})` : ''
  return (
    <Choice
      name="Per"
      value={state.per ?? ''}
      onChange={(per) => onChange({ per: timeUnits.find((unit) => unit === per) ?? null })}
    >
      <option value="">as fits{proposed}</option>
      {timeUnits
        .filter((unit) => unit !== 'hour' || hasTime(x))
        .map((unit) => (
          <option key={unit} value={unit}>
            {unit}
          </option>
        ))}
    </Choice>
  )
}

function First({ first, onChange }: { first: number; onChange: (first: number) => void }) {
  const steps = [...new Set([5, 10, DEFAULT_FIRST, 50, 100, 500, first])].toSorted((a, b) => a - b)
  return (
    <Choice name="First" value={String(first)} onChange={(value) => onChange(Number(value))}>
      {steps.map((step) => (
        <option key={step} value={String(step)}>
          {step}
        </option>
      ))}
    </Choice>
  )
}
