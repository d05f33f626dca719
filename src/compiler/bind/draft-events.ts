// Events models: a list of columns, whose types DuckDB reads.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { Column } from '../../core/relation.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { refusalOf } from '../../duckdb/errors.ts'
import { definitionOf } from '../definition-hash.ts'
import {
  type Draft,
  type DraftContext,
  extraDependencies,
  finishHeader,
  unstorableColumns,
} from './draft.ts'
import { resolveChecks } from '../checks/resolve-checks.ts'
import { keepOfEvents } from '../keep.ts'
import { namesOf, schemaChangeOfEvents } from '../kinds.ts'
import type { ParsedEvents } from '../model-file.ts'
import { renamesOf } from '../renames.ts'
import { resolveMeaning } from '../measures/meaning.ts'
import { describeColumns } from '../sql/named-columns.ts'
import { columnHint, missingType, TYPE_HINT } from '../hints/binding.ts'
import { problemOf } from '../hints/engine-words.ts'
import { spanOfError } from '../hints/engine-diagnostic.ts'

export function draftEvents(parsed: ParsedEvents, context: DraftContext): Draft {
  const { connection } = context
  const { name, source, header, kind, declared, complete } = parsed
  const nulls = declared.map(
    ({ name: column, type }) => sql`CAST(NULL AS ${sql.body(type)}) AS ${sql.ident(column)}`,
  )
  const referenced = extraDependencies(parsed, context)
  const dependsOn = [...referenced.keys()]
  return {
    name,
    dependsOn,
    complete,
    rows: () => sql`SELECT ${sql.join(nulls)}`,
    placeOf: (model) => ({ source, span: referenced.get(model) ?? { start: 0, end: 0 } }),
    explain: () => wrongTypes(connection, parsed),
    finish: async (bound) => {
      const columns = bound.map((column, i) => ({ ...column, nullable: declared[i]!.nullable }))
      const { base, diagnostics } = finishHeader(parsed, columns, (i) => declared[i]!.span)
      const { checks, diagnostics: inChecks } = await resolveChecks(parsed, columns, context)
      const tests = checks.map(({ severity, text }) => [severity, text])
      const parts = [namesOf(header.expose?.value), columns, ...(tests.length === 0 ? [] : [tests])]
      const definition = definitionOf(kind, ...parts)
      const reads = { dependsOn, sources: [], files: [], volatile: false, checks }
      const { onSchemaChange, conflicts } = schemaChangeOfEvents(source, header)
      const { described, diagnostics: inTexts } = describeColumns(parsed, columns)
      const { diagnostics: inMeaning, ...meant } = await resolveMeaning(parsed, columns, context)
      const kept = { ...base, ...reads, columns: described, ...meant, definition }
      const { keep, diagnostics: inKeep } = keepOfEvents(source, header, columns)
      const { renames, mistakes } = renamesOf(source, header, kind, columns)
      const model = { ...kept, kind, onSchemaChange, renames, ...(keep && { keep }) }
      const unstorable = [
        ...unstorableTypes(parsed, columns),
        ...unstorableColumns(context, columns, {
          source,
          spanOf: (i) => declared[i]!.type.span,
          hintOf: () => 'take JSON',
        }),
      ]
      const wrong = [
        ...diagnostics,
        ...conflicts,
        ...inKeep,
        ...mistakes,
        ...inTexts,
        ...inMeaning,
        ...unstorable,
        ...inChecks,
      ]
      return { model, diagnostics: wrong }
    },
  }
}

/** DuckDB has VARIANT but its table format does not: events accepted for such a column could never be flushed. */
function unstorableTypes(
  { source, declared }: ParsedEvents,
  columns: readonly Column[],
): readonly Diagnostic[] {
  return declared
    .filter((_, i) => /\bVARIANT\b/.test(columns[i]!.type))
    .map(({ type }) =>
      diagnostic(
        'invalid-column-type',
        { type: type.text, problem: 'DuckDB tables do not support it yet' },
        { source, span: type.span },
        'take JSON',
      ),
    )
}

async function wrongTypes(
  connection: Connection,
  { source, declared }: ParsedEvents,
): Promise<readonly Diagnostic[]> {
  // A table, as DuckDB has types that no table may have.
  const prefix = sql`CREATE OR REPLACE TEMP TABLE _eider_type AS (SELECT CAST(NULL AS `
  const found: Diagnostic[] = []
  for (const { name, type } of declared) {
    const statement = sql`${prefix}${sql.body(type)}) AS value) WITH NO DATA`
    const refusal = await refusalOf(connection.run(statement))
    if (refusal === null) continue
    const { details } = refusal
    const span = details.position === null ? type.span : spanOfError(details, type, prefix.inline())
    const text = type.text.replaceAll(/\s+/g, ' ')
    const missing = missingType(details)
    const isWhole = missing?.problem === `no type "${text}"`
    const twoColumns = columnHint(name, text)
    const isPlain = isWhole || twoColumns !== undefined
    const problem = isPlain ? '' : (missing?.problem ?? problemOf(details))
    const hint = twoColumns ?? missing?.hint ?? TYPE_HINT
    found.push(diagnostic('invalid-column-type', { type: text, problem }, { source, span }, hint))
  }
  return found
}
