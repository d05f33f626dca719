import { useState } from 'preact/hooks'
import { groupDigits, localTime, showBytes } from '../model/show.ts'
import type { Value } from '../model/value.ts'
import { byteLength } from './cell.ts'

/** So much text is shown without being asked for. */
const FIRST_CHARACTERS = 10_000

export function WholeValue({ value, edm }: { value: Value; edm: string | undefined }) {
  const [isWhole, setIsWhole] = useState(false)
  if (value === null || value === '' || typeof value === 'object') return <Tree value={value} />
  const text = String(value)
  if (edm === 'Edm.Binary')
    return <p>{showBytes(byteLength(text))} of bytes, in base64url when copied</p>
  const local = edm === 'Edm.DateTimeOffset' ? localTime(text) : undefined
  const isCut = !isWhole && text.length > FIRST_CHARACTERS
  return (
    <>
      <pre class="whole-value" dir="auto" tabIndex={0}>
        {isCut ? text.slice(0, FIRST_CHARACTERS) : text}
      </pre>
      {local !== undefined && <p class="about">{local} here</p>}
      {isCut && (
        <button type="button" class="button" onClick={() => setIsWhole(true)}>
          load all ({groupDigits(text.length)} characters)
        </button>
      )}
    </>
  )
}

const MOST_ITEMS = 100

/** A struct or a list, open at its first level. */
function Tree({ value, depth = 0 }: { value: Value; depth?: number }) {
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
