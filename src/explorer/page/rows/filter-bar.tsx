// The filter row: the conditions of the address, and a way to each of them.

import { useEffect } from 'preact/hooks'
import { type Condition, OPERATOR_NAMES, type Test } from '../address/filter.ts'
import { sayRange } from '../address/time-range.ts'
import { Button } from '../parts/button.tsx'
import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'
import type { ServiceError } from '../service/client.ts'
import { FilterEditor } from './filter-editor.tsx'
import type { RowsContext } from './rows-context.ts'
import { rangeOf, TimeControl } from './time-control.tsx'

function describeTest(test: Test): string {
  const { column, operator, values } = test
  const shown = values.map((value) => (value === '' ? '(empty)' : shorten(value)))
  const name = OPERATOR_NAMES[operator]
  if (operator === 'within') return `${column} ${name} ${sayRange(rangeOf(test))}`
  if (operator === 'between') return `${column} ${name} ${shown[0]} and ${shown[1]}`
  return [column, name, shown.join(', ')].filter(Boolean).join(' ')
}

function shorten(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`
}

interface FilterBarProps {
  readonly context: RowsContext
  readonly error: ServiceError | undefined
}

export function FilterBar({ context, error }: FilterBarProps) {
  const { conditions } = context
  const set = (next: readonly Condition[]) => {
    editing.value = null
    context.filter(next)
  }
  const now = useValue(editing)
  useEffect(() => () => void (editing.value = null), [])
  const edited = now?.what === 'condition' ? conditions[now.index] : undefined
  return (
    <div class="filter-bar" role="group" aria-label="Filter">
      <Button
        data-key="f"
        aria-expanded={now?.what === 'new'}
        onClick={() => (now?.what === 'new' ? (editing.value = null) : startFilter(undefined))}
      >
        + filter
      </Button>
      <TimeControl context={context} />
      {conditions.map((condition, index) => {
        const text = condition.kind === 'test' ? describeTest(condition) : condition.text
        return (
          <span
            key={`${index} ${text}`}
            class={condition.kind === 'text' ? 'chip chip-text' : 'chip'}
          >
            <Button
              class="chip-edit"
              aria-expanded={now?.what === 'condition' && now.index === index}
              title="Change it"
              onClick={() => (editing.value = { what: 'condition', index })}
            >
              <bdi>{text}</bdi>
            </Button>
            <Button
              class="chip-remove"
              name={`Remove ${text}`}
              onClick={() => set(conditions.filter((_, i) => i !== index))}
            >
              ×
            </Button>
          </span>
        )
      })}
      {now !== null && (now.what === 'new' || edited !== undefined) && (
        <FilterEditor
          key={JSON.stringify(now)}
          context={context}
          condition={edited}
          column={now.what === 'new' ? now.column : undefined}
          others={conditions.filter((one) => one !== edited)}
          onCancel={() => (editing.value = null)}
          onDone={(condition) =>
            set(
              edited === undefined
                ? [...conditions, condition]
                : conditions.map((one) => (one === edited ? condition : one)),
            )
          }
        />
      )}
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error.message}
        </p>
      )}
    </div>
  )
}

type Editing =
  | { readonly what: 'new'; readonly column: string | undefined }
  | { readonly what: 'condition'; readonly index: number }

/** Which condition of the filter row is being written. The menu of a column begins one too. */
const editing = state<Editing | null>(null)

export function startFilter(column: string | undefined): void {
  editing.value = { what: 'new', column }
}
