import { Select, type Option, type SelectProps } from '../parts/select.tsx'
import type { Property } from '../model/schema.ts'
import {
  type ColumnGroup,
  canBeColour,
  canBeX,
  type ChartState,
  DEFAULT_FIRST,
  type Method,
  methodNames,
  methodsFor,
} from './chart-state.ts'
import { hasTime, kindOf } from '../model/columns.ts'
import type { Grouping } from './chart-request.ts'
import { timeUnits } from './time-units.ts'

export interface ChartFormProps {
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
  const proposed = state.per === null && grouping?.by === 'time' ? ` (${grouping.unit})` : ''
  const steps = new Set([5, 10, DEFAULT_FIRST, 50, 100, 500, state.first])
  return (
    <form class="chart-form" aria-label="Chart" onSubmit={(event) => event.preventDefault()}>
      <Choice
        name="Value"
        value={state.y ?? ''}
        options={[['', 'rows'], ...own.map(({ path }) => path)]}
        onChange={chooseY}
      />
      {y !== undefined && (
        <Choice
          name="Method"
          value={state.method}
          options={methodsFor(y).map((method) => [method, methodNames[method]])}
          onChange={(method) => onChange({ method: method as Method })}
        />
      )}
      <Choice
        name="By"
        value={state.x ?? ''}
        options={pathsOf(groups, canBeX)}
        onChange={(path) => onChange({ x: path, per: null })}
      />
      {x !== undefined && kindOf(x) === 'time' && (
        <Choice
          name="Per"
          value={state.per ?? ''}
          options={[
            ['', `as fits${proposed}`],
            ...timeUnits.filter((unit) => unit !== 'hour' || hasTime(x)),
          ]}
          onChange={(per) => onChange({ per: timeUnits.find((unit) => unit === per) ?? null })}
        />
      )}
      {grouping?.by === 'value' && (
        <Choice
          name="First"
          value={String(state.first)}
          options={[...steps].toSorted((a, b) => a - b).map(String)}
          onChange={(first) => onChange({ first: Number(first) })}
        />
      )}
      <Choice
        name="Colour"
        value={state.by ?? ''}
        options={[['', 'none'], ...pathsOf(groups, canBeColour)]}
        onChange={(by) => onChange({ by: by || null })}
      />
    </form>
  )
}

function Choice({ name, ...select }: SelectProps) {
  return (
    <label class="chart-choice">
      <span>{name}</span>
      <Select {...select} />
    </label>
  )
}

function pathsOf(
  groups: readonly ColumnGroup[],
  isWanted: (column: Property) => boolean,
): readonly Option[] {
  return groups.flatMap(({ navigation, columns }): readonly Option[] => {
    const values = columns.filter(({ property }) => isWanted(property)).map(({ path }) => path)
    if (navigation === null) return values
    return values.length === 0 ? [] : [{ group: navigation, values }]
  })
}
