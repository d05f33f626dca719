import { Button } from '../parts/button.tsx'
import { useEffect } from 'preact/hooks'
import { type Condition, readFilter } from '../address/filter.ts'
import type { ServiceError } from '../service/client.ts'
import { describeTest, FilterEditor } from './filter-editor.tsx'
import type { RowsContext } from './rows-context.ts'
import { state } from '../parts/state.ts'
import { useValue } from '../parts/use-value.ts'

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
