import { useState } from 'preact/hooks'
import { groupDigits, localTime, showBytes } from '../model/show.ts'
import type { Value } from '../model/value.ts'
import { byteLength } from './cell-text.ts'
import { Tree } from './tree.tsx'

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
