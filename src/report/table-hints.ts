// What may be meant by the name of a table that the warehouse does not have. DuckDB proposes tables of its own, too, and
// none where the schema does not exist.

import type { Diagnostic } from '../core/diagnostics.ts'
import { entitySetName, type ModelName, sameName, splitModelName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'

/** `tables`: those that can be queried. The diagnostic as it is where it names no table, or DuckDB proposes one of these. */
export function withTableHint(found: Diagnostic, tables: readonly ModelName[]): Diagnostic {
  if (found.code !== 'sql-binding' || !/^Table with name .* does not exist/.test(found.message))
    return found
  const { source, span, hint } = found
  const written = source.text.slice(span.start, span.end).replaceAll('"', '')
  const known = namedOtherwise(written, tables)
  if (known === null && tables.some((name) => hint?.includes(name))) return found
  const meant = known ?? didYouMean(written, tables)
  return { ...found, hint: meant ?? LIST }
}

/** The table that is meant by the name of an entity set, or by a schema alone. */
function namedOtherwise(written: string, tables: readonly ModelName[]): string | null {
  const meant = tables.find((name) => sameName(entitySetName(name), written))
  if (meant !== undefined) return `did you mean "${meant}"?`
  const inSchema = tables.filter((name) => sameName(splitModelName(name).schema, written))
  if (inSchema.length === 0) return null
  const some = inSchema.slice(0, NAMED).join(', ') + (inSchema.length > NAMED ? ', …' : '')
  return `${written} is a schema, with ${some}; ${LIST}`
}

const LIST = `"eider query 'SHOW TABLES'" lists the tables`
const NAMED = 5
