import { useEffect, useState } from 'preact/hooks'
import { withOptions } from '../address/options.ts'
import type { ServiceError } from '../service/client.ts'
import type { RowsContext } from './rows-context.ts'

const PAUSE_MS = 350

/** `$search`, where the set has text. A pause in typing is enough. */
export function SearchBox({
  context,
  error,
}: {
  context: RowsContext
  error: ServiceError | undefined
}) {
  const { set, state, change } = context
  const inAddress = state.options.get('$search') ?? ''
  const [text, setText] = useState(inAddress)
  useEffect(() => setText(inAddress), [inAddress])
  useEffect(() => {
    if (text.trim() === inAddress) return undefined
    const timer = setTimeout(() => search(text), PAUSE_MS)
    return () => clearTimeout(timer)
  }, [text])
  const search = (wanted: string) =>
    change(withOptions(state.options, { $search: wanted.trim(), $skip: undefined }), 'replace')
  if (!set.properties.some(({ edm, isList }) => edm === 'Edm.String' && !isList)) return null
  return (
    <form
      class="row-search"
      onSubmit={(event) => {
        event.preventDefault()
        search(text)
      }}
    >
      <input
        type="search"
        class="field"
        aria-label="Search in the rows"
        aria-invalid={error !== undefined}
        placeholder="Search in the rows"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
      {error !== undefined && (
        <p class="field-error" role="alert">
          {error.message}
        </p>
      )}
    </form>
  )
}
