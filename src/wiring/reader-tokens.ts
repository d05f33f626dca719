// The tokens of `odata.tokens` with their rights.

import { throwIfErrors } from '../core/diagnostics.ts'
import type { ReaderToken } from '../access/hashed-tokens.ts'
import type { ServiceToken } from '../odata/http/who-asks.ts'
import type { Project } from '../project/project.ts'

/** Throws DiagnosticsError for what is wrong with one. What is published makes no difference. */
export async function readerTokens({
  readers,
  secrets,
}: Project): Promise<readonly ServiceToken[]> {
  if (readers.tokens.length === 0) return []
  const { tokensInForce } = await import('../project/tokens.ts')
  const { rowFilter } = await import('../compiler/row-filter.ts')
  const { readerOf } = await import('../access/reader.ts')
  const tokens: readonly ReaderToken[] = tokensInForce(readers, secrets)
  return tokens.map((token) => {
    const { name, scope, rows } = token
    const filters = rows.map((written) => ({ set: written.set, found: rowFilter(written, name) }))
    throwIfErrors(filters.flatMap(({ found }) => ('code' in found ? [found] : [])))
    const usable = filters.flatMap(({ set, found }) =>
      'code' in found ? [] : [{ set, filter: found }],
    )
    return { token, reader: readerOf({ name, sets: scope, rows: usable }) }
  })
}
