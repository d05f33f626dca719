import type { Value } from '../model/value.ts'

const MOST_ITEMS = 100

/** A struct or a list, open at its first level. */
export function Tree({ value, depth = 0 }: { value: Value; depth?: number }) {
  if (value === null) return <span class="value-null">null</span>
  if (value === '') return <span class="value-empty">empty text</span>
  if (typeof value !== 'object') return <bdi class="tree-text">{String(value)}</bdi>
  const entries = Array.isArray(value)
    ? value.map((item, i) => [String(i), item as Value] as const)
    : Object.entries(value as Readonly<Record<string, Value>>).filter(
        ([name]) => !name.includes('@'),
      )
  if (entries.length === 0) return <span class="value-empty">empty</span>
  return (
    <details class="tree" open={depth < 2}>
      <summary>
        {Array.isArray(value) ? `${entries.length} items` : `${entries.length} fields`}
      </summary>
      <dl>
        {entries.slice(0, MOST_ITEMS).map(([name, item]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            <dd>
              <Tree value={item} depth={depth + 1} />
            </dd>
          </div>
        ))}
      </dl>
      {entries.length > MOST_ITEMS && <p>and {entries.length - MOST_ITEMS} more</p>}
    </details>
  )
}
